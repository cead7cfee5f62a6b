use super::access_log::AccessLog;
use super::doors::{AllowedHost, AllowedOrigin};
use crate::server::authenticator::Authenticator;
use crate::server::caller::Principal;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Says where HTTP is served, to whom, and how much of it.
///
/// Without an authenticator only an address of this machine is listened on, and each of its users can call every tool
/// ([`Principal::anyone`]). TLS is a proxy's affair: off this machine tokens would go over the network in the clear.
///
/// ```
/// use haft_mcp::{HttpConfig, Principal, Rate, StaticTokens};
/// use std::sync::Arc;
///
/// let tokens = StaticTokens::default().token("ann", &"0123456789abcdef".repeat(2))?;
/// let config = HttpConfig::new(([0, 0, 0, 0], 8443).into())
///     .authenticator(Arc::new(tokens))
///     .host("mcp.example.org".parse()?)
///     .origin("https://app.example.org".parse()?)
///     .rate(Principal::new("ann"), Rate::new(5.0, 20.0));
/// # let _ = config;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct HttpConfig {
    pub(super) address: SocketAddr,
    pub(super) hosts: Vec<AllowedHost>,
    pub(super) origins: Vec<AllowedOrigin>,
    pub(super) authenticator: Option<Arc<dyn Authenticator>>,
    pub(super) limits: HttpLimits,
    pub(super) rates: HashMap<Principal, Rate>,
    pub(super) log: Option<Arc<dyn AccessLog>>,
}

/// Bounds what the clients of an [`HttpListener`](super::HttpListener) can take of it.
///
/// ```
/// use haft_mcp::{HttpConfig, HttpLimits};
///
/// let limits = HttpLimits { connections: 64, ..HttpLimits::default() };
/// let config = HttpConfig::new(([127, 0, 0, 1], 8080).into()).limits(limits);
/// # let _ = config;
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HttpLimits {
    /// How many connections there are at once, each of which holds a file open; 10,240 by default, or what the system
    /// allows.
    pub connections: usize,
    /// How long the head of a request may take, from the end of the one before or of connecting: a connection on which
    /// nothing is asked ends after it, too. 10 s by default. A proxy that keeps connections should keep them for less.
    pub head_timeout: Duration,
    /// How many bytes a request's body may have; 4 MiB by default.
    pub body_bytes: usize,
    /// How long a request's body may take; 30 s by default.
    pub body_timeout: Duration,
    /// How many requests are served at once; those that only listen are not counted. 256 by default.
    pub at_once: usize,
    /// How long a client may leave unread what is sent to it; 30 s by default.
    pub unread_timeout: Duration,
    /// How often each caller may ask, where nothing else is said for them.
    pub rate: Rate,
    /// How long requests that are being served may go on once the listener is to end; 5 s by default.
    pub ending: Duration,
}

/// Says how often a caller may ask.
///
/// ```
/// use haft_mcp::Rate;
///
/// // Five requests a second, twenty at a time after a rest, and three under way.
/// let rate = Rate::new(5.0, 20.0).at_once(3);
/// assert_eq!((rate.per_second, rate.burst, rate.at_once), (5.0, 20.0, 3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Rate {
    /// How many requests in a second, over time; 1,000 by default.
    pub per_second: f64,
    /// How many at once after a pause; 2,000 by default.
    pub burst: f64,
    /// How many of their requests are served at the same time; 128 by default, so that one caller leaves room for others.
    pub at_once: usize,
}

impl HttpConfig {
    /// Serves at this address; the port 0 lets the system choose one.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            hosts: Vec::new(),
            origins: Vec::new(),
            authenticator: None,
            limits: HttpLimits::default(),
            rates: HashMap::new(),
            log: None,
        }
    }

    /// Serves requests for this host, too; else for this machine's own names and the address that is listened on.
    pub fn host(mut self, host: AllowedHost) -> Self {
        self.hosts.push(host);
        self
    }

    /// Lets pages of this origin ask from a browser, and read the answers.
    ///
    /// Pages of this machine are served besides if it alone is listened on, as far as the browser lets them: they are not
    /// told that they may read.
    pub fn origin(mut self, origin: AllowedOrigin) -> Self {
        self.origins.push(origin);
        self
    }

    /// Finds out who asks.
    pub fn authenticator(mut self, authenticator: Arc<dyn Authenticator>) -> Self {
        self.authenticator = Some(authenticator);
        self
    }

    /// Bounds the clients otherwise than by default.
    pub fn limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Says how often one caller may ask.
    pub fn rate(mut self, principal: Principal, rate: Rate) -> Self {
        self.rates.insert(principal, rate);
        self
    }

    /// Writes down each request.
    pub fn log(mut self, log: Arc<dyn AccessLog>) -> Self {
        self.log = Some(log);
        self
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 10_240,
            head_timeout: Duration::from_secs(10),
            body_bytes: 4 << 20,
            body_timeout: Duration::from_secs(30),
            at_once: 256,
            unread_timeout: Duration::from_secs(30),
            rate: Rate::default(),
            ending: Duration::from_secs(5),
        }
    }
}

impl Default for Rate {
    fn default() -> Self {
        Self { per_second: 1_000.0, burst: 2_000.0, at_once: 128 }
    }
}

impl Rate {
    /// Lets a caller ask so often in a second over time, and so often at once after a pause.
    pub fn new(per_second: f64, burst: f64) -> Self {
        Self { per_second, burst, ..Self::default() }
    }

    /// How many requests of the caller are served at the same time.
    pub fn at_once(mut self, most: usize) -> Self {
        self.at_once = most;
        self
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfig")
            .field("address", &self.address)
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .field("authenticator", &self.authenticator.is_some())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
