//! What is at an address, as an output or an error of the tool.

use super::getter::Got;
use crate::page::{self, Names, Page, text_of};
use crate::{OF_OTHERS, json};
use haft_core::{Content, ToolError, ToolErrorKind, ToolOutput, Visible};
use haft_http::{ContentType, Sniffed, retry_after};
use http::header::CONTENT_TYPE;
use serde_json::json;
use std::time::{Duration, Instant};

/// How long a page may take to be turned into Markdown.
const MOST_TIME: Duration = Duration::from_secs(2);

/// The most bytes of an image: more is refused by services of models when it is written as Base64.
const MOST_IMAGE: usize = 3_500_000;

/// The most bytes that JSON becomes when it is laid out.
const MOST_JSON: usize = 2 << 20;

/// The most characters of what a server says when it refuses.
const MOST_REFUSAL: usize = 500;

/// The most bytes of an address that is shown.
const MOST_ADDRESS: usize = 2 << 10;

pub(super) async fn reply(got: Got, whole: bool, raw: bool) -> Result<ToolOutput, ToolError> {
    let said = got.headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let said = ContentType::parse(&said.unwrap_or_default());
    let details = json!({
        "url": got.url.as_str(),
        "status": got.status.as_u16(),
        "content_type": said.essence(),
        "bytes": got.body.len(),
        "cached": got.is_cached,
    });
    if let Some(to) = &got.leads_to {
        return Ok(ToolOutput::text(elsewhere(&got, to)).with_details(details));
    }
    if !got.status.is_success() {
        return Err(refusal(&got, &said));
    }
    let read = tokio::task::spawn_blocking(move || content(&got, &said, whole, raw));
    let content = read.await.map_err(|error| {
        ToolError::failed("the page cannot be read; try again with `raw`, or go on without it")
            .with_source(error)
    })?;
    Ok(ToolOutput::new(content).with_details(details))
}

/// Makes content of an answer, by what it says it is and by what it is; what is said of it comes first, since what others wrote
/// could say the same.
fn content(got: &Got, said: &ContentType, whole: bool, raw: bool) -> Vec<Content> {
    let mut head = vec![shown(got.url.as_str())];
    if let Some(Sniffed::Image(mime_type)) = Sniffed::of(&got.body) {
        if got.is_cut || got.body.len() > MOST_IMAGE {
            head.push(format!("[{mime_type}, too large to be shown: {}]", size(got)));
            return vec![Content::text(head.join("\n"))];
        }
        head.push(OF_OTHERS.to_owned());
        return vec![Content::text(head.join("\n")), Content::image(got.body.to_vec(), mime_type)];
    }
    let Some(text) = readable(got, said) else {
        let mime_type =
            Some(said.essence()).filter(|said| !said.is_empty()).unwrap_or("of no type that is said");
        head.push(format!("[{}, {}: no text, and not shown]", Visible::line(mime_type), size(got)));
        return vec![Content::text(head.join("\n"))];
    };
    let mut is_cut = got.is_cut;
    let mut name = None;
    let text = if is_html(said, &text) && !raw {
        let Page { title, markdown, is_main, is_cut: is_page_cut } =
            page::read(&text, &got.url, whole, Instant::now() + MOST_TIME);
        is_cut |= is_page_cut;
        name = Some(format!("Title: {}", Visible::line(&title))).filter(|_| !title.is_empty());
        if is_main {
            head.push("[the main part of the page; set `whole` for all of it]".to_owned());
        }
        if markdown.is_empty() {
            head.push(
                "[the page has nothing to read without its scripts; set `raw` for its HTML]".to_owned(),
            );
        }
        markdown
    } else if said.is_json() || text.trim_start().starts_with(['{', '[']) {
        json::laid_out(&text, MOST_JSON).unwrap_or(text)
    } else {
        text
    };
    if is_cut {
        head.push("[it goes on after what was read of it]".to_owned());
    }
    head.push(OF_OTHERS.to_owned());
    head.extend(name);
    if text.trim().is_empty() {
        return vec![Content::text(head.join("\n"))];
    }
    vec![Content::text(head.join("\n")), Content::text(Visible::new(&text).to_cow())]
}

/// Reads a body as text, if it is one.
fn readable(got: &Got, said: &ContentType) -> Option<String> {
    let essence = said.essence();
    let names = match essence {
        "text/html" | "application/xhtml+xml" => Names::Html,
        "text/xml" | "application/xml" => Names::Xml,
        _ if essence.ends_with("+xml") => Names::Xml,
        "application/javascript" | "application/yaml" | "application/toml" => Names::Nowhere,
        _ if essence.starts_with("text/") || said.is_json() => Names::Nowhere,
        _ => {
            let text = ContentType::plain_text(got.body.to_vec()).ok()?;
            // What does not say what it is can be a page that says which encoding it has.
            return Some(if is_html(said, &text) { text_of(&got.body, said, Names::Html) } else { text });
        }
    };
    Some(text_of(&got.body, said, names))
}

fn is_html(said: &ContentType, text: &str) -> bool {
    let begins = |start: &str| {
        let text = text.trim_start();
        text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start))
    };
    match said.essence() {
        "text/html" | "application/xhtml+xml" => true,
        "" | "application/octet-stream" => begins("<!doctype html") || begins("<html"),
        _ => false,
    }
}

/// Says where an answer leads that was not followed.
fn elsewhere(got: &Got, to: &str) -> String {
    let (from, code) = (shown(got.url.as_str()), got.status.as_u16());
    if to.is_empty() {
        return format!("HTTP {code}: {from} leads elsewhere and does not say where; go on without it");
    }
    if !to.starts_with("http://") && !to.starts_with("https://") {
        return format!(
            "HTTP {code}: {from} leads to {}, which is not a page of the web; go on without it",
            shown(to)
        );
    }
    let same = url::Url::parse(to).is_ok_and(|to| to.origin() == got.url.origin());
    let why = if same { "again and again" } else { "on another host, or in another way" };
    format!(
        "HTTP {code}: {from} leads to {}, {why}; nothing was read. Call this tool with that address if it is what you want.",
        shown(to)
    )
}

/// Makes an error of an answer that is one.
fn refusal(got: &Got, said: &ContentType) -> ToolError {
    let (from, code) = (shown(got.url.as_str()), got.status.as_u16());
    let reason = got.status.canonical_reason().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let next = match code {
        401 | 403 | 407 => {
            "it needs a login, and there is none here, or it admits no programs; go on without it"
        }
        404 | 410 => "see that the address is right, or look for another",
        429 => "wait before you ask this host again",
        408 | 425 | 500..=599 => "try again later, or go on without it",
        _ => "go on without it",
    };
    let text = readable(got, said).unwrap_or_default();
    let text = if is_html(said, &text) {
        page::read(&text, &got.url, false, Instant::now() + MOST_TIME / 10).markdown
    } else {
        text
    };
    let says: String = Visible::new(text.trim()).to_cow().chars().take(MOST_REFUSAL).collect();
    let says =
        if says.is_empty() { String::new() } else { format!("; it says, in the words of others:\n{says}") };
    let message = format!("{from} answered HTTP {code}{reason}; {next}{says}");
    let error = match code {
        404 | 410 => ToolError::not_found(message),
        401 | 403 | 407 => ToolError::denied(message),
        408 | 425 | 429 | 502..=504 => ToolError::unavailable(message),
        _ => ToolError::new(ToolErrorKind::Failed, message),
    };
    match retry_after(&got.headers) {
        Some(wait) if error.kind() == ToolErrorKind::Unavailable => error.with_retry_after(wait),
        _ => error,
    }
}

fn size(got: &Got) -> String {
    format!("{}{} bytes", if got.is_cut { "more than " } else { "" }, got.body.len())
}

/// An address as it is shown: on one line, without what cannot be seen, and not without end.
fn shown(address: &str) -> String {
    Visible::line(&address[..address.floor_char_boundary(MOST_ADDRESS)]).to_string()
}
