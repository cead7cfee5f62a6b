use super::Fetched;
use crate::auth::{ClientCredentials, Secret, redact};
use crate::text::line;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use haft_core::ToolError;
use haft_http::{Exchange, HttpClient};
use haft_tools_core::Redactor;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde_json::Value;
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

/// How long before its end a token is not used any more, and the part of its time that this is at most.
const SKEW: Duration = Duration::from_secs(30);
const LARGEST_PART: u32 = 4;

/// The most bytes of an answer with a token.
const MOST_BYTES: u64 = 64 * 1024;

/// The longest that is believed of how long a token is good.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// Is a client, and what it fetches tokens for.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ClientUse {
    pub(crate) scheme: String,
    pub(crate) client: ClientCredentials,
    pub(crate) token_url: Url,
    pub(crate) scopes: Vec<String>,
}

/// What differs only in its secret is rare.
impl std::hash::Hash for ClientUse {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.scheme, &self.client.id, &self.token_url, &self.scopes).hash(state);
    }
}

impl fmt::Debug for ClientUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientUse").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

/// Fetches a token.
pub(super) async fn fetch(
    client: &HttpClient,
    redactor: &Redactor,
    of: &ClientUse,
) -> Result<Fetched, ToolError> {
    let scheme = &of.scheme;
    let asked = Instant::now();
    let answer = client.send(request(of, redactor)?, Exchange::default().most_bytes(MOST_BYTES)).await;
    let read = match answer {
        Ok(answer) => {
            let (head, body) = answer.into_parts();
            body.bytes().await.map(|body| (head.status, body))
        }
        Err(error) => Err(error),
    };
    let (status, body) = read.map_err(|error| {
        ToolError::unavailable(format!(
            "the token for `{scheme}` cannot be fetched: its server cannot be asked; nothing was done, try again later or \
             go on without this call"
        ))
        .with_source(error)
    })?;
    let said: Value = serde_json::from_slice(&body).unwrap_or_default();
    let word = |member: &str| said.get(member).and_then(Value::as_str);
    let refused = |why: String| {
        ToolError::unauthenticated(
            "",
            format!(
                "the token for `{scheme}` was not given: {why}; nothing was done, ask the person who set this API up to look \
                 at the client's credentials"
            ),
        )
    };
    if !status.is_success() {
        // What a server says at length might repeat what it was sent; the codes are words (RFC 6749, section 5.2).
        let is_code = |error: &&str| error.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let why = word("error")
            .filter(is_code)
            .map(|error| format!(" and `{}`", line(&redactor.redact(error), 60)))
            .unwrap_or_default();
        let error = format!("its server answered {}{why}", status.as_u16());
        return Err(match status.as_u16() {
            429 | 500..=599 => ToolError::unavailable(format!(
                "the token for `{scheme}` was not given: {error}; nothing was done, try again later"
            )),
            _ => refused(error),
        });
    }
    if word("token_type").is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(refused("it is of a kind that is not known here".to_owned()));
    }
    let token = word("access_token").map(Secret::new).filter(|token| !token.expose().is_empty());
    let token = token.ok_or_else(|| refused("its server answered without one".to_owned()))?;
    let seconds = said.get("expires_in").and_then(|seconds| match seconds {
        Value::Number(seconds) => seconds.as_f64(),
        Value::String(seconds) => seconds.trim().parse().ok(),
        _ => None,
    });
    let lasts =
        seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).map(|lasts| lasts.min(LONGEST));
    let until = lasts.map(|lasts| asked + lasts.saturating_sub(SKEW.min(lasts / LARGEST_PART)));
    Ok(Fetched { token, until })
}

fn request(of: &ClientUse, redactor: &Redactor) -> Result<http::Request<Bytes>, ToolError> {
    let ClientUse { client, token_url, scopes, .. } = of;
    // It may come back in any of the forms in which it is sent.
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let secret = encoded(client.secret.expose());
    redact(redactor, &secret)?;
    let mut form = Serializer::new(String::new());
    form.append_pair("grant_type", "client_credentials");
    if !scopes.is_empty() {
        form.append_pair("scope", &scopes.join(" "));
    }
    if client.in_body {
        form.append_pair("client_id", &client.id).append_pair("client_secret", client.secret.expose());
    }
    let mut request = http::Request::post(token_url.as_str())
        .header(ACCEPT, "application/json")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    if !client.in_body {
        // Both are written as in a form first (RFC 6749, section 2.3.1).
        let both = STANDARD.encode(format!("{}:{secret}", encoded(&client.id)));
        redact(redactor, &both)?;
        let value = HeaderValue::from_str(&format!("Basic {both}"));
        request = request.header(AUTHORIZATION, value.expect("base64 is made of what a header can have"));
    }
    request.body(form.finish().into()).map_err(|error| {
        let scheme = &of.scheme;
        ToolError::failed(format!(
            "the address where the token for `{scheme}` is fetched cannot be used; nothing was sent, ask the person who \
             set this API up to correct it"
        ))
        .with_source(error)
    })
}
