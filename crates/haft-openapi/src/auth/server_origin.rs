use std::fmt;
use std::str::FromStr;
use url::{Host, Origin, Url};

/// Is a scheme, a host and a port: who gets a credential.
///
/// ```
/// use haft_openapi::ServerOrigin;
///
/// let origin: ServerOrigin = "https://API.example.com:443/".parse()?;
/// assert_eq!(origin.to_string(), "https://api.example.com");
/// assert!("api.example.com".parse::<ServerOrigin>().is_err());
/// # Ok::<(), haft_openapi::ServerOriginError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerOrigin(Origin);

/// Says that a text is no origin, or no address on one.
///
/// ```
/// use haft_openapi::ServerOrigin;
///
/// let error = "https://api.example.com/v1".parse::<ServerOrigin>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`https://api.example.com/v1` is not an origin; write one as `https://api.example.com` or `http://127.0.0.1:8080`, \
///      without a path"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an {wanted}")]
pub struct ServerOriginError {
    text: String,
    wanted: &'static str,
}

impl ServerOrigin {
    /// The origin of an address of HTTP.
    pub(crate) fn of(url: &Url) -> Option<Self> {
        (matches!(url.scheme(), "http" | "https") && url.has_host()).then(|| Self(url.origin()))
    }

    /// The origin of an address that is written, if it is one.
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        Self::of(&Url::parse(text).ok()?)
    }
}

/// Tells whether secrets can be sent to an address unheard: by `https`, or to this machine (RFC 6749, section 3.2).
pub(crate) fn is_confidential(url: &Url) -> bool {
    match (url.scheme(), url.host()) {
        ("https", Some(_)) => true,
        ("http", Some(Host::Domain(name))) => name == "localhost" || name.ends_with(".localhost"),
        ("http", Some(Host::Ipv4(address))) => address.is_loopback(),
        ("http", Some(Host::Ipv6(address))) => address.is_loopback(),
        _ => false,
    }
}

impl ServerOriginError {
    /// Says that a text is no address that secrets can be sent to.
    pub(crate) fn no_address(text: &str) -> Self {
        let wanted = "address of `https`, or of `http` on this machine; write one as `https://login.example.com/token`";
        Self { text: text.chars().take(200).collect(), wanted }
    }
}

impl FromStr for ServerOrigin {
    type Err = ServerOriginError;

    fn from_str(text: &str) -> Result<Self, ServerOriginError> {
        let refused = || ServerOriginError {
            text: text.chars().take(200).collect(),
            wanted: "origin; write one as `https://api.example.com` or `http://127.0.0.1:8080`, without a path",
        };
        let url = Url::parse(text.trim()).map_err(|_| refused())?;
        let is_bare = url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        Self::of(&url).filter(|_| is_bare).ok_or_else(refused)
    }
}

impl fmt::Display for ServerOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.ascii_serialization())
    }
}

#[cfg(test)]
mod tests {
    use super::ServerOrigin;

    #[test]
    fn an_origin_is_written_in_one_way() {
        let read = |text: &str| text.parse::<ServerOrigin>().map(|origin| origin.to_string()).ok();
        assert_eq!(read(" HTTP://a.Example:80/").as_deref(), Some("http://a.example"));
        assert_eq!(read("https://[::1]:8443").as_deref(), Some("https://[::1]:8443"));
        for text in
            ["", "a.example", "https://a.example/v1", "https://u@a.example", "ftp://a.example", "https://a?b"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
