use haft_core::{Digest, RunId};
use haft_store::SqliteStore;
use haft_tools_core::{Access, Accesses, PendingCall, Resource, Scheme};
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

/// Is a directory with a database in it.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.file("haft.db")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::open(self.path()).unwrap()
    }
}

pub(crate) fn run(name: &str) -> RunId {
    name.parse().unwrap()
}

/// Makes a call that waits for a person; its digest is that of its input.
pub(crate) fn pending(id: &str, input: &Value) -> PendingCall {
    pending_with(id, input, &json!({}))
}

/// Makes a call that waits for a person, with more members.
pub(crate) fn pending_with(id: &str, input: &Value, more: &Value) -> PendingCall {
    let mut pending = json!({
        "version": 1,
        "id": id,
        "call": { "id": "c1", "name": "note", "input": input },
        "run": "run-1",
        "agent": "explorer",
        "above": [{ "run": "run-0" }],
        "accesses": Accesses::from(Access::write(Resource::exact(Scheme::new("note"), "a"))),
        "unmet": [],
        "preview": { "kind": "arguments" },
        "asked_at_ms": 1_700_000_000_000_u64,
        "digest": Digest::of(input),
    });
    pending.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(pending).unwrap()
}
