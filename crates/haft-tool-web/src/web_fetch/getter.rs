//! Gets what is at an address.

use crate::cache::{Cache, Known};
use crate::robots::RobotsRules;
use crate::unanswered;
use bytes::Bytes;
use haft_core::ToolError;
use haft_http::{AddressPolicy, Body, Exchange, HttpClient, Redirects, Retries, redirect_target};
use http::header::{ACCEPT, HeaderMap};
use http::{Request, Response, StatusCode};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};
use url::Url;

/// The most bytes of an answer that are read.
pub(super) const MOST_BYTES: usize = 8 << 20;

/// How long the head of an answer is waited for, each of its pieces, and all of it.
const FIRST_BYTE: Duration = Duration::from_secs(20);
const IDLE: Duration = Duration::from_secs(15);
const WHOLE: Duration = Duration::from_mins(1);

/// Models read Markdown best, and some servers have it.
const WANTED: &str = "text/markdown, text/html;q=0.9, application/json;q=0.8, text/*;q=0.7, */*;q=0.5";

/// Gets what is at addresses, and keeps it as long as it may be kept.
#[derive(Debug)]
pub(crate) struct Getter {
    pub(super) client: Client,
    pub(super) cache: Cache,
}

/// Is a client, or what one is made of when it is first needed: that takes some milliseconds.
#[derive(Debug)]
pub(super) struct Client {
    policy: AddressPolicy,
    made: OnceLock<HttpClient>,
}

impl Client {
    pub(super) fn given(client: HttpClient) -> Self {
        Self { policy: AddressPolicy::public(), made: OnceLock::from(client) }
    }

    pub(super) fn within(policy: AddressPolicy) -> Self {
        Self { policy, made: OnceLock::new() }
    }

    fn get(&self) -> Result<&HttpClient, haft_http::Error> {
        if let Some(client) = self.made.get() {
            return Ok(client);
        }
        let client = HttpClient::new(self.policy.clone())?;
        Ok(self.made.get_or_init(|| client))
    }
}

/// Is what is at an address.
pub(crate) struct Got {
    /// Where it is, after what led on at the same origin.
    pub(super) url: Url,
    pub(crate) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether it goes on after what was read.
    pub(crate) is_cut: bool,
    pub(super) is_cached: bool,
    /// Where it leads instead, if it leads anywhere that was not gone to.
    pub(super) leads_to: Option<String>,
}

impl Getter {
    /// Gets what is at an address, and follows where it leads at the same scheme, host and port, as far as the owner lets it be read.
    pub(crate) async fn get(
        &self,
        url: &Url,
        most: usize,
        robots: Option<&RobotsRules>,
    ) -> Result<Got, ToolError> {
        let mut at = url.clone();
        let mut steps = 0;
        loop {
            if let Some(robots) = robots {
                robots.check(self, &at).await?;
            }
            let mut got = self.get_one(&at, most).await?;
            let Some(to) = got.leads_to.take() else { return Ok(got) };
            match at.join(&to) {
                Ok(mut next) if next.origin() == at.origin() && steps < Redirects::MOST => {
                    next.set_fragment(None);
                    at = next;
                    steps += 1;
                }
                to => {
                    got.leads_to = Some(to.map(String::from).unwrap_or_default());
                    return Ok(got);
                }
            }
        }
    }

    async fn get_one(&self, url: &Url, most: usize) -> Result<Got, ToolError> {
        let request = Request::get(url.as_str()).header(ACCEPT, WANTED).body(());
        let request = request.map_err(|error| {
            ToolError::invalid_input("`url` cannot be fetched; write one as in `https://example.org/page`")
                .with_source(error)
        })?;
        let cached = |headers, body| Got {
            url: url.clone(),
            status: StatusCode::OK,
            headers,
            body,
            is_cut: false,
            is_cached: true,
            leads_to: None,
        };
        let parts = match self.cache.look_up(request.clone().into_parts().0, SystemTime::now()) {
            Known::Fresh(headers, body) => return Ok(cached(headers, body)),
            Known::Ask(parts) => *parts,
        };
        let mut answer = self.ask(Request::from_parts(parts, Bytes::new())).await?;
        if answer.status() == StatusCode::NOT_MODIFIED {
            let (head, _) = answer.into_parts();
            if let Some((headers, body)) = self.cache.renew(&request, &head, SystemTime::now()) {
                return Ok(cached(headers, body));
            }
            // It was said of something else than what was kept, or that is gone by now.
            answer = self.ask(request.clone().map(|()| Bytes::new())).await?;
        }
        let leads_to = redirect_target(&answer).map(str::to_owned);
        let (head, body) = answer.into_parts();
        // Of what leads elsewhere, nobody reads what it says.
        let (body, is_cut) =
            if leads_to.is_some() { (Bytes::new(), false) } else { take(body, most).await? };
        if head.status == StatusCode::OK && !is_cut {
            self.cache.keep(&request, &head, &body, SystemTime::now());
        }
        let (status, headers) = (head.status, head.headers);
        Ok(Got { url: url.clone(), status, headers, body, is_cut, is_cached: false, leads_to })
    }

    async fn ask(&self, request: Request<Bytes>) -> Result<Response<Body>, ToolError> {
        let exchange =
            Exchange::default().endless().first_byte_timeout(FIRST_BYTE).idle_timeout(IDLE).timeout(WHOLE);
        let exchange = exchange.decompressed().retries(Retries::default());
        self.client.get().map_err(unanswered)?.send(request, exchange).await.map_err(unanswered)
    }
}

/// Reads a body up to a number of bytes.
async fn take(mut body: Body, most: usize) -> Result<(Bytes, bool), ToolError> {
    let mut bytes = Vec::new();
    while let Some(piece) = body.next().await.map_err(unanswered)? {
        let room = most - bytes.len();
        if piece.len() > room {
            bytes.extend_from_slice(&piece[..room]);
            return Ok((bytes.into(), true));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok((bytes.into(), false))
}
