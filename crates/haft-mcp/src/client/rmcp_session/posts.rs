use std::collections::HashSet;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// How long is waited, when a server has forgotten the session, for what it says to the requests that are under way.
const SETTLING: Duration = Duration::from_secs(5);

/// Knows which messages of a session are being sent, and which requests a server did not take since it has forgotten the
/// session.
///
/// Where many requests are under way the first that is not taken ends the session; the others, of which it is not known
/// yet, may have been taken.
#[derive(Debug, Default)]
pub(crate) struct Posts(watch::Sender<State>);

#[derive(Debug, Default)]
struct State {
    under_way: usize,
    is_forgotten: bool,
    untaken: HashSet<i64>,
}

/// Is a message that is being sent, until it is dropped.
pub(super) struct Post<'a>(&'a Posts);

impl Posts {
    /// Begins to send a message, which may be a request; `None` if nothing can be sent in the session any more.
    pub(super) fn begin(&self, request: Option<i64>) -> Option<Post<'_>> {
        let mut may_begin = false;
        self.0.send_modify(|state| {
            may_begin = !state.is_forgotten;
            if may_begin {
                state.under_way += 1;
            } else {
                state.untaken.extend(request);
            }
        });
        may_begin.then_some(Post(self))
    }

    /// Takes note that the server has not taken a message, because it has forgotten the session.
    pub(super) fn forgotten(&self, request: Option<i64>) {
        self.0.send_modify(|state| {
            state.is_forgotten = true;
            state.untaken.extend(request);
        });
    }

    pub(super) fn is_forgotten(&self) -> bool {
        self.0.borrow().is_forgotten
    }

    /// Tells whether the server has certainly not taken a request.
    pub(super) fn was_untaken(&self, request: i64) -> bool {
        self.0.borrow().untaken.contains(&request)
    }

    /// Waits until the server has said something to all that is being sent, but not for ever.
    pub(super) async fn settled(&self) {
        let mut state = self.0.subscribe();
        // What has not been answered in time may have been taken.
        let _ = timeout(SETTLING, state.wait_for(|state| state.under_way == 0)).await;
    }
}

impl Drop for Post<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.under_way -= 1);
    }
}
