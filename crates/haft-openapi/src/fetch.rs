//! Reads texts from addresses of HTTP.

use crate::LoadError;
use haft_http::{Exchange, HttpClient, Redirects};
use http::header::ACCEPT;
use std::time::Duration;
use url::Url;

/// How long one text may take, whatever comes of it meanwhile.
const WHOLE: Duration = Duration::from_mins(1);

const WANTED: &str = "application/json, application/yaml, application/vnd.oai.openapi, */*;q=0.5";

/// Reads an address that may be asked.
pub(crate) fn address(text: &str) -> Result<Url, LoadError> {
    let refused = |why: &'static str| LoadError::Address { why };
    let url = Url::parse(text.trim())
        .map_err(|_| refused("it is not an address; write one as `https://example.com/openapi.json`"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(refused("it is not an address of HTTP; write one as `https://example.com/openapi.json`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("it holds a user or a password; take them out"));
    }
    Ok(url)
}

/// Writes an address for people: without what may be secret in it.
pub(crate) fn shown(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

/// Gets a text of at most so many bytes.
pub(crate) async fn text(url: &Url, client: &HttpClient, most: usize) -> Result<String, LoadError> {
    let asked = async {
        let unanswered = |source| LoadError::Fetch { url: shown(url), source };
        let request = http::Request::get(url.as_str()).header(ACCEPT, WANTED).body(bytes::Bytes::new());
        let request = request.map_err(|_| LoadError::Address { why: "it cannot be asked" })?;
        let exchange =
            Exchange::default().most_bytes(most as u64).redirects(Redirects::SameOrigin(Redirects::MOST));
        let answer = client.send(request, exchange).await.map_err(unanswered)?;
        let status = answer.status().as_u16();
        if !answer.status().is_success() {
            return Err(LoadError::Status { url: shown(url), status });
        }
        let bytes = answer.into_body().bytes().await.map_err(unanswered)?;
        String::from_utf8(bytes.into()).map_err(|_| LoadError::Syntax("it is not UTF-8".to_owned()))
    };
    let slow = |_| LoadError::Late { url: shown(url), within: WHOLE };
    tokio::time::timeout(WHOLE, asked).await.map_err(slow)?
}

/// Does what takes the processor for long away from the threads that wait for others.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    let broken = |_| Err(LoadError::Syntax("reading it was broken off".to_owned()));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(broken)
}
