use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, SET_COOKIE};
use http::{HeaderName, HeaderValue, Request};
use std::fmt;
use url::{Url, form_urlencoded};

/// Stands for what is not shown.
const REDACTED: &str = "[redacted]";

/// Shows the head of a request to a person or a log, without what is secret in it.
///
/// Not shown are the user and password of the URL, its fragment, the parameters of its query that are named as
/// [secret](RedactedRequest::secret), and the values of `Authorization`, `Cookie`, `Proxy-Authorization` and of every header
/// that is marked as [sensitive](HeaderValue::set_sensitive). The body is not shown at all.
///
/// ```
/// use haft_http::RedactedRequest;
///
/// let request = http::Request::get("https://api.example.org/pets?limit=2&api_key=k")
///     .header("authorization", "Bearer t")
///     .header("accept", "application/json")
///     .body(())?;
/// let shown = RedactedRequest::new(&request).secret(["api_key"]);
/// assert_eq!(
///     shown.to_string(),
///     "GET https://api.example.org/pets?limit=2&api_key=[redacted]\n\
///      authorization: [redacted]\n\
///      accept: application/json\n",
/// );
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct RedactedRequest<'a, B> {
    request: &'a Request<B>,
    secret: Vec<String>,
}

impl<'a, B> RedactedRequest<'a, B> {
    /// Shows this request.
    pub fn new(request: &'a Request<B>) -> Self {
        Self { request, secret: Vec::new() }
    }

    /// Names parameters of the query whose values are not shown, as they are before they are encoded.
    pub fn secret<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.secret.extend(names.into_iter().map(Into::into));
        self
    }

    fn is_secret(&self, parameter: &str) -> bool {
        // A name is told apart as a server would, which may be encoded in many ways.
        form_urlencoded::parse(parameter.as_bytes())
            .any(|(name, _)| self.secret.iter().any(|secret| *secret == name))
    }

    fn url(&self) -> String {
        let Ok(mut url) = Url::parse(&self.request.uri().to_string()) else {
            // Where its parts begin cannot be told.
            return REDACTED.to_owned();
        };
        let has_user = !url.username().is_empty() || url.password().is_some();
        let query = url.query().map(str::to_owned);
        url.set_query(None);
        url.set_fragment(None);
        // Only a URL without a host could have none of both, and such a one has neither.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        let mut shown = url.to_string();
        if has_user {
            shown = shown.replacen("://", &format!("://{REDACTED}@"), 1);
        }
        let mut separator = '?';
        for parameter in query.iter().flat_map(|query| query.split('&')) {
            shown.push(separator);
            separator = '&';
            if self.is_secret(parameter) {
                let name = parameter.split('=').next().unwrap_or_default();
                shown.extend([name, "=", REDACTED]);
            } else {
                shown.push_str(parameter);
            }
        }
        shown
    }
}

/// Tells whether the value of a header is for its receiver only.
pub(crate) fn is_secret(name: &HeaderName, value: &HeaderValue) -> bool {
    value.is_sensitive() || [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, SET_COOKIE].contains(name)
}

impl<B> fmt::Display for RedactedRequest<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.request.method(), self.url())?;
        for (name, value) in self.request.headers() {
            let value = if is_secret(name, value) { REDACTED } else { value.to_str().unwrap_or("[binary]") };
            writeln!(f, "{name}: {value}")?;
        }
        Ok(())
    }
}

/// Prints what is shown, not what is kept.
impl<B> fmt::Debug for RedactedRequest<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RedactedRequest").field(&self.to_string()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks how the URL of a request is shown whose parameters `key` and `a[b]` are secret.
    fn check(url: &str, expected: &str) {
        let request = Request::get(url).body(()).unwrap();
        let shown = RedactedRequest::new(&request).secret(["key", "a[b]"]);
        assert_eq!(shown.to_string(), format!("GET {expected}\n"));
        assert!(!format!("{shown:?}").contains("Secret"));
    }

    #[test]
    fn parameters_are_known_however_they_are_written() {
        check("https://a/b?key=Secret&key=Secret", "https://a/b?key=[redacted]&key=[redacted]");
        check("https://a/b?k%65y=Secret&x=1", "https://a/b?k%65y=[redacted]&x=1");
        check("https://a/b?a%5Bb%5D=Secret", "https://a/b?a%5Bb%5D=[redacted]");
        check("https://a/b?a[b]=Secret", "https://a/b?a[b]=[redacted]");
        check("https://a/b?key", "https://a/b?key=[redacted]");
        check("https://a/b?monkey=1&x=key&", "https://a/b?monkey=1&x=key&");
        check("https://a/b?", "https://a/b?");
    }

    #[test]
    fn a_user_and_a_password_are_not_shown() {
        check("https://Secret:Secret@a/b", "https://[redacted]@a/b");
        check("https://Secret@a:8/b?x=1", "https://[redacted]@a:8/b?x=1");
        check("https://:Secret@a/b", "https://[redacted]@a/b");
        check("/b?key=Secret", "[redacted]");
    }

    #[test]
    fn headers_that_are_marked_are_not_shown() {
        let mut request = Request::get("https://a/").header("x-plain", "p").body(()).unwrap();
        for name in ["cookie", "proxy-authorization"] {
            request.headers_mut().insert(name, HeaderValue::from_static("Secret"));
        }
        let mut key = HeaderValue::from_static("Secret");
        key.set_sensitive(true);
        request.headers_mut().insert("x-key", key);
        request.headers_mut().insert("x-bytes", HeaderValue::from_bytes(b"\xff").unwrap());
        assert_eq!(
            RedactedRequest::new(&request).to_string(),
            "GET https://a/\nx-plain: p\ncookie: [redacted]\nproxy-authorization: [redacted]\nx-key: [redacted]\nx-bytes: [binary]\n"
        );
    }
}
