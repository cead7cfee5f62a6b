//! Sub-agents: delegation to runs that cannot exceed their parent, over any agent loop.
//!
//! An [`AgentSpec`] says what an agent is there for, which tools it has, and what it may spend; it is written in code, or in
//! Markdown with front matter ([`AgentFile`]). A [`Supervisor`] gives the tools by which a model delegates to agents, and is
//! the only one who starts their runs; a [`Runner`] drives them, such as [`AgentRunner`] with the loop of [`haft_agent`].
//!
//! ```
//! use haft_agent::Agent;
//! use haft_model::{ScriptedModel, Session};
//! use haft_subagents::{AgentRunner, AgentSpec, Supervisor};
//! use haft_tools_core::{AccessMode, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme};
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = r#"
//! {"calls": [{"id": "c1", "name": "delegate", "input": {"tasks": [{"agent": "explorer", "task": "Where is the parser?"}]}}]}
//! {"run": "c1/0", "text": "In src/parse.rs."}
//! {"text": "It is in src/parse.rs.", "after": {"c1": "ok"}}
//! "#;
//! let session = Session::parse(session, "parser.jsonl")?;
//! let below = session.of_run("c1/0").ok_or("the session has no run below")?;
//!
//! let explorer = AgentSpec::new("explorer".parse()?, "Finds where things are in the code.");
//! let supervisor = Supervisor::builder().agent(explorer).build();
//! let may_explore = Rule::access(AccessMode::Call, Resource::exact(Scheme::new("agent"), "explorer"));
//! // Beside the tools of the supervisor there would be those that the agents work with.
//! let executor = LocalExecutor::builder(supervisor.tools()?)
//!     .policy(Policy::new().allow(may_explore).allow(Supervisor::looking_after()))
//!     .build();
//! supervisor.drive_with(AgentRunner::new(ScriptedModel::new(below), executor.clone()));
//!
//! let agent = Agent::new(ScriptedModel::new(session), executor)
//!     .made_again(Supervisor::MADE_AGAIN)
//!     .may_repeat(Supervisor::MAY_REPEAT)
//!     .news(Arc::new(supervisor.clone()));
//! let state = agent.run(CallScope::new("run-1".parse()?), "Where is the parser?").await;
//! assert_eq!(state.last_text(), "It is in src/parse.rs.");
//! # Ok(())
//! # }
//! ```
//!
//! # What a run may do
//!
//! The scope of a run is made by the supervisor alone, below that of the run that started it. So whatever a run is asked to
//! do, and however it was started, the policy decides it along the whole chain, and never wider than any ceiling in it. What
//! tools a run has does not depend on those of its parent: one that may not edit can delegate to one that may, if the
//! person's policy lets that one.
//!
//! # Who is asked
//!
//! What a run asks a person about at any depth goes to the approver of the run at the top. If the answer comes later, the run
//! waits, and so does the call that started it, as data: [`PendingCall::leaves`](haft_tools_core::PendingCall::leaves) gives
//! what is to be answered. When that was answered in the [`PendingStore`](haft_tools_core::PendingStore), the host resumes the
//! outermost call with [`Approval::Approve`](haft_tools_core::Approval::Approve), and each run below goes on with its answers.
//!
//! # When the process ends
//!
//! With a [`ChildStore`] that outlives it, a call of `delegate` that is [made again](Supervisor::MADE_AGAIN) finds its runs and
//! goes on with them, and [`Supervisor::go_on_all`] goes on with those in the background, or says that they are lost.

mod agent_runner;
mod isolation;
mod limits;
mod markdown;
mod record;
mod report;
mod result;
mod runner;
mod spec;
mod store;
mod supervisor;
mod tools;

pub use agent_runner::AgentRunner;
pub use isolation::{
    ApplyChanges, ChangesError, FileChange, KeptChanges, LeftOut, Patch, PatchFile, Placed, ShowChanges,
    Workplace, WorkplaceError, Workplaces, take_changes, take_up_changes,
};
#[cfg(all(unix, feature = "worktrees"))]
pub use isolation::{PlaceLimits, Worktrees};
pub use limits::SpawnLimits;
pub use markdown::{AgentDirectory, AgentFile, AgentFileError, AgentFiles, FileNote, NoteKind};
pub use record::{ChildEnd, ChildRecord, ChildResult, ChildStatus};
pub(crate) use record::{Handed, ToldBy};
pub use report::report;
pub use result::{ExpectedResult, InvalidResultError, OutputSchemaError};
pub use runner::{ChildMeter, ChildOutcome, ChildRun, Runner};
pub use spec::{AgentSpec, Isolation, Share};
pub use store::{ChildMemory, ChildStore, MemoryChildren};
pub use supervisor::{Supervisor, SupervisorBuilder};
