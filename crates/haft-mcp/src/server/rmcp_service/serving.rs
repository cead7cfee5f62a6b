use super::followers::Followers;
use super::list_changes::ListChanges;
#[cfg(feature = "server-http")]
use super::written_page::WrittenPage;
use crate::server::caller::Principal;
use crate::server::calls::ServedCalls;
use crate::server::catalog::{ServeMode, Shelf};
use crate::server::offers::{Prompts, Resources};
use crate::server::toolbox::Toolbox;
use bytes::Bytes;
use rmcp::model::Extensions;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Is what all that is served has in common.
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) mode: ServeMode,
    pub(crate) toolbox: Arc<dyn Toolbox>,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) prompts: Option<Arc<dyn Prompts>>,
    pub(crate) resources: Option<Arc<dyn Resources>>,
    pub(crate) calls: Arc<ServedCalls>,
}

/// Is one serving: over standard streams, a socket or an address, until it is to stop.
pub(crate) struct Serving {
    pub(crate) shared: Arc<Shared>,
    /// Ends subscriptions in peace, a moment before connections are ended.
    pub(crate) stopping: CancellationToken,
    /// Cancels the calls that are being answered.
    cancelling: CancellationToken,
    calls: TaskTracker,
    pub(super) followers: Followers,
}

impl Serving {
    pub(crate) fn new(shared: Arc<Shared>, stopping: CancellationToken) -> Arc<Self> {
        let calls = TaskTracker::new();
        calls.close();
        let cancelling = CancellationToken::new();
        Arc::new(Self { shared, stopping, cancelling, calls, followers: Followers::default() })
    }

    /// Answers a call, which is cancelled by `token` when the calls are.
    pub(super) async fn answering<T>(&self, token: &CancellationToken, call: impl Future<Output = T>) -> T {
        let _held = self.calls.token();
        let mut call = pin!(call);
        tokio::select! {
            biased;
            answer = &mut call => return answer,
            () = self.cancelling.cancelled() => token.cancel(),
        }
        call.await
    }

    /// Cancels the calls that are being answered, and waits until each has ended and is recorded.
    #[cfg(feature = "server-http")]
    pub(crate) async fn cancel_calls(&self) {
        self.cancelling.cancel();
        self.calls.wait().await;
    }

    /// Tells the clients of the older era of changes, for as long as it is awaited.
    pub(crate) async fn tell_of_changes(&self) {
        self.followers.tell(ListChanges::of(&self.shared)).await;
    }
}

/// Says who sends the requests of a connection.
#[derive(Clone)]
pub(crate) enum Whose {
    /// One caller all of them, in a session of this name.
    Known(Principal, Arc<str>),
    /// Each its own, who was found out before.
    #[cfg(feature = "server-http")]
    OfRequest(fn(&Extensions) -> Option<Principal>),
}

impl Whose {
    /// Says who sends a request, and in which session; `None` where nobody has found out.
    #[cfg_attr(
        not(feature = "server-http"),
        expect(unused_variables, clippy::unnecessary_wraps, reason = "of lines it is always known")
    )]
    pub(super) fn sender(&self, extensions: &Extensions) -> Option<(Principal, Option<Arc<str>>)> {
        match self {
            Self::Known(principal, session) => Some((principal.clone(), Some(session.clone()))),
            #[cfg(feature = "server-http")]
            Self::OfRequest(find) => {
                let session = extensions.get::<SessionName>().map(|name| name.0.clone());
                Some((find(extensions)?, session))
            }
        }
    }

    /// Where a page of tools can be put that is written already, if the way back to the client takes one.
    #[cfg_attr(not(feature = "server-http"), expect(unused_variables, reason = "lines take none"))]
    pub(super) fn room_for_page<'a>(&self, extensions: &'a Extensions) -> Option<&'a OnceLock<Bytes>> {
        match self {
            Self::Known(..) => None,
            #[cfg(feature = "server-http")]
            Self::OfRequest(_) => {
                let parts = extensions.get::<http::request::Parts>()?;
                parts.extensions.get().map(WrittenPage::room)
            }
        }
    }
}

/// Is the name of a session over HTTP, in the extensions of each of its requests.
#[cfg(feature = "server-http")]
#[derive(Debug, Clone)]
pub(super) struct SessionName(pub(super) Arc<str>);
