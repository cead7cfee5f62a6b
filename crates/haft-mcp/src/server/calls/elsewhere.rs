//! Answers that others than the client keep in the store of a toolset, while its call stays open.

use super::approver::Given;
use crate::server::toolbox::Toolset;
use futures_util::future::select_all;
use haft_tools_core::{Approval, PendingCall, PendingId, PendingStore, Wants};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often it is looked whether somebody has answered.
const LOOK_AGAIN: Duration = Duration::from_millis(150);

/// Waits for the answer to a call; for ever where it cannot be read, which is said once.
pub(super) async fn answered(store: &dyn PendingStore, id: &PendingId) -> Approval {
    let mut is_said = false;
    loop {
        match store.answer_to(id).await {
            Ok(Some(approval)) if !approval.waits() => return approval,
            Err(error) if !is_said => {
                is_said = true;
                let error = &error as &dyn std::error::Error;
                tracing::error!(error, "answers to calls that wait cannot be read");
            }
            Ok(_) | Err(_) => {}
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Is what is waited for while one request stays open.
#[derive(Default)]
pub(super) struct Attending {
    /// The answers with which the call was gone on with; none is a reason to do so twice.
    used: BTreeSet<PendingId>,
}

/// Says that a call is to be gone on with.
pub(super) struct GoOn {
    /// What was answered, where it is about the call itself and not about one below it.
    pub(super) given: Option<Given>,
}

impl Attending {
    /// Waits until a call that waits, or one below it, is answered; `None` where nobody will, or nobody wants to know any more.
    ///
    /// A person who has to sign in somewhere does not answer here, and a client that is gone waits for nothing.
    pub(super) async fn wait(
        &mut self,
        toolset: &Toolset,
        pending: &PendingCall,
        gone: &CancellationToken,
    ) -> Option<GoOn> {
        let time = toolset.attended?;
        if pending.leaves().any(|leaf| leaf.wants != Wants::Approval) {
            return None;
        }
        // The call above others can be answered, too, to end it.
        let above = Some(&pending.id).filter(|_| pending.waits_below());
        let asked: Vec<&PendingId> = pending.leaves().map(|leaf| &leaf.id).chain(above).collect();
        let asked = asked.into_iter().filter(|id| !self.used.contains(*id));
        let answers: Vec<_> = asked
            .map(|id| Box::pin(async move { (id.clone(), answered(&*toolset.pending, id).await) }))
            .collect();
        if answers.is_empty() {
            return None;
        }
        let (id, approval) = tokio::select! {
            biased;
            () = gone.cancelled() => return None,
            first = tokio::time::timeout(time, select_all(answers)) => first.ok()?.0,
        };
        self.used.insert(id.clone());
        let given = Given { id, digest: pending.digest, approval: Some(approval) };
        Some(GoOn { given: Some(given).filter(|_| !pending.waits_below()) })
    }
}
