//! Sends a request with its credentials, and follows where it leads.

use super::call::Call;
use super::operation_tool::Inner;
use crate::auth::{Secret, ServerOrigin, Shown, Token, TokenError, With, redact, sign};
use haft_core::{ToolError, ToolErrorKind};
use haft_http::{Body, Error, Exchange, Redirects, redirect_target};
use http::{HeaderValue, Method, Response, StatusCode};
use url::Url;

/// Sends the request of a call and gives the answer, whatever its status.
pub(super) async fn send(call: &Call) -> Result<Response<Body>, ToolError> {
    let mut tokens = tokens(call, &[]).await?;
    let answer = follow(call, &tokens).await?;
    let can_renew =
        call.grant.shown.iter().any(|shown| matches!(shown.with, With::Client(_) | With::Tokens(_)));
    if answer.status() != StatusCode::UNAUTHORIZED || !can_renew || tokens.is_empty() {
        return Ok(answer);
    }
    // A request that was refused so has done nothing, so it may be sent again whatever it does.
    drop(answer);
    tokens = self::tokens(call, &tokens).await?;
    follow(call, &tokens).await
}

/// Gets what is shown for each scheme; `refused` is what was shown before.
///
/// Where nothing need be shown, nothing is if a token cannot be had. A login is waited for, since there is one to be had.
async fn tokens(call: &Call, refused: &[Token]) -> Result<Vec<Token>, ToolError> {
    match all_tokens(call, refused).await {
        Err(error) if call.grant.is_optional && error.authentication_url().is_none() => Ok(Vec::new()),
        tokens => tokens,
    }
}

async fn all_tokens(call: &Call, refused: &[Token]) -> Result<Vec<Token>, ToolError> {
    let mut tokens = Vec::with_capacity(call.grant.shown.len());
    for (index, shown) in call.grant.shown.iter().enumerate() {
        let refused = match refused.get(index) {
            Some(Token::Secret(secret)) => Some(secret),
            Some(Token::Basic { .. }) | None => None,
        };
        tokens.push(token(&call.tool, shown, refused).await?);
    }
    Ok(tokens)
}

async fn token(tool: &Inner, shown: &Shown, refused: Option<&Secret>) -> Result<Token, ToolError> {
    let shared = &tool.shared;
    match &shown.with {
        With::Secret(secret) => Ok(Token::Secret(secret.clone())),
        With::Basic { user, password } => Ok(Token::Basic { user: user.clone(), password: password.clone() }),
        With::Client(client) => {
            redact(&shared.redactor, client.client.secret.expose())?;
            let token = shared.tokens.token((&shared.client, &shared.redactor), client, refused).await;
            token.map(Token::Secret)
        }
        With::Tokens(source) => source.token(refused).await.map(Token::Secret).map_err(|error| {
            let (name, scheme) = (&tool.name, &shown.name);
            let told = match &error {
                TokenError::Login { url } => ToolError::unauthenticated(
                    url,
                    format!("the API of `{name}` needs a login for `{scheme}` first; nothing was sent, ask the user to log \
                             in, then call it again"),
                ),
                TokenError::Failed { .. } => ToolError::unauthenticated(
                    "",
                    format!(
                        "there is no token for `{scheme}`, which the API of `{name}` wants; nothing was sent, ask the \
                         person who set it up to log in again"
                    ),
                ),
            };
            told.with_source(error)
        }),
    }
}

/// Sends the request, and goes on where it leads within its origin.
async fn follow(call: &Call, tokens: &[Token]) -> Result<Response<Body>, ToolError> {
    let may_follow = matches!(*call.parts.method(), Method::GET | Method::HEAD);
    let origin = call.url.origin();
    let mut url = call.url.clone();
    let mut steps = 0_u8;
    loop {
        let request = request(call, tokens, url.clone())?;
        // Its body is bounded where it is read, since what is cut is no error.
        let exchange = Exchange::default()
            .first_byte_timeout(call.tool.shared.limits.first_byte_timeout)
            .endless()
            .decompressed();
        let answer = call.tool.shared.client.send(request, exchange).await;
        let answer = answer.map_err(|error| unanswered(error, &call.tool))?;
        let next = target(&answer, &url).filter(|next| next.origin() == origin);
        match next {
            Some(next) if may_follow && steps < Redirects::MOST => {
                steps += 1;
                url = next;
            }
            _ => return Ok(answer),
        }
    }
}

/// Where an answer leads, if it does.
fn target<B>(answer: &Response<B>, from: &Url) -> Option<Url> {
    let mut to = from.join(redirect_target(answer)?).ok()?;
    to.set_fragment(None);
    Some(to)
}

fn request(call: &Call, tokens: &[Token], mut url: Url) -> Result<http::Request<bytes::Bytes>, ToolError> {
    let Call { parts, tool, grant, .. } = call;
    let mut headers = parts.headers().clone();
    let is_allowed = ServerOrigin::of(&url).is_some_and(|origin| tool.shared.keyring.allows(&origin));
    if is_allowed {
        for (shown, token) in grant.shown.iter().zip(tokens) {
            let scheme = (shown.name.as_str(), &*shown.scheme);
            sign((&mut url, &mut headers), scheme, token, &tool.shared.redactor)?;
        }
        for (name, secret) in &tool.shared.headers {
            let mut value = HeaderValue::from_str(secret.expose()).map_err(|_| {
                ToolError::failed(format!(
                    "the header `{name}` that is set for this API has characters that cannot be sent; nothing was sent, \
                     ask the person who set this API up to correct it"
                ))
            })?;
            value.set_sensitive(true);
            redact(&tool.shared.redactor, secret.expose())?;
            headers.insert(name, value);
        }
    }
    let request =
        http::Request::builder().method(parts.method()).uri(url.as_str()).body(parts.body().clone());
    let mut request = request.map_err(|error| {
        ToolError::failed(format!("`{}` has an address that cannot be sent; go on without it", tool.name))
            .with_source(error)
    })?;
    *request.headers_mut() = headers;
    Ok(request)
}

/// Says why there is no answer.
pub(crate) fn unanswered(error: Error, tool: &Inner) -> ToolError {
    let name = &tool.name;
    let done = if tool.operation.hints().idempotent {
        "try again later, or go on without it"
    } else {
        "it may have been done all the same; see what has been done before you repeat it"
    };
    let told = match &error {
        Error::Address { .. } => ToolError::denied(format!(
            "`{name}` is on a server whose address may not be connected to; nothing was sent, go on without it"
        )),
        Error::Connect { host, .. } => ToolError::unavailable(format!(
            "`{name}` cannot be called now: there is no connection to `{host}`; nothing was done, try again later or go on \
             without it"
        )),
        Error::Certificate { .. } => ToolError::failed(format!(
            "`{name}` cannot be called: {error}; nothing was sent, go on without it"
        )),
        Error::Silent { within, .. } => ToolError::new(
            ToolErrorKind::TimedOut,
            format!("`{name}` was not answered within {} s; {done}", within.as_secs()),
        ),
        Error::Encoding { .. } => ToolError::failed(format!(
            "the answer to `{name}` cannot be decompressed, so it is not known what it says; {done}"
        )),
        Error::Interrupted { .. } => {
            ToolError::unavailable(format!("the reply to `{name}` broke off; {done}"))
        }
        Error::Stalled { .. } | Error::Late { .. } => {
            ToolError::unavailable(format!("the reply to `{name}` did not come whole; {done}"))
        }
        Error::Url(_) | Error::Authorities { .. } | Error::Setup { .. } => {
            ToolError::failed(format!("`{name}` cannot be called; nothing was sent, go on without it"))
        }
        _ => ToolError::failed(format!("the reply to `{name}` cannot be used; {done}")),
    };
    told.with_source(error)
}
