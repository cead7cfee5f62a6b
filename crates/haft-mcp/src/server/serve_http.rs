use super::front::HttpListener;
use super::rmcp_service::{Serving, http_service};
use super::tool_server::{Ended, ToolServer};
use tokio_util::sync::CancellationToken;

impl ToolServer {
    /// Serves whoever the listener lets in, each by what they are known to be; it ends when the token is cancelled.
    ///
    /// Clients of the older era have sessions here, 10,000 of them at most, each of which ends after 30 minutes without use;
    /// those of the newer era have none, so that any instance can answer any request of theirs. What is being answered when
    /// it is to end may go on for as long as the listener's limits say, and is then cancelled; whoever only listens is let go
    /// at once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends all connections and sessions.
    pub async fn serve_http(&self, listener: HttpListener, stop: CancellationToken) -> Ended {
        let over = CancellationToken::new();
        // Sessions have tasks of their own, which end with this, however it ends.
        let _over = over.clone().drop_guard();
        let serving = Serving::new(self.shared.clone(), stop.child_token());
        let service = http_service(&serving, over);
        let until_stop = async {
            stop.cancelled().await;
            service.let_listeners_go();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = listener.serve(service.clone(), stop.clone(), serving.cancel_calls()) => {}
            () = service.keep() => {}
            () = until_stop => {}
        }
        Ended::Stopped
    }
}
