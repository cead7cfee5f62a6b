use crate::endpoint::port_number;
use crate::{Endpoint, Host, HostError};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use std::str::FromStr;

/// A pattern for the hosts and ports that may, or may not, be connected to.
///
/// | pattern | means |
/// |---|---|
/// | `api.github.com` | that host |
/// | `*.github.com` | every name below `github.com`, at any depth, and not `github.com` itself |
/// | `*` | every name |
/// | `192.0.2.1`, `[2001:db8::1]` | that address |
/// | `10.0.0.0/8`, `[fd00::/8]` | every address of that range |
/// | `localhost:8080` | that host at that port |
/// | `localhost:*` | that host at any port |
///
/// Names are compared in the one spelling that a [`Host`] has. Addresses have to be written plainly in a pattern.
///
/// **Allowing is strict**: without a port only 80 and 443 are meant, and `*` means no address and no
/// [local](Host::is_local) name, such as `localhost`. **Denying is not**: without a port any is meant, `*` means
/// everything, and `localhost` and the addresses of this machine mean each other.
///
/// ```
/// use haft_http::HostPattern;
///
/// let pattern: HostPattern = "*.GitHub.com".parse()?;
/// assert_eq!(pattern.to_string(), "*.github.com");
/// assert!(pattern.contains(&"api.github.com:443".parse()?));
/// assert!(!pattern.contains(&"api.github.com:22".parse()?));
/// assert!(pattern.touches(&"api.github.com:22".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPattern {
    pub(crate) hosts: Hosts,
    pub(crate) ports: Ports,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Hosts {
    All,
    /// The names below this one.
    Below(Box<str>),
    Name(Box<str>),
    Addresses(Network),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Ports {
    /// Those of the web when allowing, all when denying.
    Unsaid,
    All,
    One(u16),
}

impl Ports {
    pub(crate) fn contain(self, port: u16) -> bool {
        match self {
            Self::Unsaid => matches!(port, 80 | 443),
            Self::All => true,
            Self::One(one) => one == port,
        }
    }

    pub(crate) fn touch(self, port: u16) -> bool {
        self == Self::Unsaid || self.contain(port)
    }
}

/// A range of addresses, or a single one. IPv4 addresses stand among the IPv6 ones where those that hold them do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Network {
    /// The bits that all of them have.
    pub(crate) bits: u128,
    /// How many bits these are, from 0 to 128.
    pub(crate) length: u8,
}

/// How many bits IPv4 addresses have in front of their own.
const V4_PREFIX: u8 = 96;

impl Network {
    pub(crate) fn of(address: IpAddr) -> Self {
        Self { bits: bits(address), length: 128 }
    }

    /// The range of so many bits that an address is in; `None` where that holds addresses of the other kind, too.
    pub(crate) fn around(address: IpAddr, length: u8) -> Option<Self> {
        let is_mixed = address.is_ipv4() && length < V4_PREFIX;
        (!is_mixed).then(|| Self { bits: bits(address) & mask(length), length })
    }

    fn contains(self, address: IpAddr) -> bool {
        Self::around(address, self.length) == Some(self)
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn mask(length: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0)
}

/// Says why a text is not a pattern, and where in it.
///
/// ```
/// use haft_http::HostPattern;
///
/// // An editor of settings underlines the part that it is about.
/// let written = "https://api.example.org";
/// let error = written.parse::<HostPattern>().unwrap_err();
/// assert_eq!(&written[error.range()], "https://");
/// assert_eq!(error.reason(), "a pattern has no scheme; write the host alone, as in `api.example.org`");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct HostPatternError {
    range: Range<usize>,
    reason: String,
}

impl HostPatternError {
    fn new(range: Range<usize>, reason: impl Into<String>) -> Self {
        Self { range, reason: reason.into() }
    }

    /// Which bytes of the pattern it is about.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The reason, with what to write instead.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl HostPattern {
    /// Tells whether the endpoint is surely one of those that are meant, for allowing.
    pub fn contains(&self, endpoint: &Endpoint) -> bool {
        let host = endpoint.host();
        let is_host = match (&self.hosts, host.name(), host.address()) {
            (Hosts::All, Some(_), _) => !host.is_local(),
            (Hosts::Below(above), Some(name), _) => is_below(name, above),
            (Hosts::Name(expected), Some(name), _) => **expected == *name,
            (Hosts::Addresses(network), _, Some(address)) => network.contains(address),
            _ => false,
        };
        is_host && self.ports.contain(endpoint.port())
    }

    /// Tells whether the endpoint could be one of those that are meant, for denying.
    pub fn touches(&self, endpoint: &Endpoint) -> bool {
        let host = endpoint.host();
        let aliases = this_machine(host);
        let is_host = match &self.hosts {
            Hosts::All => true,
            Hosts::Below(above) => host.name().is_some_and(|name| is_below(name, above)),
            Hosts::Name(expected) => {
                host.name().into_iter().chain(aliases.name).any(|name| **expected == *name)
            }
            Hosts::Addresses(network) => {
                host.address().iter().chain(aliases.addresses).any(|address| network.contains(*address))
            }
        };
        is_host && self.ports.touch(endpoint.port())
    }
}

/// Other ways to say this machine.
pub(crate) struct Aliases {
    pub(crate) name: Option<&'static str>,
    pub(crate) addresses: &'static [IpAddr],
}

/// Gives the other ways to say a host, if that is this machine. To connect to the address of none (`0.0.0.0`) is to connect to
/// it, too.
pub(crate) fn this_machine(host: &Host) -> Aliases {
    const ADDRESSES: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
    let is_this = match (host.name(), host.address()) {
        (Some(name), _) => name == "localhost" || name.ends_with(".localhost"),
        (_, Some(address)) => address.is_loopback() || address.is_unspecified(),
        _ => false,
    };
    if is_this {
        Aliases { name: Some("localhost"), addresses: &ADDRESSES }
    } else {
        Aliases { name: None, addresses: &[] }
    }
}

fn is_below(name: &str, above: &str) -> bool {
    name.strip_suffix(above).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

impl FromStr for HostPattern {
    type Err = HostPatternError;

    fn from_str(text: &str) -> Result<Self, HostPatternError> {
        let whole = 0..text.len();
        if let Some(at) = text.find("://") {
            let reason = "a pattern has no scheme; write the host alone, as in `api.example.org`";
            return Err(HostPatternError::new(0..at + 3, reason));
        }
        if text.matches(':').count() > 1 && !text.starts_with('[') {
            let reason =
                "an IPv6 address stands in brackets; write it as in `[2001:db8::1]` or `[2001:db8::1]:443`";
            return Err(HostPatternError::new(whole, reason));
        }
        let end = text.rfind(':').filter(|at| !text[*at..].contains(']')).unwrap_or(text.len());
        let ports = match text.get(end + 1..) {
            None => Ports::Unsaid,
            Some("*") => Ports::All,
            Some(port) => Ports::One(port_number(port).filter(|port| *port > 0).ok_or_else(|| {
                let reason =
                    "a port is a number from 1 to 65535, or `*` for any; write it as in `example.org:8080`";
                HostPatternError::new(end + 1..text.len(), reason)
            })?),
        };
        let hosts = hosts(&text[..end]).map_err(|reason| HostPatternError::new(0..end, reason))?;
        Ok(Self { hosts, ports })
    }
}

/// Reads the part before the port.
fn hosts(text: &str) -> Result<Hosts, String> {
    match text {
        "" => return Err("the pattern names no host; write `*` for every name".to_owned()),
        "*" => return Ok(Hosts::All),
        _ => {}
    }
    let bare = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(text);
    if let Some((address, length)) = bare.split_once('/') {
        return network(address, length, bare.len() < text.len()).map(Hosts::Addresses);
    }
    let below = text.strip_prefix("*.");
    if below.unwrap_or(text).contains('*') {
        return Err(
            "a `*` stands for whole names in front, and nowhere else; write `*.example.org`".to_owned()
        );
    }
    let host: Host = below.unwrap_or(text).parse().map_err(|error: HostError| error.to_string())?;
    match (below, host.name(), host.address()) {
        (Some(_), Some(name), _) => Ok(Hosts::Below(name.into())),
        (None, Some(name), _) => Ok(Hosts::Name(name.into())),
        // An odd spelling hides which address is meant from whoever reads the rule.
        (None, _, Some(address)) if is_plain(text, address) => Ok(Hosts::Addresses(Network::of(address))),
        (None, ..) => Err(format!("this is the address `{host}`; write it so")),
        (Some(_), ..) => {
            Err("there are no names below an address; write a range as in `10.0.0.0/8`".to_owned())
        }
    }
}

/// Tells whether an address is written as its numbers, IPv6 in any of its own spellings.
fn is_plain(text: &str, address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => text == address.to_string(),
        IpAddr::V6(_) => true,
    }
}

fn network(address: &str, length: &str, in_brackets: bool) -> Result<Network, String> {
    let example = "write it as in `10.0.0.0/8` or `[fd00::/8]`";
    let parsed: IpAddr = address
        .parse()
        .map_err(|_| format!("a host has no path, and a range of addresses has only numbers; {example}"))?;
    let (most, before) = if parsed.is_ipv4() { (32, V4_PREFIX) } else { (128, 0) };
    if in_brackets == parsed.is_ipv4() {
        return Err(format!(
            "a range of IPv6 addresses stands in brackets, and one of IPv4 does not; {example}"
        ));
    }
    let length = port_number(length)
        .and_then(|length| u8::try_from(length).ok())
        .filter(|length| *length <= most)
        .ok_or_else(|| format!("the length of this range is a number from 0 to {most}; {example}"))?;
    let network = Network { bits: bits(parsed) & mask(length + before), length: length + before };
    if network.bits == bits(parsed) {
        return Ok(network);
    }
    let first = Ipv6Addr::from_bits(network.bits);
    let first = if parsed.is_ipv4() { first.to_canonical() } else { first.into() };
    Err(format!("this range starts at `{first}`; write `{}`", Shown { first, length, in_brackets }))
}

/// A range as it is written.
struct Shown {
    first: IpAddr,
    length: u8,
    in_brackets: bool,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, length, in_brackets } = self;
        if *in_brackets { write!(f, "[{first}/{length}]") } else { write!(f, "{first}/{length}") }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = Ipv6Addr::from_bits(self.bits);
        let v4 = address.to_ipv4_mapped().filter(|_| self.length >= V4_PREFIX);
        match v4 {
            _ if self.length == 128 => Host::of_address(address.into()).fmt(f),
            Some(first) => {
                Shown { first: first.into(), length: self.length - V4_PREFIX, in_brackets: false }.fmt(f)
            }
            None => Shown { first: address.into(), length: self.length, in_brackets: true }.fmt(f),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hosts {
            Hosts::All => f.write_str("*")?,
            Hosts::Below(above) => write!(f, "*.{above}")?,
            Hosts::Name(name) => f.write_str(name)?,
            Hosts::Addresses(network) => network.fmt(f)?,
        }
        match self.ports {
            Ports::Unsaid => Ok(()),
            Ports::All => f.write_str(":*"),
            Ports::One(port) => write!(f, ":{port}"),
        }
    }
}

#[cfg(test)]
mod tests;
