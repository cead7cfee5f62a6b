use super::carry::unpack;
use super::client::Client;
use crate::client::link::Ending;
use crate::client::rmcp_session::local_fault::SendFault;
use crate::client::session::{Counterpart, Farewell, Fault, News};
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig, StreamableHttpError,
};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How many requests are sent at once; more wait for their turn.
const MOST_AT_ONCE: usize = 128;

/// How long is waited at most before a stream that broke off is asked for again.
const AGAIN_AT_MOST: Duration = Duration::from_mins(1);

/// Carries messages over streamable HTTP.
pub(super) struct HttpTransport {
    inner: StreamableHttpClientTransport<Client>,
    counterpart: Arc<dyn Counterpart>,
    ending: Arc<Ending>,
    /// The opening could not be sent: there will be no connection.
    failed: CancellationToken,
}

impl HttpTransport {
    pub(super) fn new(
        client: Client,
        url: &str,
        most: usize,
        counterpart: Arc<dyn Counterpart>,
        ending: Arc<Ending>,
    ) -> Self {
        let mut config =
            StreamableHttpClientTransportConfig::with_uri(url).max_concurrent_requests(MOST_AT_ONCE);
        // What the server lists may be another in another session, so it is not for the library to begin one.
        config.reinit_on_expired_session = false;
        config.channel_buffer_capacity = MOST_AT_ONCE;
        config.max_sse_event_size = most;
        let mut again = ExponentialBackoff::default();
        again.max_delay = Some(AGAIN_AT_MOST);
        config.retry_config = Arc::new(again);
        let inner = StreamableHttpClientTransport::with_client(client, config);
        Self { inner, counterpart, ending, failed: CancellationToken::new() }
    }
}

impl Transport<RoleClient> for HttpTransport {
    type Error = SendFault;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), SendFault>> + Send + 'static {
        let failing = opens(&message).then(|| (self.ending.clone(), self.failed.clone()));
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await.map_err(fault);
            if let (Err(SendFault(Fault::Broken(how))), Some((ending, failed))) = (&sent, failing) {
                ending.finish(Farewell { how: how.clone(), ..Farewell::default() });
                failed.cancel();
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let message = tokio::select! {
            message = self.inner.receive() => message?,
            () = self.failed.cancelled() => return None,
        };
        Some(unpack(message, |name| {
            let name: String = name.chars().take(100).collect();
            self.counterpart.hear(News::Odd(format!(
                "the tool `{name}` is left out: what it says of headers (`x-mcp-header`) is not allowed"
            )));
        }))
    }

    async fn close(&mut self) -> Result<(), SendFault> {
        self.inner.close().await.map_err(fault)
    }
}

/// Tells whether a message is of those without which there is no connection.
fn opens(message: &ClientJsonRpcMessage) -> bool {
    match message {
        JsonRpcMessage::Request(request) => {
            matches!(request.request, ClientRequest::DiscoverRequest(_) | ClientRequest::InitializeRequest(_))
        }
        JsonRpcMessage::Notification(notification) => {
            matches!(notification.notification, ClientNotification::InitializedNotification(_))
        }
        _ => false,
    }
}

fn fault(error: StreamableHttpError<SendFault>) -> SendFault {
    match error {
        StreamableHttpError::Client(fault) => fault,
        other => SendFault(Fault::Broken(format!("the request could not be sent: {other}"))),
    }
}
