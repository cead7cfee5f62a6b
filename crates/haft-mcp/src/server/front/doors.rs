use haft_http::Host;
use http::HeaderMap;
use http::header::{HOST, ORIGIN};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// Names a host that requests may be for: `mcp.example.org`, at whichever port, or `mcp.example.org:8443`.
///
/// A page of another site can make a name of its own lead to this machine; its browser then names that in `Host`.
///
/// ```
/// use haft_mcp::AllowedHost;
///
/// assert!("mcp.example.org:8443".parse::<AllowedHost>().is_ok());
/// assert!("https://mcp.example.org".parse::<AllowedHost>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost {
    host: Host,
    port: Option<u16>,
}

/// Names an origin whose pages may ask: `https://app.example.org`, or `http://localhost:*` for whichever port.
///
/// ```
/// use haft_mcp::AllowedOrigin;
///
/// assert!("http://localhost:*".parse::<AllowedOrigin>().is_ok());
/// assert!("app.example.org".parse::<AllowedOrigin>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedOrigin {
    is_https: bool,
    host: Host,
    port: Option<u16>,
}

/// Says that a text names no host or no origin.
///
/// ```
/// use haft_mcp::{AllowedOrigin, DoorError};
///
/// let error = "app.example.org".parse::<AllowedOrigin>().unwrap_err();
/// assert_eq!(error, DoorError::Origin("app.example.org".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DoorError {
    /// It is no host, or what follows it is no port.
    #[error("`{0}` is not a host; write `mcp.example.org`, or `mcp.example.org:8443` for one port only")]
    Host(String),
    /// It is no origin.
    #[error("`{0}` is not an origin; write `https://app.example.org`, or `http://localhost:*` for any port")]
    Origin(String),
}

/// Knows which requests are for here, and from whose pages.
#[derive(Debug)]
pub(super) struct Doors {
    hosts: Vec<AllowedHost>,
    origins: Vec<AllowedOrigin>,
    loopback_origins: bool,
}

/// Says of a request that its head passes, and whether a page is told that it may read the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// No page sent it, or one which is not told.
    Untold,
    /// A page of an origin that was named.
    Named,
}

/// Says why a request does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shut {
    Host,
    Origin,
}

impl Doors {
    /// Opens for what was named, for the address itself, and for this machine's own names if only it is listened on.
    pub(super) fn new(address: SocketAddr, mut hosts: Vec<AllowedHost>, origins: Vec<AllowedOrigin>) -> Self {
        let is_loopback = address.ip().is_loopback();
        let any = |host: &str| host.parse().ok().map(|host| AllowedHost { host, port: None });
        if !address.ip().is_unspecified() {
            hosts.extend(any(&match address.ip() {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => format!("[{address}]"),
            }));
        }
        if is_loopback {
            hosts.extend(["localhost", "127.0.0.1", "[::1]"].into_iter().filter_map(any));
        }
        Self { hosts, origins, loopback_origins: is_loopback }
    }

    /// Tells whether a request may come in; `is_open` leaves its host out of it.
    pub(super) fn pass(&self, uri: &http::Uri, headers: &HeaderMap, is_open: bool) -> Result<Origin, Shut> {
        if !is_open {
            let named = headers.get(HOST).map(|host| host.to_str().unwrap_or_default());
            let target = uri.authority().map(http::uri::Authority::as_str);
            if named.is_none() && target.is_none()
                || ![named, target].into_iter().flatten().all(|host| self.is_served(host))
            {
                return Err(Shut::Host);
            }
        }
        let Some(origin) = headers.get(ORIGIN) else { return Ok(Origin::Untold) };
        let origin =
            origin.to_str().ok().and_then(|origin| Found::origin(origin).ok()).ok_or(Shut::Origin)?;
        if self.origins.iter().any(|allowed| origin.is_of(allowed)) {
            return Ok(Origin::Named);
        }
        if self.loopback_origins && is_this_machine(&origin.host) {
            Ok(Origin::Untold)
        } else {
            Err(Shut::Origin)
        }
    }

    fn is_served(&self, text: &str) -> bool {
        let Some((host, port)) = host_and_port(text) else { return false };
        self.hosts.iter().any(|allowed| {
            allowed.host == host && allowed.port.is_none_or(|of| port.is_none_or(|is| is == of))
        })
    }
}

/// Is the origin of a page, as its browser wrote it.
struct Found {
    is_https: bool,
    host: Host,
    port: u16,
}

impl Found {
    fn origin(text: &str) -> Result<Self, ()> {
        let (is_https, rest) = scheme(text).ok_or(())?;
        let (host, port) = host_and_port(rest).ok_or(())?;
        Ok(Self { is_https, host, port: port.unwrap_or(if is_https { 443 } else { 80 }) })
    }

    fn is_of(&self, allowed: &AllowedOrigin) -> bool {
        self.is_https == allowed.is_https
            && self.host == allowed.host
            && allowed.port.is_none_or(|port| port == self.port)
    }
}

impl FromStr for AllowedHost {
    type Err = DoorError;

    fn from_str(text: &str) -> Result<Self, DoorError> {
        let (host, port) = host_and_port(text).ok_or_else(|| DoorError::Host(text.to_owned()))?;
        Ok(Self { host, port })
    }
}

impl FromStr for AllowedOrigin {
    type Err = DoorError;

    fn from_str(text: &str) -> Result<Self, DoorError> {
        let refused = || DoorError::Origin(text.to_owned());
        let (is_https, rest) = scheme(text).ok_or_else(refused)?;
        if let Some(host) = rest.strip_suffix(":*") {
            return Ok(Self { is_https, host: host.parse().map_err(|_| refused())?, port: None });
        }
        let Found { is_https, host, port } = Found::origin(text).map_err(|()| refused())?;
        Ok(Self { is_https, host, port: Some(port) })
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => self.host.fmt(f),
        }
    }
}

fn scheme(text: &str) -> Option<(bool, &str)> {
    text.strip_prefix("https://")
        .map(|rest| (true, rest))
        .or_else(|| text.strip_prefix("http://").map(|rest| (false, rest)))
}

/// Reads a host, and a port if one follows; nothing else may.
fn host_and_port(text: &str) -> Option<(Host, Option<u16>)> {
    if let Ok(host) = text.parse() {
        return Some((host, None));
    }
    let endpoint: haft_http::Endpoint = text.parse().ok()?;
    Some((endpoint.host().clone(), Some(endpoint.port())))
}

fn is_this_machine(host: &Host) -> bool {
    host.name() == Some("localhost")
        || host.address().is_some_and(|at| at == Ipv4Addr::LOCALHOST || at == Ipv6Addr::LOCALHOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(doors: &Doors, host: Option<&str>, origin: Option<&str>, expected: Result<Origin, Shut>) {
        let mut headers = HeaderMap::new();
        for (name, value) in [(HOST, host), (ORIGIN, origin)] {
            if let Some(value) = value {
                headers.insert(name, http::HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
        }
        assert_eq!(doors.pass(&"/mcp".parse().unwrap(), &headers, false), expected, "{host:?} {origin:?}");
    }

    #[test]
    fn this_machine_serves_its_own_names_and_pages() {
        let doors = Doors::new("127.0.0.1:8080".parse().unwrap(), Vec::new(), Vec::new());
        for host in ["localhost", "LOCALHOST:1", "127.0.0.1:8080", "[::1]:8080", "localhost."] {
            check(&doors, Some(host), None, Ok(Origin::Untold));
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "localhost@evil.example",
            "127.0.0.1.evil.example:8080",
            "",
            "localhost:",
            "localhost:80:80",
            "localhost, evil.example",
            "localhost/",
            "l\u{f6}calhost",
        ] {
            check(&doors, Some(host), None, Err(Shut::Host));
        }
        check(&doors, None, None, Err(Shut::Host));
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5"] {
            check(&doors, Some("localhost"), Some(origin), Ok(Origin::Untold));
        }
        for origin in [
            "https://evil.example",
            "null",
            "",
            "http://localhost.evil.example",
            "file://",
            "http://localhost:3000/path",
            "http://user@localhost",
            "chrome-extension://abc",
        ] {
            check(&doors, Some("localhost"), Some(origin), Err(Shut::Origin));
        }
    }

    #[test]
    fn other_machines_serve_what_was_named() {
        let doors = Doors::new(
            "0.0.0.0:80".parse().unwrap(),
            vec!["MCP.example.org".parse().unwrap(), "b.example.org:8443".parse().unwrap()],
            vec!["https://app.example.org".parse().unwrap(), "http://dev.example.org:*".parse().unwrap()],
        );
        check(&doors, Some("mcp.example.org:99"), None, Ok(Origin::Untold));
        check(&doors, Some("b.example.org"), None, Ok(Origin::Untold));
        check(&doors, Some("b.example.org:8443"), None, Ok(Origin::Untold));
        for host in ["b.example.org:8444", "localhost", "0.0.0.0", "192.0.2.1", "a.mcp.example.org"] {
            check(&doors, Some(host), None, Err(Shut::Host));
        }
        let host = Some("mcp.example.org");
        check(&doors, host, Some("https://app.example.org:443"), Ok(Origin::Named));
        check(&doors, host, Some("http://dev.example.org:5173"), Ok(Origin::Named));
        for origin in ["http://app.example.org", "https://app.example.org:444", "http://localhost:3000"] {
            check(&doors, host, Some(origin), Err(Shut::Origin));
        }
    }

    #[test]
    fn the_target_of_a_request_has_to_be_served_too() {
        let doors = Doors::new("127.0.0.1:8080".parse().unwrap(), Vec::new(), Vec::new());
        let headers = HeaderMap::from_iter([(HOST, "localhost".parse().unwrap())]);
        let pass = |uri: &str| doors.pass(&uri.parse().unwrap(), &headers, false);
        assert_eq!(pass("http://evil.example/mcp"), Err(Shut::Host));
        assert_eq!(pass("http://localhost/mcp"), Ok(Origin::Untold));
    }

    #[test]
    fn says_how_hosts_and_origins_are_written() {
        assert_eq!("a b".parse::<AllowedHost>(), Err(DoorError::Host("a b".into())));
        for text in ["app.example.org", "https://", "https://a/b", "ftp://a", "null", "*", "https://*"] {
            assert_eq!(text.parse::<AllowedOrigin>(), Err(DoorError::Origin(text.into())));
        }
    }
}
