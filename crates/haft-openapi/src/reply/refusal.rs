use super::body::collect;
use super::{Asked, Kind, text};
use haft_core::{ToolError, ToolErrorKind};
use haft_http::{Body, ContentType, retry_after};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};

/// The most bytes of an error's body that are read: more than is shown, so that what is left out can be counted.
const MOST_READ: usize = 64 << 10;

/// Says that an API answered with an error; the source of a tool's error, for the host.
///
/// ```
/// # use haft_http::{AddressPolicy, HttpClient};
/// use haft_openapi::StatusError;
/// # use haft_openapi::{Document, LoadOptions, OpenApiTools};
/// # use haft_tools_core::{CallContext, CallScope, Tool as _};
/// # use serde_json::json;
/// use std::error::Error as _;
/// # use std::io::{Read as _, Write as _};
/// #
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// # let options = LoadOptions::default().server(format!("http://{}", listener.local_addr()?));
/// # let server = std::thread::spawn(move || -> std::io::Result<()> {
/// #     let (mut stream, _) = listener.accept()?;
/// #     let _ = stream.read(&mut [0; 4096])?;
/// #     let head = "HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: 11";
/// #     stream.write_all(format!("{head}\r\n\r\nno such pet").as_bytes())
/// # });
/// # let value = json!({ "openapi": "3.1.0", "paths": { "/pets/7": { "get": { "operationId": "showPet" } } } });
/// # let client = HttpClient::new(AddressPolicy::public().loopback())?;
/// # let tools = OpenApiTools::builder("pets", Document::from_value(value, &options)?, client).build();
/// # let tool = &tools.tools()[0];
/// # let scope = CallScope::new("run-1".parse()?);
/// let prepared = tool.prepare(&json!({}), &scope)?;
/// let error = prepared.run(CallContext::detached("c1".parse()?, scope)).await.unwrap_err();
/// let status = error.source().and_then(|source| source.downcast_ref::<StatusError>()).ok_or("another error")?;
/// assert_eq!((status.status().as_u16(), status.body()), (404, "no such pet"));
/// # server.join().expect("the server ends")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("HTTP {status}")]
pub struct StatusError {
    status: StatusCode,
    body: String,
}

impl StatusError {
    /// The status, from 400 to 599.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// What the API says, up to 64 KiB of it, with registered secrets replaced; empty where it is no text.
    pub fn body(&self) -> &str {
        &self.body
    }
}

/// Makes an error of an answer that is one.
pub(super) async fn refusal(
    asked: &Asked<'_>,
    status: StatusCode,
    headers: &HeaderMap,
    mut body: Body,
) -> ToolError {
    let content_type = ContentType::parse(&text(asked, headers, CONTENT_TYPE.as_str()));
    let taken = collect(&mut body, MOST_READ, asked.tool.shared.limits.idle_timeout, |_| {}).await.ok();
    let said = taken.and_then(|taken| {
        let said = match Kind::of(&content_type) {
            Kind::Json | Kind::Plain | Kind::Text | Kind::Events => content_type.text(taken.bytes),
            Kind::Unknown | Kind::Binary => ContentType::plain_text(taken.bytes).ok()?,
        };
        Some(if taken.is_cut { asked.cut(said) } else { said })
    });
    let said = said.unwrap_or_default();
    let said = asked.tool.shared.redactor.redact(said.trim()).into_owned();
    let challenge = match status {
        StatusCode::UNAUTHORIZED => asked.shown(&text(asked, headers, WWW_AUTHENTICATE.as_str()), 200),
        _ => String::new(),
    };
    let message = message(asked, status, &challenge, &content_type, &said);
    let wait = retry_after(headers);
    let error = match status.as_u16() {
        400 | 411 | 413 | 414 | 415 | 416 | 422 => ToolError::invalid_input(message),
        401 => ToolError::unauthenticated("", message),
        403 => ToolError::denied(message),
        404 | 410 => ToolError::not_found(message),
        429 | 502 | 503 | 504 => match wait {
            Some(wait) => ToolError::unavailable(message).with_retry_after(wait),
            None => ToolError::unavailable(message),
        },
        408 | 425 => ToolError::unavailable(message),
        _ => ToolError::new(ToolErrorKind::Failed, message),
    };
    error.with_source(StatusError { status, body: said })
}

fn message(
    asked: &Asked<'_>,
    status: StatusCode,
    challenge: &str,
    content_type: &ContentType,
    said: &str,
) -> String {
    let name = &asked.tool.name;
    let code = status.as_u16();
    let reason = match status.canonical_reason() {
        Some(_) if !challenge.is_empty() => format!(" ({challenge})"),
        Some(reason) => format!(" ({reason})"),
        None => String::new(),
    };
    let next = match code {
        400 | 411 | 413 | 414 | 415 | 416 | 422 => "correct the arguments and call it again",
        409 | 412 => "what it is about may have changed; look at it before you call it again",
        401 => "ask the person who set this API up to look at its credentials, or go on without it",
        403 => "go on without it, unless the API says what is missing",
        404 | 410 => "look up what there is, or go on without it",
        429 => "wait before you call it again",
        408 | 425 | 502 | 503 | 504 if asked.tool.operation.hints().idempotent => "try again later",
        408 | 425 | 502 | 503 | 504 => {
            "it may have been done all the same; see what has been done before you repeat it"
        }
        500..=599 if !asked.tool.operation.hints().read_only => {
            "it may have been done in part; see what has been done before you go on"
        }
        _ => "go on without it",
    };
    let shown = if content_type.essence() == "text/html" {
        // A page for people says little for all its bytes.
        asked.shown(said, asked.tool.shared.limits.most_error_bytes.min(500))
    } else {
        asked.shown(said, asked.tool.shared.limits.most_error_bytes)
    };
    if shown.is_empty() {
        return format!("the API answered `{name}` with HTTP {code}{reason} and nothing else; {next}");
    }
    format!("the API answered `{name}` with HTTP {code}{reason}; {next}. It says:\n{shown}")
}
