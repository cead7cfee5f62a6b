use super::attended::Attended;
use super::control::Control;
use super::local::Shared;
use crate::events::Told;
use crate::permission::ModeSet;
use crate::{
    Access, Accesses, Approver, CallContext, CallScope, Layer, Limits, OutputStore, ToolRegistry, Verdict,
};
use haft_core::{CallId, Decision, EventKind, ToolSpec};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
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
    /// Who attends to these calls besides those who attend to all of the executor's.
    pub(super) attended: Option<Arc<Attended>>,
    pub(super) nesting: u32,
    /// Whether a call may be left to wait for a later answer.
    pub(super) may_wait: bool,
    /// The calls of the batch that are left to wait; made when there is one.
    pub(super) left: OnceLock<Mutex<Vec<LeftCall>>>,
}

/// Is a call that is left to wait.
pub(super) struct LeftCall {
    pub(super) id: CallId,
    pub(super) touches: Accesses,
    /// The name it was called by, where it is held back by others: then nobody but the batch knows of it.
    pub(super) held_as: Option<String>,
}

impl Frame {
    /// Notes that a call is left to wait: what conflicts with it and comes behind it waits, too.
    pub(super) fn leave(&self, call: LeftCall) {
        let left = self.left.get_or_init(Mutex::default);
        left.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }

    /// Takes the calls that are left to wait for others, with the names they were called by.
    pub(super) fn take_held(&self) -> Vec<(CallId, String)> {
        let Some(left) = self.left.get() else { return Vec::new() };
        let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
        left.iter_mut().filter_map(|call| Some((call.id.clone(), call.held_as.take()?))).collect()
    }

    /// Tells whether no call of the batch is left to wait.
    pub(super) fn leaves_none(&self) -> bool {
        self.left.get().is_none()
    }

    /// Names the calls that are left to wait and conflict with these accesses; all of them for what is not known.
    pub(super) fn left_before(&self, accesses: Option<&Accesses>) -> Vec<CallId> {
        let Some(left) = self.left.get() else { return Vec::new() };
        let left = left.lock().unwrap_or_else(PoisonError::into_inner);
        let stand_before = left
            .iter()
            .filter(|waiting| accesses.is_none_or(|accesses| accesses.conflict_with(&waiting.touches)));
        stand_before.map(|waiting| waiting.id.clone()).collect()
    }

    pub(crate) fn registry(&self) -> &ToolRegistry {
        self.registry.as_ref().unwrap_or(&self.shared.registry)
    }

    /// Decides whether a call may run in these modes.
    pub(super) fn decide<'a>(
        &'a self,
        modes: ModeSet,
        tool: &ToolSpec,
        accesses: &'a Accesses,
    ) -> Verdict<'a> {
        self.shared.policy.decide_under(&self.scope, modes, tool, accesses)
    }

    /// Tells whether this is denied to a tool.
    pub(crate) fn denies(&self, tool: &str, access: &Access) -> bool {
        let Some(entry) = self.registry().entry(tool) else { return true };
        let verdict = self.shared.policy.decide_one(&self.scope, self.modes(), &entry.spec, Some(access));
        verdict.decision() == Decision::Deny
    }

    /// Decides every access of a call on its own.
    pub(super) fn explain<'a>(
        &'a self,
        modes: ModeSet,
        tool: &ToolSpec,
        accesses: &'a Accesses,
    ) -> Vec<Verdict<'a>> {
        self.shared.policy.explain_under(&self.scope, modes, tool, accesses)
    }

    /// What the executor's switch is set to now, and the switches of those that execute the calls which make these: an agent
    /// with an executor of its own is not out of the reach of a person who sets the mode of the first.
    pub(super) fn modes(&self) -> ModeSet {
        let callers = std::iter::successors(self.caller.as_ref(), |caller| caller.caller());
        let outer = callers.filter_map(|caller| caller.frame());
        outer.fold(self.shared.mode.get().into(), |modes, outer| modes.with(outer.shared.mode.get()))
    }

    /// Whom to ask about these calls.
    pub(super) fn approver(&self) -> &dyn Approver {
        let own = self.attended.as_ref().and_then(|attended| attended.approver.as_deref());
        own.unwrap_or(&*self.shared.approver)
    }

    fn events(&self) -> Told<'_> {
        let own = self.attended.as_ref().and_then(|attended| attended.observer.as_deref());
        self.shared.events.beside(own)
    }

    /// Tells whether anybody observes these calls or reads of them.
    #[inline]
    pub(crate) fn is_observed(&self) -> bool {
        let is_told = |attended: &Arc<Attended>| attended.observer.is_some();
        self.shared.events.is_observed() || self.attended.as_ref().is_some_and(is_told)
    }

    /// Tells of something that happened to a call.
    #[inline]
    pub(crate) fn emit(&self, call: &CallId, kind: impl FnOnce() -> EventKind) {
        if !self.is_observed() {
            return;
        }
        self.events().emit(&self.scope, Some(call), kind);
    }

    pub(crate) fn outputs(&self) -> Option<&Arc<dyn OutputStore>> {
        self.shared.outputs.as_ref()
    }

    pub(crate) fn layers(&self) -> &[Arc<dyn Layer>] {
        &self.shared.layers
    }

    /// The limits of the calls of a tool.
    pub(crate) fn limits_of(&self, tool: &str) -> &Limits {
        self.registry().entry(tool).map_or(&self.shared.limits, |entry| self.shared.limits_of(entry))
    }

    pub(crate) fn update_interval(&self) -> Duration {
        self.shared.limits.update_interval
    }

    /// Stops the clocks of the calls that wait for one of these, for as long as the guard lives.
    pub(super) fn stop_clocks(&self) -> StoppedClocks<'_> {
        StoppedClocks::of(self.caller.as_ref())
    }
}

/// Keeps the clocks of a call and of those that wait for it stopped while a person is asked, or the host has its turn.
pub(crate) struct StoppedClocks<'a>(Option<&'a CallContext>);

impl<'a> StoppedClocks<'a> {
    pub(crate) fn of(call: Option<&'a CallContext>) -> Self {
        let stopped = Self(call);
        stopped.calls().for_each(|call| call.clock().stop());
        stopped
    }

    fn calls(&self) -> impl Iterator<Item = &'a CallContext> + use<'a> {
        std::iter::successors(self.0, |call| call.caller())
    }
}

impl Drop for StoppedClocks<'_> {
    fn drop(&mut self) {
        self.calls().for_each(|call| call.clock().go_on());
    }
}
