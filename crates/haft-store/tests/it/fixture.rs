use haft_core::{Digest, RunId};
use haft_store::{ChildRuns, EntryStore, RecordStore, RunStore, SqliteStore, Upkeep};
use haft_tools_core::{
    Access, Accesses, GrantStore, JournalSink, PendingCall, PendingStore, Resource, Scheme,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Opens a database that others write all the time: one of them can wait for long, since who comes next is not in turn.
pub(crate) fn patient(path: PathBuf) -> SqliteStore {
    SqliteStore::options().wait(Duration::from_mins(1)).open(path).unwrap()
}

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

/// Is a store that keeps everything.
pub(crate) trait Whole:
    GrantStore + PendingStore + JournalSink + RunStore + EntryStore + RecordStore + ChildRuns + Upkeep
{
}

impl<S> Whole for S where
    S: GrantStore + PendingStore + JournalSink + RunStore + EntryStore + RecordStore + ChildRuns + Upkeep
{
}

/// Is a store, and where it keeps what it has.
pub(crate) struct Kept {
    pub(crate) store: Arc<dyn Whole>,
    home: Home,
}

enum Home {
    File(Place),
    /// The schema.
    #[cfg(feature = "postgres")]
    Server(String),
}

impl Kept {
    fn in_file() -> Self {
        let place = Place::new();
        Self { store: Arc::new(place.store()), home: Home::File(place) }
    }

    /// Opens the same as another process does.
    pub(crate) async fn again(&self) -> Arc<dyn Whole> {
        match &self.home {
            Home::File(place) => Arc::new(place.store()),
            #[cfg(feature = "postgres")]
            Home::Server(schema) => Arc::new(postgres_in(schema).await.unwrap()),
        }
    }

    /// Changes what is kept, as no store does.
    pub(crate) async fn change(&self, sql: &str) {
        match &self.home {
            Home::File(place) => {
                rusqlite::Connection::open(place.path()).unwrap().execute_batch(sql).unwrap();
            }
            #[cfg(feature = "postgres")]
            Home::Server(schema) => {
                let sql = format!("SET search_path = \"{schema}\"; {sql}");
                crate::postgres::alone(&postgres_url().unwrap(), &sql).await;
            }
        }
    }
}

/// Does the same with each kind of store that other processes can open.
pub(crate) async fn each(act: impl AsyncFn(&Kept)) {
    #[cfg(feature = "postgres")]
    {
        let schema = new_schema();
        if let Some(store) = postgres_in(&schema).await {
            act(&Kept { store: Arc::new(store), home: Home::Server(schema) }).await;
        }
    }
    act(&Kept::in_file()).await;
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
