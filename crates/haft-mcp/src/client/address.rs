use url::{Host, Url};

/// The most bytes of an address.
const MOST_BYTES: usize = 8 * 1024;

/// Why an address is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is none, or has no host.
    NoAddress,
    /// It is neither `https` nor `http` to this machine.
    Insecure,
    /// It names a user, which makes the host look like another, or holds a secret.
    Login,
}

/// Takes an address that is `https`, or `http` to this machine.
pub(crate) fn checked_address(text: &str) -> Result<Url, Refusal> {
    if text.len() > MOST_BYTES || text.chars().any(|character| character.is_control() || character == '\\') {
        return Err(Refusal::NoAddress);
    }
    let url = Url::parse(text).map_err(|_| Refusal::NoAddress)?;
    let is_here = match url.host() {
        None => return Err(Refusal::NoAddress),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
    };
    if !matches!((url.scheme(), is_here), ("https", _) | ("http", true)) {
        return Err(Refusal::Insecure);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::Login);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_https_and_http_of_this_machine() {
        for text in
            ["https://example.com/mcp", "http://127.0.0.1:8000/mcp", "http://[::1]/", "http://localhost:1"]
        {
            assert!(checked_address(text).is_ok(), "{text}");
        }
        for (text, refusal) in [
            ("example.com/mcp", Refusal::NoAddress),
            ("https://", Refusal::NoAddress),
            ("https:\\\\example.com", Refusal::NoAddress),
            ("http://example.com", Refusal::Insecure),
            ("http://localhost.example.com", Refusal::Insecure),
            ("javascript:alert(1)", Refusal::NoAddress),
            ("file:///etc/passwd", Refusal::NoAddress),
            ("https://github.com@evil.example/", Refusal::Login),
        ] {
            assert_eq!(checked_address(text), Err(refusal), "{text}");
        }
    }
}
