use crate::{Endpoint, EndpointError};
use url::Url;

impl Endpoint {
    /// Tells what a request for a URL connects to: its host, and its port or that of its scheme, `http` or `https`.
    ///
    /// It is read just as the client reads it, so that what is declared beforehand is what is connected to. The user of a
    /// URL, its path, query and fragment are passed over.
    ///
    /// ```
    /// use haft_http::Endpoint;
    ///
    /// let endpoint = Endpoint::of_url("https://API.example.org/v1?key=k")?;
    /// assert_eq!(endpoint.to_string(), "api.example.org:443");
    /// # Ok::<(), haft_http::EndpointError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`EndpointError::Url`] if it is no absolute URL of one of these schemes, [`EndpointError::Host`] if its host is none.
    pub fn of_url(url: &str) -> Result<Self, EndpointError> {
        let url = Url::parse(url).map_err(|_| EndpointError::Url)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(EndpointError::Url);
        }
        let host = url.host_str().ok_or(EndpointError::Url)?;
        Ok(Self::new(host.parse()?, url.port_or_known_default().ok_or(EndpointError::Url)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: Result<&str, EndpointError>) {
        assert_eq!(
            Endpoint::of_url(url).map(|endpoint| endpoint.to_string()),
            expected.map(str::to_owned),
            "{url}"
        );
    }

    #[test]
    fn reads_what_is_connected_to() {
        check("https://API.example.org", Ok("api.example.org:443"));
        check("http://example.org/a:8/?b:9#c:7", Ok("example.org:80"));
        check("HTTPS://example.org:8443/", Ok("example.org:8443"));
        check("https://[0::1]:80/", Ok("[::1]:80"));
        check("http://0x7f.1/", Ok("127.0.0.1:80"));
        check("https://bücher.example./", Ok("xn--bcher-kva.example:443"));
    }

    #[test]
    fn is_not_led_elsewhere_by_what_looks_like_a_host() {
        check("https://good.example@evil.example/", Ok("evil.example:443"));
        check("https://good.example:443@evil.example:80/", Ok("evil.example:80"));
        check("https://evil.example\\@good.example/", Ok("evil.example:443"));
        check("https:evil.example", Ok("evil.example:443"));
        check("https://evil.example/@good.example", Ok("evil.example:443"));
        check("https://ev\til.exa\nmple/", Ok("evil.example:443"));
        check("https://evil%2eexample/", Ok("evil.example:443"));
    }

    #[test]
    fn refuses_what_is_not_connected_to() {
        for url in [
            "",
            "/a",
            "//a/",
            "a.example",
            "a.example:443",
            "ftp://a/",
            "file:///a",
            "https://",
            "http://a:x",
        ] {
            check(url, Err(EndpointError::Url));
        }
    }
}
