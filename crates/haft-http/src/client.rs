#[cfg(feature = "beneath")]
mod beneath;
mod redirect;
mod resolver;
mod tls;

use crate::body::Decoder;
use crate::clock::{Clock, Overdue};
use crate::retries::Retrying;
use crate::{AddressPolicy, Body, Error, Exchange, Host};
use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, COOKIE, LOCATION, PROXY_AUTHORIZATION,
    RANGE, SET_COOKIE,
};
use http::{HeaderMap, HeaderValue, StatusCode};
pub use redirect::redirect_target;
use resolver::{Guard, Refused};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The compressions that are asked for.
const CODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate;q=0.5");

/// Makes HTTP requests that cannot reach further, take longer or bring back more than was said.
///
/// Connections are made to addresses that its [`AddressPolicy`] permits, whatever a name leads to when they are made.
/// Certificates are checked against those that the system trusts, and [others](HttpClientBuilder::authorities) that are given.
/// Redirects are not followed, answers are not decompressed, requests are not repeated and proxies that the environment names
/// are not used, unless that is asked for. Cookies are not kept. Of a request's URL, headers and body nothing but the host is
/// in an error or in what is logged.
///
/// It is cheap to clone; the clones share their connections. Dropping the future of a request, or the [`Body`] of an
/// answer, ends its connection.
///
/// ```no_run
/// # // Not run: it would ask a host of the internet.
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use haft_http::{AddressPolicy, Exchange, HttpClient};
///
/// let client = HttpClient::new(AddressPolicy::public())?;
/// let request = http::Request::get("https://example.org/").body(bytes::Bytes::new())?;
/// let answer = client.send(request, Exchange::default().most_bytes(64 * 1024)).await?;
/// assert!(answer.status().is_success());
/// let page = answer.into_body().bytes().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HttpClient {
    inner: reqwest::Client,
    policy: Arc<AddressPolicy>,
}

/// Says how an [`HttpClient`] reaches hosts.
///
/// ```
/// use haft_http::{AddressPolicy, Error, HttpClient};
/// use std::time::Duration;
///
/// let builder = HttpClient::builder(AddressPolicy::public())
///     .connect_timeout(Duration::from_secs(3))
///     .user_agent("gardener/1.2");
/// let client = builder.clone().build()?;
/// assert_eq!(client.check(&"https://example.org/".parse()?)?.name(), Some("example.org"));
///
/// // A certificate that is none is said when the client is made, and not with the first request.
/// assert!(matches!(builder.authorities("not a certificate").build(), Err(Error::Authorities { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct HttpClientBuilder {
    policy: AddressPolicy,
    environment_proxies: bool,
    connect_timeout: Duration,
    user_agent: String,
    authorities: Option<Vec<u8>>,
}

impl HttpClient {
    /// Makes a client that is held to a policy; all else as by default.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`].
    pub fn new(policy: AddressPolicy) -> Result<Self, Error> {
        Self::builder(policy).build()
    }

    /// Says more about a client than which addresses it may connect to.
    pub fn builder(policy: AddressPolicy) -> HttpClientBuilder {
        HttpClientBuilder {
            policy,
            environment_proxies: false,
            connect_timeout: Duration::from_secs(10),
            user_agent: concat!("haft/", env!("CARGO_PKG_VERSION")).to_owned(),
            authorities: None,
        }
    }

    /// Sends a request and gives the answer once its head is there, whatever its status.
    ///
    /// # Errors
    ///
    /// Those of [`Error`]: a URL that cannot be asked, an address that is refused, no connection, no answer in time, a body
    /// that says it is too large, a redirect that was to be followed and may not be.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the connection; the other side may have acted on the request all the same.
    pub async fn send(
        &self,
        request: http::Request<Bytes>,
        exchange: Exchange,
    ) -> Result<http::Response<Body>, Error> {
        let mut request =
            reqwest::Request::try_from(request).map_err(|_| Error::Url("it is not an absolute URL"))?;
        let mut way = redirect::Way::new(request.url(), exchange.redirects);
        let mut retrying = Retrying::begin(exchange.retries);
        let clock = Clock::start(exchange.timeout);
        if exchange.is_decompressed && !request.headers().contains_key(RANGE) {
            request.headers_mut().insert(ACCEPT_ENCODING, CODINGS);
        }
        loop {
            let spare = way.may_follow(request.method()).then(|| request.try_clone()).flatten();
            let answer = self.insist(request, exchange, clock, &mut retrying).await?;
            let Some(next) = spare else { return Ok(answer) };
            let Some(to) = redirect_target(&answer) else { return Ok(answer) };
            request = way.follow(next, to)?;
        }
    }

    /// Makes one request, and makes it again where that may help.
    async fn insist(
        &self,
        mut request: reqwest::Request,
        exchange: Exchange,
        clock: Clock,
        retrying: &mut Retrying,
    ) -> Result<http::Response<Body>, Error> {
        loop {
            let spare = retrying.has_more().then(|| request.try_clone()).flatten();
            let outcome = self.ask(request, exchange, clock).await;
            let Some(next) = spare else { return outcome };
            let Some(wait) = retrying.wait(next.method(), &outcome, clock.left()) else { return outcome };
            drop(outcome);
            tokio::time::sleep(wait).await;
            request = next;
        }
    }

    /// Makes one request; what redirects is an answer like any other.
    async fn ask(
        &self,
        mut request: reqwest::Request,
        exchange: Exchange,
        clock: Clock,
    ) -> Result<http::Response<Body>, Error> {
        let host = self.check(request.url())?.to_string();
        hide(request.headers_mut(), &[AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION]);
        let answer = clock.within(exchange.first_byte_timeout, self.inner.execute(request)).await.map_err(
            |overdue| {
                let host = host.clone();
                match overdue {
                    Overdue::Wait(within) => Error::Silent { host, within },
                    Overdue::Whole(within) => Error::Late { host, within },
                }
            },
        )?;
        let answer = answer.map_err(|error| unanswered(error, host.clone()))?;
        let mut head = http::Response::new(());
        *head.status_mut() = answer.status();
        *head.headers_mut() = answer.headers().clone();
        hide(head.headers_mut(), &[SET_COOKIE, LOCATION]);
        // A part of what was compressed cannot be decompressed.
        let decoder = if exchange.is_decompressed && answer.status() != StatusCode::PARTIAL_CONTENT {
            Decoder::of(answer.headers())
                .map_err(|source| Error::Encoding { host: host.clone(), source: source.into() })?
        } else {
            None
        };
        if decoder.is_some() {
            head.headers_mut().remove(CONTENT_ENCODING);
            head.headers_mut().remove(CONTENT_LENGTH);
        }
        let body = Body::new(answer, host, decoder, exchange, clock)?;
        Ok(head.map(|()| body))
    }

    /// Tells which host a URL names, if it may be asked as far as can be said before its name is looked up.
    ///
    /// # Errors
    ///
    /// [`Error::Url`] if it is none that can be asked, and [`Error::Address`] if it names an address that the policy does not
    /// permit.
    pub fn check(&self, url: &Url) -> Result<Host, Error> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Error::Url("it is neither `http` nor `https`"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Error::Url("it holds a user or a password; send it in a header"));
        }
        let host = url.host_str().and_then(|host| host.parse::<Host>().ok());
        let host = host.ok_or(Error::Url("it names no host"))?;
        match host.address() {
            Some(address) if !self.policy.permits(&host, address) => {
                Err(Error::Address { host: host.to_string(), address })
            }
            _ => Ok(host),
        }
    }
}

impl HttpClientBuilder {
    /// Whether the proxies are used that variables such as `HTTPS_PROXY` name; not by default.
    ///
    /// A proxy looks the names up itself: what it connects to is then its own affair, and the policy only sees the proxy.
    pub fn environment_proxies(mut self, used: bool) -> Self {
        self.environment_proxies = used;
        self
    }

    /// How long it may take to connect, the look-up of the name and TLS included; 10 s by default.
    pub fn connect_timeout(mut self, within: Duration) -> Self {
        self.connect_timeout = within;
        self
    }

    /// What the client calls itself; `haft/` and its version by default.
    pub fn user_agent(mut self, name: impl Into<String>) -> Self {
        self.user_agent = name.into();
        self
    }

    /// Certificates of authorities that are trusted besides the system's, as those of a company: one or more in PEM; none by
    /// default. An empty text says nothing.
    pub fn authorities(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities = Some(pem.into()).filter(|pem| !pem.is_empty());
        self
    }

    /// Makes the client.
    ///
    /// # Errors
    ///
    /// [`Error::Authorities`], if those given are none; [`Error::Setup`], if the user agent is no value of a header.
    pub fn build(self) -> Result<HttpClient, Error> {
        let policy = Arc::new(self.policy);
        let tls = match &self.authorities {
            None => tls::config(),
            Some(pem) => tls::config_trusting(pem)?,
        };
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .dns_resolver(Guard(Arc::clone(&policy)))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            // Another crate of the program may switch these on.
            .http1_only()
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .connect_timeout(self.connect_timeout)
            .user_agent(self.user_agent);
        if !self.environment_proxies {
            builder = builder.no_proxy();
        }
        let inner = builder.build().map_err(|error| Error::Setup { source: Box::new(error) })?;
        Ok(HttpClient { inner, policy })
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// Marks the values of these headers, so that they are not printed.
fn hide(headers: &mut HeaderMap, names: &[http::HeaderName]) {
    for (name, value) in headers.iter_mut() {
        if names.contains(name) {
            value.set_sensitive(true);
        }
    }
}

/// Tells an address or a certificate that was refused from a connection that could not be made, and from one that broke.
fn unanswered(error: reqwest::Error, host: String) -> Error {
    let error = error.without_url();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(this) = cause {
        if let Some(Refused { address }) = this.downcast_ref() {
            return Error::Address { host, address: *address };
        }
        if let Some(reason) = tls::distrust(this) {
            return Error::Certificate { host, reason, source: Box::new(error) };
        }
        cause = this.source();
    }
    let is_connect = error.is_connect();
    let source = Box::new(error);
    if is_connect { Error::Connect { host, source } } else { Error::Interrupted { host, source } }
}
