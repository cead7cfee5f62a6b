use crate::client::address::checked_address;
use haft_http::{AddressPolicy, Exchange, Host, HttpClient, Redirects};
use http::Response;
use rmcp::transport::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest};
use std::time::Duration;
use tokio::time::timeout;

/// The longest answer of an authorization server, in bytes.
const MOST_BYTES: u64 = 1024 * 1024;

/// How long one may take.
const LONGEST: Duration = Duration::from_secs(30);

/// How many redirects of a description are followed, within its origin.
const MOST_REDIRECTS: u8 = 5;

/// Makes the library's requests to authorization servers.
///
/// A server says which one is its own, so it says where requests are made to: only public hosts, its own, and hosts on
/// this machine if it is itself here.
pub(super) struct Asker(HttpClient);

impl Asker {
    pub(super) fn new(server: Host, authorities: &[u8]) -> Result<Self, haft_http::Error> {
        let is_here =
            server.address().map_or(server.name() == Some("localhost"), |address| address.is_loopback());
        let policy = AddressPolicy::public().host(server);
        let policy = if is_here { policy.loopback() } else { policy };
        HttpClient::builder(policy).authorities(authorities).build().map(Self)
    }

    async fn ask(&self, request: OAuthHttpRequest) -> Result<Response<Vec<u8>>, Refused> {
        let OAuthHttpRequest { request, redirect_policy, .. } = request;
        if !is_guarded(&request.uri().to_string()) {
            return Err(Refused::Plain);
        }
        let redirects = match redirect_policy {
            OAuthHttpRedirectPolicy::Follow => Redirects::SameOrigin(MOST_REDIRECTS),
            _ => Redirects::Never,
        };
        let exchange = Exchange::default().most_bytes(MOST_BYTES).redirects(redirects);
        let answer = async {
            let (head, body) = self.0.send(request.map(Into::into), exchange).await?.into_parts();
            Ok(Response::from_parts(head, body.bytes().await?.to_vec()))
        };
        timeout(LONGEST, answer).await.map_err(|_| Refused::Slow)?
    }
}

impl OAuthHttpClient for Asker {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move { Ok(self.ask(request).await?) })
    }
}

#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("an authorization server is asked by `https` only")]
    Plain,
    #[error("the authorization server took too long")]
    Slow,
    #[error(transparent)]
    Http(#[from] haft_http::Error),
}

/// Tells whether what is sent to an address is read by nobody else.
pub(super) fn is_guarded(url: &str) -> bool {
    checked_address(url).is_ok()
}
