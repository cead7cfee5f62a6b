//! Keeps what has to outlive a process: grants, calls that wait for a person, the journal, and runs.
//!
//! [`SqliteStore`] keeps all of it in one file, which any number of processes may have open. With the feature `postgres`,
//! `PostgresStore` does for processes on several machines. Each is all of these, and is given wherever one of them is taken:
//!
//! | trait | keeps | asked by |
//! |---|---|---|
//! | [`GrantStore`](haft_tools_core::GrantStore) | what people have answered for longer | an executor's `Grants` |
//! | [`PendingStore`](haft_tools_core::PendingStore) | calls that wait for a person | an executor |
//! | [`JournalSink`](haft_tools_core::JournalSink) | what was called, and by whose word | an executor's `Journal` |
//! | [`RunStore`], [`ChildRuns`] | runs, and those below them | a host that drives runs |
//! | [`EntryStore`], [`RecordStore`] | (lists of all of these) | a host that shows them |
//! | [`Upkeep`] | (removes what is of no use any more) | a host, now and then |
//!
//! ```
//! use haft_store::{RunStore as _, SqliteStore, StoredRun};
//! use haft_tools_core::{Grants, Journal, LocalExecutor, ToolRegistry};
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! let store = Arc::new(SqliteStore::open(directory.path().join("haft.db"))?);
//! let executor = LocalExecutor::builder(ToolRegistry::new())
//!     .grants(Grants::kept_in(Arc::clone(&store) as _).workspace("/home/me/project"))
//!     .pending(Arc::clone(&store) as _)
//!     .journal(Journal::new(Arc::clone(&store) as _))
//!     .build();
//!
//! let mut run = StoredRun::new("run-1".parse()?);
//! run.host = serde_json::json!({ "task": "Fix the failing test." });
//! store.save(&mut run).await?;
//! assert_eq!(store.load(&run.run).await?, Some(run));
//! # let _ = executor;
//! # Ok(())
//! # }
//! ```
//!
//! # What survives what
//!
//! What was acknowledged survives the end of the process, however it ends: it is in the system's hands by then. What
//! survives a loss of power differs. A grant, a pending call, a claim and a run are on the disk when they are
//! acknowledged, so that no call runs twice because a claim was forgotten. Records of the journal get there a little later,
//! at the latest with the next of those writes: a loss of power can take the last of them, from the newest backwards.
//!
//! # What is in the file
//!
//! - A **grant** holds a rule and the name of an agent.
//! - A **pending call** holds its input, its accesses and its preview exactly as they were shown, since exactly that is what
//!   an approval lets run. A secret that the model wrote into an input is therefore in the file for as long as the call
//!   waits. Once the call is claimed, input and answer are overwritten, in the file and in its log; only the call's id,
//!   run, digest and times stay. If another process is reading just then, the log keeps a copy until it is next emptied.
//! - A **run** holds what its host puts into it, and its log: with a transcript in it, all of that.
//! - A **record of the journal** holds neither arguments nor outputs, and the executor redacts it before it gets here.
//!
//! The file, and the `-wal` and `-shm` files that SQLite puts beside it, are readable and writable by their owner alone
//! (mode 0600), and so is the directory `-locks`, in which runs are locked (mode 0700). A host that lets agents write where
//! they are protects all of them ([`SqliteStore::places`]).

mod child_runs;
mod database_error;
mod depth;
mod entry;
mod entry_store;
mod given_up;
mod lease;
mod memory_runs;
mod open_error;
#[cfg(feature = "postgres")]
mod postgres;
mod pruned;
mod record_store;
mod records;
mod run;
mod run_store;
mod sqlite;
mod upkeep;
mod written;

pub use child_runs::ChildRuns;
pub use database_error::DatabaseError;
pub use entry::{Entry, PendingEntry};
pub use entry_store::EntryStore;
pub use given_up::GivenUp;
pub use lease::RunLease;
pub use memory_runs::MemoryRuns;
pub use open_error::OpenError;
#[cfg(feature = "postgres")]
pub use postgres::{ConnectError, PostgresOptions, PostgresStore};
pub use pruned::Pruned;
pub use record_store::RecordStore;
pub use records::{RecordFilter, RecordedRun};
pub use run::{RunStatus, RunSummary, StoredRun};
pub use run_store::{RunStore, SaveError, TakeError};
#[cfg(all(unix, feature = "changes"))]
pub use sqlite::{ChangesOptions, SqliteChanges};
pub use sqlite::{Examination, SqliteStore, StoreOptions};
pub use upkeep::Upkeep;
