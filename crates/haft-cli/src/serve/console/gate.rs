use super::keys::Keys;
use anyhow::Result;
use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, HeaderName,
    HeaderValue, ORIGIN, REFERRER_POLICY, TRANSFER_ENCODING, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, Method, Response, StatusCode, request};
use http_body_util::Full;
use std::net::{IpAddr, SocketAddr};

/// The header in which a page says that it was opened with the printed address. No other origin can send it without being asked
/// first whether it may, and it is never told so.
const KEY: HeaderName = HeaderName::from_static("x-haft-console");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The headers of which two would say two things.
const SINGLE: [HeaderName; 9] =
    [HOST, ORIGIN, COOKIE, KEY, CONTENT_TYPE, CONTENT_LENGTH, TRANSFER_ENCODING, FETCH_SITE, FETCH_DEST];

/// What may be done by whoever is shown something that is no page.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

pub(super) type Answer = Response<Full<Bytes>>;

/// Lets requests through that the page of this console makes, and no others.
pub(super) struct Gate {
    address: SocketAddr,
    /// The hosts that requests may be for: a page of another site can make a name of its own lead here.
    hosts: Vec<String>,
    keys: Keys,
}

/// Says what a request that is let through wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// To be let in, which it is with this cookie.
    Cookie(String),
    Page,
    /// What is known now, once it is another state than this one.
    Live {
        seen: String,
    },
    /// That something changes.
    Change(Change),
}

/// Says what is to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Answer,
    Revoke,
    Accept,
}

impl Gate {
    pub(super) fn new(address: SocketAddr) -> Result<Self> {
        let port = address.port();
        let literal = match address.ip() {
            IpAddr::V4(ip) => format!("{ip}:{port}"),
            IpAddr::V6(ip) => format!("[{ip}]:{port}"),
        };
        Ok(Self { address, hosts: vec![literal, format!("localhost:{port}")], keys: Keys::new()? })
    }

    /// The address that lets the next browser in.
    pub(super) fn address(&self) -> String {
        format!("http://{}/{}", self.address, self.keys.address())
    }

    /// Says what a request wants, if it is one that the page makes or that opens it; whatever is wrong, nothing more is said.
    pub(super) fn pass(&self, head: &request::Parts) -> Option<Wanted> {
        let headers = &head.headers;
        if SINGLE.iter().any(|name| headers.get_all(name).iter().nth(1).is_some()) {
            return None;
        }
        let host = text(headers, &HOST)?;
        if head.uri.authority().is_some() || !self.hosts.iter().any(|known| known == host) {
            return None;
        }
        let origin =
            headers.get(ORIGIN).map(|origin| origin.as_bytes() == format!("http://{host}").as_bytes());
        if origin == Some(false) {
            return None;
        }
        let (path, query) = (head.uri.path(), head.uri.query());
        if head.method == Method::GET && path == "/" {
            return self.page(headers, query);
        }
        // What a page asks for: it says that it is of this origin, where the browser says such things.
        if !self.has_cookie(headers)
            || !self.keys.is_page(text(headers, &KEY)?)
            || headers.get(FETCH_SITE).is_some_and(|site| site != "same-origin")
        {
            return None;
        }
        match (&head.method, path, query) {
            (&Method::GET, "/live", query) => {
                let seen = query.map_or(Some(""), |query| query.strip_prefix("seen="))?;
                Some(Wanted::Live { seen: seen.to_owned() })
            }
            (&Method::POST, path, None) if origin == Some(true) => {
                let change = match path {
                    "/answer" => Change::Answer,
                    "/revoke" => Change::Revoke,
                    "/accept" => Change::Accept,
                    _ => return None,
                };
                // No form of another page can have this type.
                (text(headers, &CONTENT_TYPE)? == "application/json").then_some(Wanted::Change(change))
            }
            _ => None,
        }
    }

    /// The page is opened by a person, in a window of its own.
    fn page(&self, headers: &HeaderMap, query: Option<&str>) -> Option<Wanted> {
        if headers.get(FETCH_DEST).is_some_and(|dest| dest != "document") {
            return None;
        }
        if let Some(query) = query {
            return self.keys.exchange(query.strip_prefix("once=")?).map(Wanted::Cookie);
        }
        let is_ours = headers.get(FETCH_SITE).is_none_or(|site| site == "none" || site == "same-origin");
        (is_ours && self.has_cookie(headers)).then_some(Wanted::Page)
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = text(headers, &COOKIE).unwrap_or_default().split(';');
        let ours =
            cookies.filter_map(|cookie| cookie.trim().split_once('=')).filter(|(other, _)| *other == name);
        ours.fold(false, |known, (_, value)| known | self.keys.knows(value))
    }

    /// Cookies are shared by all ports of a machine, so the name tells several consoles apart.
    fn cookie_name(&self) -> String {
        format!("haft-console-{}", self.address.port())
    }

    /// Writes the cookie that lets a browser in, which no script can read and no other site has sent along.
    pub(super) fn cookie(&self, value: &str) -> String {
        format!("{}={value}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name())
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Refuses a request; whatever was wrong with it, all are refused alike.
pub(super) fn refused() -> Answer {
    answer(StatusCode::FORBIDDEN, "text/plain; charset=utf-8", NOTHING, "refused\n".to_owned())
}

/// Answers with JSON.
pub(super) fn json(status: StatusCode, value: &serde_json::Value) -> Answer {
    answer(status, "application/json", NOTHING, value.to_string())
}

/// Answers with what a browser may show, and makes it nobody else's: no other site may show, read, keep or be told of it.
pub(super) fn answer(status: StatusCode, kind: &'static str, policy: &str, body: String) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (RESOURCE_POLICY, "same-origin"),
        (OPENER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    response
}

#[cfg(test)]
mod tests;
