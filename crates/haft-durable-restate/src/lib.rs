//! Tool calls, approvals and runs of agents on [Restate](https://restate.dev), a durable execution engine.
//!
//! A [`Worker`] makes calls with the tools of its host, and a [`RestateExecutor`] asks for them: it implements
//! [`ToolExecutor`](haft_tools_core::ToolExecutor), so an agent does not see where its calls are made. The engine keeps each call
//! in between. Whatever process dies, of the client, of the worker or of the engine, the call goes on; a person's answer may
//! take days, and nothing runs meanwhile. What holds for any such engine stands in [`haft_durable`].
//!
//! ```no_run
//! # // Not run: it would need an engine.
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use haft_durable::{Performer, Redo, Routes};
//! use haft_durable_restate::{RestateExecutor, Worker};
//! use haft_http::{AddressPolicy, HttpClient};
//! use haft_tools_core::{LocalExecutor, Policy, ToolRegistry};
//!
//! // On each worker: its tools, what they may do, and which of them may take effect again.
//! let performer = Performer::new(LocalExecutor::builder(ToolRegistry::new()).policy(Policy::new()))
//!     .redo(Redo::by_hints().and("send_mail".parse()?));
//! let worker = Worker::new("tools".parse()?, performer);
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:9080").await?;
//! let served = worker.serve(listener, async { tokio::signal::ctrl_c().await.unwrap_or_default() });
//!
//! // On each client: where the engine is, and which pool has which tools.
//! let http = HttpClient::new(AddressPolicy::public().loopback())?;
//! let executor = RestateExecutor::new(&"http://127.0.0.1:8080".parse()?, http, Routes::to("tools".parse()?))?;
//! # served.await?;
//! # Ok(())
//! # }
//! ```
//!
//! # How a call is kept
//!
//! Each call is a workflow, keyed by its [`CallKey`](haft_durable::CallKey), of the service that has the name of its pool. A
//! round is one journaled step. When the call comes to wait for a person, the workflow gives its worker free at once and waits
//! in the engine for a promise or a timer. A decision is checked against the round that waits and against the digest that was
//! shown, and whoever resolves the promise first has decided.
//!
//! # How a run is kept
//!
//! A whole run can be kept as well: a [`DurableAgent`] is driven by workers, and [`RestateExecutor::runs`] begins runs, finds
//! them again and stops them, from any process. Each run is a workflow under the run's name. A turn of the model is one
//! journaled step, which gives what it added to the run's log, what stands in the run's head then, and which calls are next, with their
//! pools and their order; what decides the course of the workflow comes from there alone. The calls are invocations of their
//! workflows, and so are the runs of agents that a call of [`Delegates`] has begun. A run that waits for a person, at any
//! depth, is suspended like a call that does; one that waits for calls holds its worker for five seconds and is suspended then.
//!
//! ```no_run
//! # // Not run: it would need an engine.
//! # async fn example(model: impl haft_model::Model, tools: haft_tools_core::ToolRegistry) -> Result<(), Box<dyn std::error::Error>> {
//! use haft_durable::Routes;
//! use haft_durable_restate::{DurableAgent, RestateExecutor, RunRequest, RunStanding, Worker};
//! use haft_http::{AddressPolicy, HttpClient};
//! use haft_tools_core::CallScope;
//!
//! // On each worker: the model, what it is told of, and which pools make its calls.
//! let agent = DurableAgent::new(model, tools, Routes::to("tools".parse()?))
//!     .set_up(|agent| agent.system("You book journeys."));
//! let worker = Worker::new("travel".parse()?, agent);
//! # let _ = worker;
//!
//! // On each client.
//! let http = HttpClient::new(AddressPolicy::public().loopback())?;
//! let executor = RestateExecutor::new(&"http://127.0.0.1:8080".parse()?, http, Routes::to("tools".parse()?))?;
//! let request = RunRequest::new(&CallScope::new("run-1".parse()?), "Book a flight to Vienna.")?;
//! let run = executor.runs("travel".parse()?).begin(&request).await?;
//! match run.standing().await? {
//!     RunStanding::Waits(calls) => println!("{} calls wait for a person", calls.len()),
//!     RunStanding::Ended(state) => println!("{}", state.last_text()),
//!     _ => {}
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What is guaranteed
//!
//! - Each call has one reply, and each decision counts once, while the engine keeps the call:
//!   [`Worker::kept_for`] after its end.
//! - A tool that may be made again takes effect at least once in a round, always with the same
//!   [`EffectKey`](haft_durable::EffectKey). Any other takes effect at most once; if its worker dies meanwhile, the model is
//!   told that the call was lost.
//! - A call that is cancelled is told to stop, on whichever worker it runs.
//! - A run ends on any worker as it would have on one: no turn that is in the journal is taken again, and no call that was
//!   answered is made again. A model whose answer was lost with its worker is asked again.
//!
//! # What is not
//!
//! - Updates and progress of running calls may be lost on their way to the client, and are only sent by workers which
//!   [know the engine](Worker::updates_through). Of other events clients are told when a call starts, waits and ends; those of
//!   runs are not sent.
//! - Calls that wait for calls below them, as those of agents that a tool runs itself may, are denied: [`Delegates`] is for
//!   these.
//! - Nothing is said to a run while it is at work, and it is not paused.
//! - Order and widths are those of one batch and of one worker: calls of different batches are not ordered.
//!
//! The engine is not part of this crate and comes under a licence of its own. It needs version 1.7 or later.

mod call_workflow;
mod dispatch;
mod error;
mod executor;
mod following;
mod ingress;
mod pending_calls;
mod registration;
mod runs;
mod serving;
mod soon;
mod step;
mod suspending;
mod updates;
mod wire;
mod worker;

pub use error::Error;
pub use executor::RestateExecutor;
pub use pending_calls::{KeptPendingCall, pending_calls};
pub use registration::register;
pub use runs::{Delegates, DurableAgent, DurableRun, RunRequest, RunStanding, Runs};
pub use worker::{Work, Worker};
