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

/// Connects to the server that `cargo xtask postgres` has started, with tables of its own; gives none where there is no server.
#[cfg(feature = "postgres")]
pub(crate) async fn postgres() -> Option<haft_store::PostgresStore> {
    postgres_in(&new_schema()).await
}

/// As [`postgres`], in a schema that others may use, too.
#[cfg(feature = "postgres")]
pub(crate) async fn postgres_in(schema: &str) -> Option<haft_store::PostgresStore> {
    let url = format!("{} application_name={schema}", postgres_url()?);
    Some(haft_store::PostgresStore::options().schema(schema).connect(&url).await.unwrap())
}

#[cfg(feature = "postgres")]
pub(crate) fn postgres_url() -> Option<String> {
    std::env::var("HAFT_TEST_POSTGRES").ok()
}

#[cfg(feature = "postgres")]
pub(crate) fn new_schema() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};

    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
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
