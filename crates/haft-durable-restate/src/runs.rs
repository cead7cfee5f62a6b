//! Runs of agents that an engine keeps.

mod batch;
mod below;
mod client;
mod delegates;
mod durable_agent;
mod leg;
mod run_clock;
mod run_request;
mod run_wire;
mod run_workflow;
mod turn_step;

pub use client::{DurableRun, RunStanding, Runs};
pub use delegates::Delegates;
pub use durable_agent::DurableAgent;
pub use run_request::RunRequest;
pub(crate) use run_wire::{STANDING, STATE};
pub(crate) use run_workflow::RunWorkflow;
