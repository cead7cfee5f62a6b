//! What an answer says besides what it holds: that a login is wanted, that it failed, how.

use crate::client::rmcp_session::http::carry::{Answers, carry};
use crate::client::rmcp_session::local_fault::SendFault;
use crate::client::rmcp_session::message;
use crate::client::session::Fault;
use haft_http::Body;
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{StreamableHttpError, StreamableHttpPostResponse};

/// How much of the text of an answer that says that something failed is read, and how much is shown, in bytes.
const MOST_FAILURE: u64 = 64 * 1024;
const MOST_SHOWN: usize = 200;

pub(super) type Fallible<T> = Result<T, StreamableHttpError<SendFault>>;

pub(super) fn sent(fault: Fault) -> StreamableHttpError<SendFault> {
    StreamableHttpError::Client(SendFault(fault))
}

pub(super) fn broken(text: String) -> StreamableHttpError<SendFault> {
    sent(Fault::Broken(text))
}

/// What a server wants to know before it answers, if it does.
pub(super) fn challenge(answer: &Response<Body>) -> Option<&str> {
    let headers =
        || answer.headers().get_all(WWW_AUTHENTICATE).iter().filter_map(|header| header.to_str().ok());
    let is_bearer =
        |header: &&str| header.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
    let header = headers().find(is_bearer).or_else(|| headers().next());
    match answer.status() {
        StatusCode::UNAUTHORIZED => Some(header.unwrap_or_default()),
        StatusCode::FORBIDDEN => header.filter(|header| header.contains("insufficient_scope")),
        _ => None,
    }
}

pub(super) fn is_of_type(answer: &Response<Body>, expected: &str) -> bool {
    let found = answer.headers().get(CONTENT_TYPE).and_then(|found| found.to_str().ok()).unwrap_or_default();
    let found = found.split(';').next().unwrap_or_default().trim();
    found.eq_ignore_ascii_case(expected)
}

/// Reads the text of an answer that says that something failed; nothing if that fails, too.
pub(super) async fn failure(answer: Response<Body>) -> String {
    let text = async { answer.into_body().most_bytes(MOST_FAILURE)?.bytes().await };
    text.await.map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
}

/// What an answer that is no success says to a request: the server's own error if it has one.
///
/// A service that does not know `server/discover` may refuse it in any way; that is an answer, too.
pub(super) fn refused(
    status: StatusCode,
    text: &str,
    id: &RequestId,
    is_discover: bool,
) -> Fallible<StreamableHttpPostResponse> {
    let error = match message::decode(text.as_bytes()) {
        Ok(JsonRpcMessage::Error(error)) => error.error,
        _ if is_discover && status.is_client_error() => {
            ErrorData::new(ErrorCode::INVALID_REQUEST, status_text(status, text), None)
        }
        _ => return Err(broken(status_text(status, text))),
    };
    let message = JsonRpcMessage::error(error, Some(id.clone()));
    Ok(StreamableHttpPostResponse::Json(carry(message, Answers::Other), None))
}

pub(super) fn status_text(status: StatusCode, text: &str) -> String {
    let more =
        if status.is_redirection() { ", which leads to another address: configure that one" } else { "" };
    let text = shown(text);
    let colon = if text.is_empty() { "" } else { ": " };
    format!("the server answered with HTTP {status}{more}{colon}{text}")
}

pub(super) fn shown(text: &str) -> &str {
    let text = text.trim();
    &text[..text.floor_char_boundary(MOST_SHOWN)]
}
