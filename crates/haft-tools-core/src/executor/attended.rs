use crate::{Approver, CallContext, Observer};
use std::sync::Arc;

/// Holds who attends to the calls of one batch, besides those who attend to all of the executor's.
#[derive(Clone, Default)]
pub(crate) struct Attended {
    /// Is asked instead of the executor's approver.
    pub(crate) approver: Option<Arc<dyn Approver>>,
    /// Is told beside the executor's observers.
    pub(crate) observer: Option<Arc<dyn Observer>>,
}

impl Attended {
    /// Takes from those who attend to the call that makes these whoever is missing here.
    #[inline]
    pub(super) fn within(own: Option<Arc<Self>>, outer: Option<&Arc<Self>>) -> Option<Arc<Self>> {
        match (own, outer) {
            (Some(own), Some(outer)) if own.approver.is_none() || own.observer.is_none() => {
                let approver = own.approver.as_ref().or(outer.approver.as_ref()).cloned();
                let observer = own.observer.as_ref().or(outer.observer.as_ref()).cloned();
                Some(Arc::new(Self { approver, observer }))
            }
            (own, outer) => own.or_else(|| outer.cloned()),
        }
    }

    /// Takes whoever is missing here from those who attend to a call.
    pub(super) fn like(own: Option<Arc<Self>>, call: &CallContext) -> Option<Arc<Self>> {
        Self::within(own, call.frame().and_then(|frame| frame.attended.as_ref()))
    }

    pub(super) fn ask(attended: &mut Option<Arc<Self>>, approver: Arc<dyn Approver>) {
        Arc::make_mut(attended.get_or_insert_default()).approver = Some(approver);
    }

    pub(super) fn tell(attended: &mut Option<Arc<Self>>, observer: Arc<dyn Observer>) {
        Arc::make_mut(attended.get_or_insert_default()).observer = Some(observer);
    }
}
