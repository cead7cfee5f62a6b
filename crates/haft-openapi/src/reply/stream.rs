//! Listens to a stream of events.

use super::Asked;
use super::body::{Broken, next};
use super::events::Events;
use haft_core::{ToolError, ToolOutput};
use haft_http::Body;
use std::fmt::Write as _;
use tokio::time::{Instant, timeout_at};

/// The most bytes of one event.
const MOST_EVENT_BYTES: usize = 1 << 20;

/// The most bytes of the last events that people are shown meanwhile.
const MOST_SHOWN_BYTES: usize = 8 << 10;

/// Listens until the stream ends, or until the time or the bytes are spent; then what came is the reply.
pub(super) async fn listen(asked: &Asked<'_>, mut body: Body) -> Result<ToolOutput, ToolError> {
    let limits = asked.tool.shared.limits;
    let until = Instant::now() + limits.stream;
    let (mut events, mut text, mut count, mut read) = (Events::default(), String::new(), 0_u64, 0_usize);
    let why = loop {
        let piece = match timeout_at(until, next(&mut body, limits.stream)).await {
            Err(_) | Ok(Err(Broken::Idle(_))) => {
                break Some(format!("it was listened to for {} s, and it goes on", limits.stream.as_secs()));
            }
            Ok(Err(Broken::Http(_))) => break Some("the connection broke".to_owned()),
            Ok(Ok(None)) => break None,
            Ok(Ok(Some(piece))) => piece,
        };
        read += piece.len();
        let before = text.len();
        events.take(&piece, |event| {
            count += 1;
            let named = if event.name.is_empty() { String::new() } else { format!("{}: ", event.name) };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{named}{}", event.data);
        });
        if text.len() > before {
            asked
                .cx
                .update(|| ToolOutput::text(asked.tool.shared.redactor.redact_tail(&text, MOST_SHOWN_BYTES)));
        } else {
            asked.cx.progress(format!("{count} events"));
        }
        if events.kept() > MOST_EVENT_BYTES {
            break Some(format!("one event has more than {MOST_EVENT_BYTES} bytes"));
        }
        if read >= limits.most_bytes {
            break Some(format!("{read} bytes were read, and it goes on"));
        }
    };
    let word = if count == 1 { "event" } else { "events" };
    let _ = match why {
        None => write!(text, "[the stream ended after {count} {word}]"),
        Some(why) => write!(text, "[the stream was left after {count} {word}: {why}]"),
    };
    Ok(ToolOutput::text(text))
}
