//! Keeps a list of the calls that are under way, so that they can be cancelled from outside.

use haft_core::{CallId, RunId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Says which calls to cancel, among those that are under way in a tree of executors.
///
/// Calls are cancelled with everything below them: the calls a tool makes end with it, and so do the runs it starts, as
/// long as it hands its [`cancellation`](crate::CallContext::cancellation) on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cancel {
    /// One call of a run.
    Call {
        /// The run.
        run: RunId,
        /// The call's id.
        call: CallId,
    },
    /// All calls of a run, and of the runs it started.
    Run(RunId),
    /// All calls of the tree.
    Tree,
}

/// Lists the calls that are under way.
#[derive(Default)]
pub(crate) struct LiveCalls(Mutex<Listed>);

#[derive(Default)]
struct Listed {
    next: u64,
    calls: HashMap<u64, Call>,
}

struct Call {
    run: RunId,
    parent_run: Option<RunId>,
    id: CallId,
    token: CancellationToken,
}

impl LiveCalls {
    /// Lists a call until the entry is dropped.
    pub(super) fn list(
        self: &Arc<Self>,
        scope: &crate::CallScope,
        id: &CallId,
        token: CancellationToken,
    ) -> Listing {
        let (run, parent_run) = (scope.run().clone(), scope.parent_run().cloned());
        let mut listed = self.listed();
        let number = listed.next;
        listed.next += 1;
        listed.calls.insert(number, Call { run, parent_run, id: id.clone(), token: token.clone() });
        Listing { calls: Arc::clone(self), number, token }
    }

    /// Cancels the calls that are meant, and counts them.
    pub(super) fn cancel(&self, which: &Cancel) -> usize {
        let meant = |listed: &&Call| match which {
            Cancel::Call { run, call } => listed.run == *run && listed.id == *call,
            Cancel::Run(run) => listed.run == *run || listed.parent_run.as_ref() == Some(run),
            Cancel::Tree => true,
        };
        let tokens: Vec<CancellationToken> =
            self.listed().calls.values().filter(meant).map(|call| call.token.clone()).collect();
        for token in &tokens {
            token.cancel();
        }
        tokens.len()
    }

    fn listed(&self) -> MutexGuard<'_, Listed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps a call on the list.
pub(super) struct Listing {
    calls: Arc<LiveCalls>,
    number: u64,
    pub(super) token: CancellationToken,
}

impl Drop for Listing {
    fn drop(&mut self) {
        self.calls.listed().calls.remove(&self.number);
    }
}
