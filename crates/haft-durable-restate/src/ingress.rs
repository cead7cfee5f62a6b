use bytes::Bytes;
use haft_http::{Exchange, HttpClient};
use restate_sdk::ingress::RequestExecutor;
use std::time::Duration;

/// How long an answer may take at most before it is asked for again: below what proxies usually wait.
const HELD: Duration = Duration::from_secs(50);

/// The most bytes of an answer: a reply with all the media that one may have, in JSON.
const MOST_BYTES: u64 = 256 << 20;

/// Makes the requests of the engine's client with the one guarded HTTP client.
#[derive(Debug, Clone)]
pub(crate) struct Ingress(pub(crate) HttpClient);

impl RequestExecutor for Ingress {
    type Error = haft_http::Error;

    async fn execute(
        &self,
        request: http::Request<Bytes>,
    ) -> Result<http::Response<Bytes>, haft_http::Error> {
        let exchange = Exchange::default().first_byte_timeout(HELD).most_bytes(MOST_BYTES);
        let (head, body) = self.0.send(request, exchange).await?.into_parts();
        Ok(http::Response::from_parts(head, body.bytes().await?))
    }
}
