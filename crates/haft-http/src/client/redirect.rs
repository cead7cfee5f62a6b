//! Where an answer leads, and whether it is gone there.

use crate::redacted::is_secret;
use crate::{Error, Redirects};
use http::header::{HOST, LOCATION};
use http::{Method, Response, StatusCode};
use url::{Origin, Url};

/// The way from the first request on.
pub(super) struct Way {
    origin: Origin,
    redirects: Redirects,
    steps: u8,
}

impl Way {
    pub(super) fn new(first: &Url, redirects: Redirects) -> Self {
        Self { origin: first.origin(), redirects, steps: 0 }
    }

    /// Tells whether what redirects a request is followed at all.
    pub(super) fn may_follow(&self, method: &Method) -> bool {
        self.redirects != Redirects::Never && matches!(*method, Method::GET | Method::HEAD)
    }

    /// Makes the next request of the last one.
    pub(super) fn follow(&mut self, mut next: reqwest::Request, to: &str) -> Result<reqwest::Request, Error> {
        let from = next.url();
        let refuse =
            |reason| Error::Redirect { host: from.host_str().unwrap_or_default().to_owned(), reason };
        let mut to = from.join(to).map_err(|_| refuse("it leads to no URL"))?;
        let (most, same_origin) = match self.redirects {
            Redirects::Never => (0, true),
            Redirects::SameOrigin(most) => (most.min(Redirects::MOST), true),
            Redirects::Anywhere(most) => (most.min(Redirects::MOST), false),
        };
        if self.steps >= most {
            return Err(refuse("it did so too often"));
        }
        if from.scheme() == "https" && to.scheme() != "https" {
            return Err(refuse("it leads from `https` to what is not"));
        }
        let origin = to.origin();
        if same_origin && origin != self.origin {
            return Err(refuse("it leads to another origin"));
        }
        if origin != self.origin {
            if next.body().is_some_and(|body| body.as_bytes() != Some(&[])) {
                return Err(refuse("it leads to another origin, and the request has a body"));
            }
            // Once away, it stays away: a host in between could have made up where it leads back to.
            strip(next.headers_mut());
        }
        self.steps += 1;
        to.set_fragment(None);
        *next.url_mut() = to;
        Ok(next)
    }
}

/// Takes out what is meant for one origin only.
fn strip(headers: &mut http::HeaderMap) {
    let meant: Vec<_> = headers
        .iter()
        .filter(|(name, value)| is_secret(name, value) || *name == HOST)
        .map(|(name, _)| name.clone())
        .collect();
    for name in meant {
        headers.remove(name);
    }
}

/// Gives what an answer says to ask instead, if it does (RFC 9110, section 15.4), as it stands in `Location`.
///
/// It can be relative to what was asked, and hold characters that are not ASCII, as browsers take them; nothing is said of where
/// it leads.
///
/// ```
/// use haft_http::redirect_target;
///
/// let moved = http::Response::builder().status(308).header("location", "/v2/pets").body(())?;
/// assert_eq!(redirect_target(&moved), Some("/v2/pets"));
///
/// // Where something was made is not where to ask instead.
/// let created = http::Response::builder().status(201).header("location", "/pets/7").body(())?;
/// assert_eq!(redirect_target(&created), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn redirect_target<B>(answer: &Response<B>) -> Option<&str> {
    let leads = matches!(
        answer.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    leads.then(|| std::str::from_utf8(answer.headers().get(LOCATION)?.as_bytes()).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goes from one URL over others and gives the last, with the headers that are left.
    fn check(redirects: Redirects, urls: &[&str], expected: Result<(&str, bool), &str>) {
        let (first, rest) = urls.split_first().unwrap();
        let first: Url = first.parse().unwrap();
        let mut way = Way::new(&first, redirects);
        let mut request = reqwest::Request::new(Method::GET, first);
        let mut token = http::HeaderValue::from_static("t");
        token.set_sensitive(true);
        request.headers_mut().insert("x-token", token);
        request.headers_mut().insert("accept", http::HeaderValue::from_static("a"));
        let mut refused = None;
        for to in rest {
            match way.follow(request.try_clone().unwrap(), to) {
                Ok(next) => request = next,
                Err(Error::Redirect { reason, .. }) => refused = Some(reason),
                Err(error) => panic!("{error}"),
            }
        }
        assert!(request.headers().contains_key("accept"));
        let found = match refused {
            Some(reason) => Err(reason),
            None => Ok((request.url().as_str(), request.headers().contains_key("x-token"))),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn keeps_secrets_within_the_first_origin() {
        use Redirects::Anywhere;
        check(Anywhere(9), &["https://a/x", "y#f", "//a:443/z"], Ok(("https://a/z", true)));
        check(Anywhere(9), &["https://a/x", "https://b/"], Ok(("https://b/", false)));
        check(Anywhere(9), &["https://a/x", "https://b/", "https://a/"], Ok(("https://a/", false)));
        check(Anywhere(9), &["https://a/x", "https://a:444/"], Ok(("https://a:444/", false)));
    }

    #[test]
    fn refuses_what_was_not_asked_for() {
        let other = Err("it leads to another origin");
        check(Redirects::SameOrigin(9), &["https://a/x", "https://b/"], other);
        check(Redirects::SameOrigin(9), &["http://a/x", "https://a/"], other);
        check(
            Redirects::Anywhere(9),
            &["https://a/", "http://a/"],
            Err("it leads from `https` to what is not"),
        );
        check(Redirects::Anywhere(1), &["https://a/", "/b", "/c"], Err("it did so too often"));
        for many in [Redirects::Anywhere(200), Redirects::SameOrigin(200)] {
            check(many, &["https://a/", "/1", "/2", "/3", "/4", "/5"], Ok(("https://a/5", true)));
            check(many, &["https://a/", "/1", "/2", "/3", "/4", "/5", "/6"], Err("it did so too often"));
        }
    }

    #[test]
    fn a_body_stays_within_the_first_origin() {
        let first: Url = "https://a/".parse().unwrap();
        let request = |body: &'static str| {
            let mut request = reqwest::Request::new(Method::GET, first.clone());
            *request.body_mut() = Some(body.into());
            request
        };
        let follow = |body, to| Way::new(&first, Redirects::Anywhere(1)).follow(request(body), to);
        assert!(follow("", "https://b/").is_ok() && follow("b", "/c").is_ok());
        let error = follow("b", "https://b/").unwrap_err().to_string();
        assert!(error.ends_with("it leads to another origin, and the request has a body"), "{error}");
    }
}
