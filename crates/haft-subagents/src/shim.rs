//! Stands in until the agent has them.
#![expect(dead_code, unused)]
use haft_agent::When;
use haft_core::{Message, RunId};
use std::sync::Arc;

#[derive(Clone)]
pub(crate) struct RunHandle(RunId);
impl RunHandle {
    pub(crate) fn run(&self) -> &RunId { &self.0 }
    pub(crate) fn transcript(&self) -> Vec<Arc<Message>> { Vec::new() }
    pub(crate) fn steer(&self, text: impl Into<String>, when: When) -> Result<(), ()> { Err(()) }
}
#[derive(Clone)]
pub(crate) struct RunLimits { pub(crate) depth: u32 }
impl RunLimits {
    pub(crate) fn new() -> Self { Self { depth: 0 } }
    pub(crate) fn depth(self, depth: u32) -> Self { Self { depth } }
}
