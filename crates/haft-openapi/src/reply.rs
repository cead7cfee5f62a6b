//! What an API answers, as outputs and errors of tools.

mod asked;
mod body;
mod events;
mod json;
mod kind;
mod pages;
mod refusal;
mod stream;

pub(crate) use asked::Asked;
pub use refusal::StatusError;

use body::{Taken, take};
use haft_core::{Content, ToolError, ToolOutput, Visible};
use haft_http::{Body, ContentType, Sniffed};
use http::header::{CONTENT_TYPE, HeaderMap, LOCATION, SET_COOKIE};
use http::{Method, Response, StatusCode};
use kind::Kind;
use serde_json::json;
use std::fmt::Write as _;

/// The most bytes of an address or a header that is shown.
const MOST_HEADER_BYTES: usize = 2 << 10;

/// The most bytes of all headers that are shown.
const MOST_HEADERS_BYTES: usize = 8 << 10;

/// Makes an output of an answer, or the error that it tells of.
pub(crate) async fn reply(asked: &Asked<'_>, answer: Response<Body>) -> Result<ToolOutput, ToolError> {
    let (head, body) = answer.into_parts();
    let (status, headers) = (head.status, head.headers);
    if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
        return Ok(redirected(asked, status, &headers));
    }
    if status.is_client_error() || status.is_server_error() {
        return Err(refusal::refusal(asked, status, &headers, body).await);
    }
    let content_type = text(asked, &headers, CONTENT_TYPE.as_str());
    let details = json!({ "status": status.as_u16(), "content_type": content_type });
    if *asked.tool.operation.method() == Method::HEAD {
        let text = format!("HTTP {}\n{}", status.as_u16(), listed(asked, &headers));
        return Ok(ToolOutput::text(text).with_details(details));
    }
    let content_type = ContentType::parse(&content_type);
    let kind = Kind::of(&content_type);
    if kind == Kind::Events {
        return Ok(stream::listen(asked, body).await?.with_details(details));
    }
    let taken = take(asked, body).await?;
    if taken.bytes.trim_ascii().is_empty() && !taken.is_cut {
        return Ok(ToolOutput::text(nothing(asked, status, &headers)).with_details(details));
    }
    let mut output = content(asked, kind, &content_type, taken).await?.with_details(details);
    if let (Some(value), Some(schema)) = (&output.structured, asked.tool.output())
        && let Err(violations) = schema.check(value)
    {
        output.details["violations"] = violations.to_string().into();
    }
    let hint = pages::hint(asked, &headers, output.structured.as_ref());
    output.content.extend(hint.map(Content::text));
    Ok(output)
}

/// Makes content of a body, by what it says it is and by what it is.
async fn content(
    asked: &Asked<'_>,
    kind: Kind,
    content_type: &ContentType,
    mut taken: Taken,
) -> Result<ToolOutput, ToolError> {
    let may_be_json = match kind {
        Kind::Json => true,
        // Much of what is JSON says that it is something else.
        Kind::Plain | Kind::Text | Kind::Unknown => {
            matches!(taken.bytes.trim_ascii_start().first(), Some(b'{' | b'['))
        }
        _ => false,
    };
    let mut not_json = None;
    if may_be_json && !taken.is_cut {
        match json::read(&mut taken.bytes).await {
            Ok(value) => return Ok(ToolOutput::json(value)),
            Err(why) => not_json = Some(why),
        }
    }
    if let Some(sniffed @ (Sniffed::Image(mime_type) | Sniffed::Audio(mime_type))) = Sniffed::of(&taken.bytes)
    {
        if taken.is_cut {
            return Err(too_large(asked, mime_type));
        }
        let content = match sniffed {
            Sniffed::Image(_) => Content::image(taken.bytes, mime_type),
            _ => Content::audio(taken.bytes, mime_type),
        };
        return Ok(ToolOutput::new(vec![content]));
    }
    let length = taken.bytes.len();
    let text = match kind {
        Kind::Json | Kind::Plain | Kind::Text | Kind::Events => Ok(content_type.text(taken.bytes)),
        Kind::Unknown | Kind::Binary => ContentType::plain_text(taken.bytes),
    };
    let text = match text {
        Ok(text) => text,
        Err(bytes) => return binary(asked, content_type, Taken { bytes, ..taken }),
    };
    let mut parts = vec![Content::text(if taken.is_cut { asked.cut(text) } else { text })];
    if let (Kind::Json, Some(why)) = (kind, not_json) {
        parts.push(Content::text(format!("[the API says that this is JSON, and it is not: {why}]")));
    }
    if taken.is_cut {
        parts.push(Content::text(format!(
            "[this is cut: the API goes on after these {length} bytes; ask for less at once, such as a page, fewer fields or \
             a narrower search]"
        )));
    }
    Ok(ToolOutput::new(parts))
}

fn binary(asked: &Asked<'_>, content_type: &ContentType, taken: Taken) -> Result<ToolOutput, ToolError> {
    let mime_type = Some(content_type.essence()).filter(|said| !said.is_empty());
    let mime_type = Visible::line(mime_type.unwrap_or("application/octet-stream")).to_string();
    if taken.is_cut {
        return Err(too_large(asked, &mime_type));
    }
    let note = format!("[{} bytes of {mime_type}]", taken.bytes.len());
    let resource = Content::Resource {
        uri: asked.url.as_str().to_owned(),
        mime_type: Some(mime_type),
        text: None,
        data: Some(taken.bytes.into()),
    };
    Ok(ToolOutput::new(vec![Content::text(note), resource]))
}

fn too_large(asked: &Asked<'_>, mime_type: &str) -> ToolError {
    ToolError::failed(format!(
        "the reply to `{}` is {mime_type} of more than the {} bytes that are read, and cut it is of no use; ask for less at \
         once, or go on without it",
        asked.tool.name, asked.tool.shared.limits.most_bytes
    ))
}

/// Says that a reply has no content.
fn nothing(asked: &Asked<'_>, status: StatusCode, headers: &HeaderMap) -> String {
    let code = status.as_u16();
    let location = text(asked, headers, LOCATION.as_str());
    let at = if location.is_empty() { String::new() } else { format!("; it is at {location}") };
    match status {
        StatusCode::ACCEPTED => {
            format!("HTTP {code}: it was accepted, and may not be done yet; the reply is empty{at}")
        }
        StatusCode::NOT_MODIFIED => format!("HTTP {code}: it has not changed; the reply is empty"),
        _ => format!("HTTP {code}: it was done; the reply is empty{at}"),
    }
}

/// Says where an answer leads that was not followed.
fn redirected(asked: &Asked<'_>, status: StatusCode, headers: &HeaderMap) -> ToolOutput {
    let location = text(asked, headers, LOCATION.as_str());
    let (name, code) = (&asked.tool.name, status.as_u16());
    let text = if location.is_empty() {
        format!("HTTP {code}: the API leads elsewhere and does not say where; go on without `{name}`")
    } else {
        format!(
            "HTTP {code}: the API leads to {location}, which was not followed: redirects are followed only for GET and \
             HEAD, only to the same server, and only a few times; go on without `{name}`, or ask the user about that address"
        )
    };
    ToolOutput::text(text).with_details(json!({ "status": code }))
}

/// Lists the headers of an answer.
fn listed(asked: &Asked<'_>, headers: &HeaderMap) -> String {
    let mut list = String::new();
    for (name, value) in headers.iter().filter(|(name, _)| **name != SET_COOKIE) {
        let value = String::from_utf8_lossy(value.as_bytes());
        // What is cut before would leave the beginning of a secret.
        let value = asked.tool.shared.redactor.redact(&value);
        let value = &value[..value.floor_char_boundary(MOST_HEADER_BYTES)];
        let _ = writeln!(list, "{name}: {}", Visible::line(value));
        if list.len() > MOST_HEADERS_BYTES {
            list.push_str("[and more]\n");
            break;
        }
    }
    list
}

/// The value of a header on one line, bounded and without secrets; empty where there is none.
fn text(asked: &Asked<'_>, headers: &HeaderMap, name: &str) -> String {
    let value = headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let value = value.unwrap_or_default();
    let value = asked.tool.shared.redactor.redact(&value);
    Visible::line(value[..value.floor_char_boundary(MOST_HEADER_BYTES)].trim()).to_string()
}
