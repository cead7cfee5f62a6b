//! What an executor outside this crate reads of the work it is given.

use super::attended::Attended;
use super::told_call::ended;
use super::{Batch, CallOutcome, Resumption};
use crate::{
    Approval, Approver, CallContext, CallScope, Events, Observer, PendingCall, Steering, ToolRegistry,
};
use haft_core::{CallId, EventKind, Repair};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl Batch {
    /// On whose behalf the calls are made: below the scope of the call that [makes them](Self::made_by), if one does.
    ///
    /// ```
    /// use haft_tools_core::{Batch, CallScope};
    ///
    /// let batch = Batch::new(CallScope::new("run-1".parse()?).with_turn(2), Vec::new());
    /// assert_eq!((batch.scope().run().as_str(), batch.scope().turn()), ("run-1", Some(2)));
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    pub fn scope(&self) -> CallScope {
        scope_below(self.scope.clone(), self.caller.as_ref())
    }

    /// Is cancelled when the calls are to stop: the batch's own token, or else that of the call that makes them.
    pub fn cancellation(&self) -> Option<&CancellationToken> {
        self.cancellation.as_ref().or_else(|| self.caller.as_ref().map(CallContext::calls_token))
    }

    /// Who steers the batch, if somebody does.
    pub fn steering(&self) -> Option<&Arc<dyn Steering>> {
        self.steering.as_ref()
    }

    /// Who is asked about the calls, if others than the executor's own approver are.
    pub fn approver(&self) -> Option<&Arc<dyn Approver>> {
        self.attended.as_ref()?.approver.as_ref()
    }

    /// Tells of something that happened to one of these calls: whoever [observes](Self::observed_by) them, and who observes or
    /// reads `events`. If nobody does, the event is not even made.
    ///
    /// ```
    /// use haft_core::{Event, EventKind};
    /// use haft_tools_core::{Batch, CallScope, Events};
    /// use std::sync::{Arc, Mutex};
    ///
    /// let seen = Arc::new(Mutex::new(0));
    /// let sink = Arc::clone(&seen);
    /// let batch = Batch::new(CallScope::new("run-1".parse()?), Vec::new())
    ///     .observed_by(Arc::new(move |_: &Event| *sink.lock().unwrap() += 1));
    /// batch.tell(&Events::default(), &"c1".parse()?, || EventKind::Progressed { progress: "linking".into() });
    /// assert_eq!(*seen.lock().unwrap(), 1);
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    pub fn tell(&self, events: &Events, call: &CallId, kind: impl FnOnce() -> EventKind) {
        events.beside(self.observer().map(|observer| &**observer)).emit(&self.scope, Some(call), kind);
    }

    /// Who [observes](Self::observed_by) the calls, if somebody does: of the batch, or else of the call that makes them.
    pub fn observer(&self) -> Option<&Arc<dyn Observer>> {
        observer(self.attended.as_deref(), self.caller.as_ref())
    }

    /// Tells whether anybody would be [told](Self::tell).
    pub fn is_observed(&self, events: &Events) -> bool {
        events.is_observed() || self.observer().is_some()
    }

    /// Where the tools are found, if not in the executor's own registry.
    pub fn registry(&self) -> Option<&ToolRegistry> {
        self.registry.as_ref()
    }

    /// What was changed in the input of the call at this place, 0-based, before it was [held back](crate::HeldCall).
    pub fn repairs(&self, place: usize) -> &[Repair] {
        self.held.as_ref().and_then(|held| held.get(place)).map_or(&[], Vec::as_slice)
    }
}

impl Resumption {
    /// On whose behalf the call is made: below the scope of the call that [makes it](Self::made_by), if one does.
    pub fn scope(&self) -> CallScope {
        scope_below(self.scope.clone(), self.caller.as_ref())
    }

    /// The call that is gone on with.
    pub fn pending(&self) -> &PendingCall {
        &self.pending
    }

    /// What was answered.
    pub fn approval(&self) -> &Approval {
        &self.approval
    }

    /// Is cancelled when the call is to stop, as [`Batch::cancellation`] is.
    pub fn cancellation(&self) -> Option<&CancellationToken> {
        self.cancellation.as_ref().or_else(|| self.caller.as_ref().map(CallContext::calls_token))
    }

    /// Tells of something that happened to the call, as [`Batch::tell`] does.
    pub fn tell(&self, events: &Events, kind: impl FnOnce() -> EventKind) {
        let observer = observer(self.attended.as_deref(), self.caller.as_ref());
        let told = events.beside(observer.map(|observer| &**observer));
        told.emit(&self.scope, Some(&self.pending.call.id), kind);
    }

    /// Tells what became of the call, as [`ToldCall::end`](crate::ToldCall::end) does.
    ///
    /// ```
    /// # mod house { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doctests/house.rs")); }
    /// use haft_core::EventKind;
    /// use haft_tools_core::{Approval, CallOutcome, Events, Resumption};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_, pending) = house::waiting().await?;
    /// let events = Events::default();
    /// let mut reader = events.subscribe(8);
    /// let lost = CallOutcome::lost(&pending.call);
    /// Resumption::new(pending.scope(), *pending, Approval::Approve).tell_end(&events, &lost);
    /// let told = reader.try_next().map(|delivery| delivery.event.kind.clone());
    /// assert!(matches!(told, Some(EventKind::Finished { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn tell_end(&self, events: &Events, outcome: &CallOutcome) {
        if self.is_observed(events)
            && let Some(end) = ended(outcome)
        {
            self.tell(events, || end);
        }
    }

    /// Tells whether anybody would be [told](Self::tell).
    pub fn is_observed(&self, events: &Events) -> bool {
        events.is_observed() || observer(self.attended.as_deref(), self.caller.as_ref()).is_some()
    }
}

/// Gives whoever observes calls: their own observer, or else that of the call which makes them.
fn observer<'a>(own: Option<&'a Attended>, caller: Option<&'a CallContext>) -> Option<&'a Arc<dyn Observer>> {
    let outer = || caller?.frame()?.attended.as_deref();
    own.and_then(|own| own.observer.as_ref()).or_else(|| outer()?.observer.as_ref())
}

/// Gives the scope of calls that another makes, in whatever way: below the ceilings that it is below.
pub(super) fn scope_below(scope: CallScope, caller: Option<&CallContext>) -> CallScope {
    match caller {
        Some(caller) => scope.below(caller.scope()),
        None => scope,
    }
}
