use super::binary::write_rows;
use super::limits::Room;
use crate::words::{Count, Shown, size};
use haft_core::ToolError;
use haft_workdir::{Error, WorkdirPath};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;

/// How many bytes of a reply a row of 16 bytes in hexadecimal takes.
const ROW_BYTES: usize = 74;

/// Reads some bytes of a file: as text if they are UTF-8, else in hexadecimal.
pub(super) fn read_bytes(
    mut file: File,
    path: &WorkdirPath,
    wanted: Range<u64>,
    room: Room,
) -> Result<(String, Value), ToolError> {
    let unreadable = |source| {
        let error = Error::Io { action: "read", path: path.clone(), source };
        ToolError::failed(error.model_text()).with_source(error)
    };
    let total = file.metadata().map_err(unreadable)?.len();
    let shown = Shown::new(path.as_str());
    if wanted.start >= total && total > 0 || wanted.is_empty() {
        return Err(ToolError::invalid_input(format!(
            "`{shown}` has {} bytes, and none of them are from {} up to {}; use a `byte_range` with 0 ≤ `start` < `end`",
            Count(total),
            Count(wanted.start),
            Count(wanted.end)
        )));
    }
    file.seek(SeekFrom::Start(wanted.start)).map_err(unreadable)?;
    let most = room.bytes;
    let length = (wanted.end - wanted.start).min(most as u64);
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(total)).unwrap_or(most));
    file.take(length).read_to_end(&mut bytes).map_err(unreadable)?;
    let (text, rest) = as_text(&bytes);
    let mut body = String::new();
    let given = if let Some(text) = text {
        let (text, left) = first_lines(text, room.lines());
        body.push('\n');
        body.push_str(text);
        bytes.len() - rest - left
    } else {
        let rows = (most / ROW_BYTES).min(usize::try_from(room.lines()).unwrap_or(usize::MAX));
        let given = bytes.len().min(rows * 16);
        write_rows(&mut body, &bytes[..given], wanted.start);
        given
    };
    let end = wanted.start + given as u64;
    let mut reply =
        format!("{shown}: bytes {} up to {} of {}", Count(wanted.start), Count(end), Count(total));
    if text.is_none() {
        reply.push_str(", no UTF-8 text");
    }
    reply.push_str(&body);
    if end < total.min(wanted.end) {
        // Writing to a string cannot fail.
        let _ = write!(
            reply,
            "\n[{} more of these; continue with `start` {end}]",
            size(total.min(wanted.end) - end)
        );
    }
    Ok((reply, json!({ "path": path.as_str(), "start": wanted.start, "end": end, "bytes": total })))
}

/// Takes so many lines of a text; says how many bytes are left.
fn first_lines(text: &str, lines: u64) -> (&str, usize) {
    let last = usize::try_from(lines.saturating_sub(1)).unwrap_or(usize::MAX);
    let end = memchr::memchr_iter(b'\n', text.as_bytes()).nth(last).map_or(text.len(), |at| at + 1);
    (&text[..end], text.len() - end)
}

/// Takes bytes as text, if they are but for a character that is cut at either end; says how many at the end are not given.
fn as_text(bytes: &[u8]) -> (Option<&str>, usize) {
    let cut = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    let text = match std::str::from_utf8(&bytes[cut..]) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => {
            std::str::from_utf8(&bytes[cut..cut + error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return (None, 0),
    };
    if text.contains(|each: char| each.is_control() && !matches!(each, '\t' | '\n' | '\r')) {
        return (None, 0);
    }
    (Some(text), bytes.len() - cut - text.len())
}
