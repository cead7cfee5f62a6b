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
//!
//! # What a run may spend
//!
//! A [`Budget`] limits turns, calls, tokens, time and money. When one is spent the model is told once and gets one more turn,
//! without tools; then the run ends as [`RunEnd::BudgetSpent`]. A run that a call of another starts draws on that one's
//! budget: the calls find a [`Purse`] in their scope. A run that makes the same call with the same result three times is told
//! so, and ends as [`RunEnd::Looping`] if it makes it once more.
//!
//! # While it is at work
//!
//! [`Agent::steer`] says something to a run, [`Agent::pause`] has it stand still, and [`Agent::cancel`] stops it. What was said
//! is part of the state until the model is told, and so is a pause: a paused run is plain data like any other.
//!
//! What can wait until the model takes its next turn is asked for before it does, from those who have [`News`].
//!
//! A call reaches the run it belongs to by the [`RunHandle`] in its scope: it can say something to it, end it with a result
//! ([`RunHandle::conclude`]), and see what was said so far.
//!
//! # When its process ends
//!
//! [`Agent::go_on`] goes on with a run from where a [`StateKeeper`] has kept it. No call that was answered is made again; one
//! that was being executed is answered as lost, unless its tool is one whose calls are [made again](Agent::made_again).
//!
//! # Runs of other runs
//!
//! A call can run an agent of its own: [`Agent::made_by`] gives its calls the place of that call, [`Agent::run_from`] begins
//! with a part of what was said in the run above, and [`RunLimits`] in a scope limit how deep runs lie one below the other.
//! [`DelegateAgents`] is what tools of the name `delegate` have in common, whoever begins the runs.
//!
//! # When an answer breaks off
//!
//! A model's answer that breaks off in the middle counts for nothing, and is asked for again, at most twice in a row; observers
//! are told ([`TurnDiscarded`](haft_core::EventKind::TurnDiscarded)), and what it cost is counted. A request that is not answered
//! at all is the model's to repeat, of which observers are told, too ([`ModelRetried`](haft_core::EventKind::ModelRetried)).
//!
//! # What the model is told
//!
//! The transcript only ever grows, and is kept by adding to it ([`StateKeeper`]). What the model is told of it is a view, of
//! which a [`Compaction`] makes less when it comes near to what a request can hold; [`CutOutputs`] tells old outputs by
//! their handles in an output store.

mod agent;
mod budget;
mod compaction;
mod delegate;
mod effect;
mod log;
mod phase;
mod queue;
mod repeats;
mod state;
mod tools;
mod transcript;
mod turn_record;

pub use agent::{Agent, News, NotAtWorkError, Purses, ResumeError, RunHandle, RunLimits, StateKeeper};
pub use budget::{Account, Budget, Price, Prices, Purse, Reservation, Spent};
pub use compaction::{CompactError, Compacted, Compaction, CompactionContext, CutOutputs, Told};
pub use delegate::{DelegateAgents, DelegateCall, DelegateEnd, DelegateTask};
pub use effect::{Effect, RunEvent};
pub use log::LogEntry;
pub use phase::{Phase, RunEnd};
pub use queue::{Queued, SteerWhen};
pub use state::{RestoreError, RunHead, RunState, StepError};
pub use tools::{Plan, PlanStep, StepStatus, ask_user, update_plan};
pub use transcript::Transcript;
pub use turn_record::TurnRecord;
