use crate::Retries;
use std::time::Duration;

/// Bounds one request and its answer.
///
/// Four times bound it: that to connect ([`HttpClientBuilder::connect_timeout`](crate::HttpClientBuilder::connect_timeout)),
/// that until the head of the answer is there, that between two pieces of its body, and that of all together. What of them is
/// over first ends the exchange, and the error tells which it was.
///
/// ```
/// use haft_http::{Exchange, Redirects, Retries};
/// use std::time::Duration;
///
/// let exchange = Exchange::default()
///     .first_byte_timeout(Duration::from_secs(5))
///     .idle_timeout(Duration::from_secs(10))
///     .timeout(Duration::from_secs(60))
///     .most_bytes(1024)
///     .decompressed()
///     .redirects(Redirects::SameOrigin(3))
///     .retries(Retries::default());
/// # let _ = exchange;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    pub(crate) first_byte_timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) most_bytes: Option<u64>,
    pub(crate) is_decompressed: bool,
    pub(crate) redirects: Redirects,
    pub(crate) retries: Retries,
}

/// Says which redirects of an answer to `GET` or `HEAD` are followed; those of other requests never are.
///
/// However many are asked for, no more than [five](Redirects::MOST) are followed. Each step is held to the client's address
/// policy and none leads from `https` to `http`. Once another origin is asked (RFC 6454: scheme, host and port), what
/// authenticates a request is left out: `Authorization`, `Cookie`, `Proxy-Authorization`, and every header whose value is
/// marked as [sensitive](http::HeaderValue::set_sensitive); and a request with a body does not go there.
///
/// ```
/// use haft_http::{AddressPolicy, Error, Exchange, HttpClient, Redirects};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// # let url = format!("http://{}/", listener.local_addr()?);
/// # std::thread::spawn(move || {
/// #     use std::io::{Read as _, Write as _};
/// #     let (mut connection, _) = listener.accept()?;
/// #     let _ = connection.read(&mut [0; 4096])?;
/// #     let answer = "HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/\r\nContent-Length: 0\r\n\r\n";
/// #     connection.write_all(answer.as_bytes())
/// # });
/// # let client = HttpClient::new(AddressPolicy::public().loopback())?;
/// // The server answers that the page is at `http://elsewhere.example/`.
/// let request = http::Request::get(url).body(bytes::Bytes::new())?;
/// let exchange = Exchange::default().redirects(Redirects::SameOrigin(3));
/// let error = client.send(request, exchange).await.unwrap_err();
/// let Error::Redirect { reason, .. } = error else { panic!("it is not followed there") };
/// assert_eq!(reason, "it leads to another origin");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Redirects {
    /// None: the answer that redirects is the answer.
    Never,
    /// At most so many, and only to the scheme, host and port that were asked first.
    SameOrigin(u8),
    /// At most so many, wherever they lead.
    Anywhere(u8),
}

impl Redirects {
    /// The most redirects of one request that are followed, as RFC 2068, section 10.3, advised.
    pub const MOST: u8 = 5;
}

impl Exchange {
    /// How long it may take until the head of the answer is there, connecting included; 30 s by default.
    ///
    /// It counts for each attempt and each step of a redirect.
    pub fn first_byte_timeout(mut self, within: Duration) -> Self {
        self.first_byte_timeout = Some(within);
        self
    }

    /// How long it may take from one piece of the body to the next; 30 s by default.
    pub fn idle_timeout(mut self, within: Duration) -> Self {
        self.idle_timeout = Some(within);
        self
    }

    /// How long all of it may take, from the first attempt to the end of the body; 5 minutes by default.
    pub fn timeout(mut self, within: Duration) -> Self {
        self.timeout = Some(within);
        self
    }

    /// Waits without end, for the head of the answer and for all of it; for what is bounded by its caller.
    pub fn patient(mut self) -> Self {
        self.first_byte_timeout = None;
        self.timeout = None;
        self
    }

    /// How many bytes the body of the answer may have, as they are read: after decompression; 16 MiB by default.
    pub fn most_bytes(mut self, most: u64) -> Self {
        self.most_bytes = Some(most);
        self
    }

    /// Takes a body without end, for however long; for a stream of events, whose reader bounds each of them.
    pub fn endless(mut self) -> Self {
        self.most_bytes = None;
        self.idle_timeout = None;
        self.timeout = None;
        self
    }

    /// Asks for a compressed answer and decompresses it; not by default.
    ///
    /// Codings are `gzip` (RFC 1952) and `deflate` (RFC 1950, RFC 9110, section 8.4.1). They need no more memory than some
    /// 100 KiB however the answer was made, which is why there are no others. A decompressed answer has no `Content-Encoding`
    /// and no `Content-Length`. A part of an answer (`Range`) is not asked for in compressed form.
    pub fn decompressed(mut self) -> Self {
        self.is_decompressed = true;
        self
    }

    /// Which redirects are followed; none by default.
    pub fn redirects(mut self, redirects: Redirects) -> Self {
        self.redirects = redirects;
        self
    }

    /// How often the request is made again where that may help; [never](Retries::never) by default.
    pub fn retries(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }
}

impl Default for Exchange {
    fn default() -> Self {
        Self {
            first_byte_timeout: Some(Duration::from_secs(30)),
            idle_timeout: Some(Duration::from_secs(30)),
            timeout: Some(Duration::from_mins(5)),
            most_bytes: Some(16 * 1024 * 1024),
            is_decompressed: false,
            redirects: Redirects::Never,
            retries: Retries::never(),
        }
    }
}
