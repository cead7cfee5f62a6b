use crate::{Host, HostError};
use std::fmt;
use std::str::FromStr;

/// A host and a port: what a connection is made to.
///
/// It is written `api.example.org:443`, or `[::1]:8080`.
///
/// ```
/// use haft_http::{Endpoint, HostPattern};
///
/// let endpoint: Endpoint = "API.example.org:443".parse()?;
/// assert_eq!(endpoint.to_string(), "api.example.org:443");
/// assert_eq!((endpoint.host().name(), endpoint.port()), (Some("api.example.org"), 443));
///
/// let allowed: HostPattern = "*.example.org".parse()?;
/// assert!(allowed.contains(&endpoint));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Endpoint {
    host: Host,
    port: u16,
}

/// Says why a text is not an endpoint.
///
/// ```
/// use haft_http::{Endpoint, EndpointError, HostError};
///
/// let error = "api.example.org".parse::<Endpoint>().unwrap_err();
/// assert_eq!(error, EndpointError::Port);
/// assert_eq!(error.to_string(), "an endpoint ends in a port from 0 to 65535, as in `api.example.org:443`");
/// assert_eq!(":443".parse::<Endpoint>(), Err(EndpointError::Host(HostError::Empty)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The part before the port is not a host.
    #[error("cannot read the host of an endpoint")]
    Host(#[from] HostError),
    /// It does not end in a colon and a port.
    #[error("an endpoint ends in a port from 0 to 65535, as in `api.example.org:443`")]
    Port,
    /// There is no endpoint in the URL.
    #[error("the URL names nothing to connect to; write one as in `https://api.example.org/v1`")]
    Url,
}

impl Endpoint {
    /// Joins a host and a port.
    pub fn new(host: Host, port: u16) -> Self {
        Self { host, port }
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let (host, port) = text.rsplit_once(':').ok_or(EndpointError::Port)?;
        Ok(Self { host: host.parse()?, port: port_number(port).ok_or(EndpointError::Port)? })
    }
}

/// Reads a port; a sign, which numbers may have elsewhere, is none of it.
pub(crate) fn port_number(text: &str) -> Option<u16> {
    text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_host_and_a_port() {
        let check = |text: &str, expected: Result<&str, EndpointError>| {
            assert_eq!(
                text.parse::<Endpoint>().map(|endpoint| endpoint.to_string()),
                expected.map(str::to_owned),
                "{text}"
            );
        };
        check("Example.org:0443", Ok("example.org:443"));
        check("[0::1]:8080", Ok("[::1]:8080"));
        check("0x7f.1:80", Ok("127.0.0.1:80"));
        for text in ["example.org", "example.org:", "example.org:+80", "example.org:65536", "a:http"] {
            let expected =
                if text.ends_with(':') { EndpointError::Port } else { text.parse::<Endpoint>().unwrap_err() };
            assert_eq!(expected, EndpointError::Port, "{text}");
        }
        check("::1:80", Err(EndpointError::Host(HostError::Ipv6)));
        check(":80", Err(EndpointError::Host(HostError::Empty)));
    }
}
