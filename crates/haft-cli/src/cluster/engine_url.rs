use std::fmt;
use std::str::FromStr;
use url::Url;

/// Is where an engine, or a worker of it, is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EngineUrl(Url);

impl EngineUrl {
    #[cfg_attr(
        not(feature = "restate"),
        expect(dead_code, reason = "a build without the engine says only that it has none")
    )]
    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    /// The same machine at another port.
    pub(crate) fn at_port(&self, port: u16) -> Self {
        let mut url = self.0.clone();
        // It has a host, so it takes a port.
        let _ = url.set_port(Some(port));
        Self(url)
    }
}

impl FromStr for EngineUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("{why}; write an address such as `http://127.0.0.1:8080`");
        let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(wrong("it has to begin with `http://` or `https://`"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("a name or a password has no place in it"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("nothing may stand behind its path"));
        }
        Ok(Self(url))
    }
}

impl fmt::Display for EngineUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::EngineUrl;

    #[test]
    fn an_address_has_a_host_and_no_secret() {
        let read = |text: &str| text.parse::<EngineUrl>().map(|url| url.to_string());
        assert_eq!(read("http://127.0.0.1:8080"), Ok("http://127.0.0.1:8080".to_owned()));
        assert_eq!(read("https://engine.example.org/x/"), Ok("https://engine.example.org/x".to_owned()));
        let advice = "write an address such as `http://127.0.0.1:8080`";
        for (wrong, why) in [
            ("", "relative URL without a base"),
            ("127.0.0.1:8080", "relative URL without a base"),
            ("localhost:8080", "it has to begin with `http://` or `https://`"),
            ("file:///tmp/x", "it has to begin with `http://` or `https://`"),
            ("http://", "empty host"),
            ("http://a:b@engine", "a name or a password has no place in it"),
            ("http://engine?x=1", "nothing may stand behind its path"),
        ] {
            assert_eq!(read(wrong), Err(format!("{why}; {advice}")), "{wrong}");
        }
        let url: EngineUrl = "http://engine:8080".parse().unwrap();
        assert_eq!(url.at_port(9070).to_string(), "http://engine:9070");
    }
}
