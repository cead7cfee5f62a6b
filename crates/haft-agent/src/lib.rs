//! The agent loop: a pure turn machine and the driver that runs it.
//!
//! A run is one agent working on one task. Its [`RunState`] is plain data: the transcript, where the run stands and
//! what it has cost. [`RunState::step`] takes what happened as a [`RunEvent`], changes the state, and says as
//! [`Effect`]s what has to be done next; it performs nothing itself, so a run can be stored between any two steps and
//! every path through the loop can be tested without a runtime, a model or a tool.
//!
//! An [`Agent`] is the driver: it has a [`Model`](haft_model::Model) answer, a
//! [`ToolExecutor`](haft_tools_core::ToolExecutor) execute, and feeds what comes back into the state until the run ends
//! or waits for a person.
//!
//! ```
//! use haft_agent::{Agent, RunEnd};
//! use haft_model::{ScriptedModel, Session};
//! use haft_tools_core::{CallScope, LocalExecutor, ToolRegistry};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::parse(r#"{"text": "Nothing to do."}"#, "idle.jsonl")?;
//! let executor = LocalExecutor::builder(ToolRegistry::new()).build();
//! let agent = Agent::new(ScriptedModel::new(session), executor);
//!
//! let state = agent.run(CallScope::new("run-1".parse()?), "Is there anything to do?").await;
//! assert_eq!(state.end(), Some(&RunEnd::Completed));
//! assert_eq!(state.last_text(), "Nothing to do.");
//! # Ok(())
//! # }
//! ```

mod agent;
mod budget;
mod compaction;
mod effect;
mod log;
mod phase;
mod queue;
mod repeats;
mod state;
mod tools;

pub use agent::{Agent, NotAtWork, ResumeError, StateKeeper};
pub use budget::{Account, Budget, Price, Prices, Purse, Reservation, Spent};
pub use compaction::{CompactError, Compacted, Compaction, Context, CutOutputs, Told};
pub use effect::{Effect, RunEvent};
pub use log::LogEntry;
pub use phase::{Phase, RunEnd};
pub use queue::{Queued, When};
pub use state::{RestoreError, RunHead, RunState, StepError};
pub use tools::{Plan, PlanStep, StepStatus, ask_user, update_plan};
