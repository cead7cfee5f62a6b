use super::control::Control;
use super::local::Shared;
use crate::{Accesses, CallContext, CallScope, Events, Layer, OutputStore, ToolRegistry, Verdict};
use haft_core::{CallId, EventKind, ToolSpec};
use std::sync::Arc;
use std::time::Duration;

/// Holds what the calls of one batch have in common: where, on whose behalf and how deep they are made.
pub(crate) struct Frame {
    pub(super) shared: Arc<Shared>,
    /// The batch's own tools; the executor's where there are none.
    pub(super) registry: Option<ToolRegistry>,
    pub(crate) scope: CallScope,
    pub(crate) control: Control,
    /// The call whose tool makes these.
    pub(crate) caller: Option<CallContext>,
    pub(super) nesting: u32,
    /// Whether a call may be left to wait for a later answer.
    pub(super) may_wait: bool,
}

impl Frame {
    pub(super) fn registry(&self) -> &ToolRegistry {
        self.registry.as_ref().unwrap_or(&self.shared.registry)
    }

    /// Decides every access of a call on its own.
    pub(super) fn explain<'a>(&'a self, tool: &ToolSpec, accesses: &'a Accesses) -> Vec<Verdict<'a>> {
        let Shared { policy, mode, .. } = &*self.shared;
        policy.explain_in(&self.scope, mode.get(), tool, accesses)
    }

    pub(crate) fn events(&self) -> &Events {
        &self.shared.events
    }

    /// Tells of something that happened to a call.
    pub(crate) fn emit(&self, call: &CallId, kind: impl FnOnce() -> EventKind) {
        self.shared.events.emit(&self.scope, Some(call), kind);
    }

    pub(crate) fn outputs(&self) -> Option<&Arc<dyn OutputStore>> {
        self.shared.outputs.as_ref()
    }

    pub(crate) fn layers(&self) -> &[Arc<dyn Layer>] {
        &self.shared.layers
    }

    pub(crate) fn update_interval(&self) -> Duration {
        self.shared.limits.update_interval
    }

    /// Stops the clocks of the calls that wait for one of these, for as long as the guard lives.
    pub(super) fn stop_clocks(&self) -> StoppedClocks<'_> {
        for caller in self.callers() {
            caller.clock().stop();
        }
        StoppedClocks(self)
    }

    fn callers(&self) -> impl Iterator<Item = &CallContext> {
        std::iter::successors(self.caller.as_ref(), |caller| caller.caller())
    }
}

/// Keeps clocks stopped while a person is asked.
pub(super) struct StoppedClocks<'a>(&'a Frame);

impl Drop for StoppedClocks<'_> {
    fn drop(&mut self) {
        for caller in self.0.callers() {
            caller.clock().go_on();
        }
    }
}
