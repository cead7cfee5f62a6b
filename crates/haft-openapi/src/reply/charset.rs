//! Bytes as text.

use super::kind;
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use serde_json::Value;

/// From how many bytes on JSON is read where that holds up nobody else.
const HEAVY: usize = 1 << 20;

/// Reads JSON, which is of UTF-8 unless it begins by saying otherwise; the bytes stay as they are.
pub(super) async fn json(bytes: &mut Vec<u8>) -> Result<Value, String> {
    if bytes.len() < HEAVY {
        return read_json(bytes);
    }
    let taken = std::mem::take(bytes);
    let read = tokio::task::spawn_blocking(move || {
        let read = read_json(&taken);
        (read, taken)
    });
    // Only a runtime that is shutting down does not let it end.
    let (read, taken) = read.await.unwrap_or_else(|_| (Err("it was not read".to_owned()), Vec::new()));
    *bytes = taken;
    read
}

fn read_json(bytes: &[u8]) -> Result<Value, String> {
    match Encoding::for_bom(bytes) {
        None => match std::str::from_utf8(bytes) {
            Ok(text) => parsed(text),
            Err(error) => Err(format!("it is not UTF-8 from byte {} on", error.valid_up_to())),
        },
        Some((encoding, mark)) => parsed(&encoding.decode_without_bom_handling(&bytes[mark..]).0),
    }
}

/// Reads a text in the encoding that it says, or that it is plainly in; what cannot be read becomes `U+FFFD`.
pub(super) fn text(bytes: Vec<u8>, content_type: &str) -> String {
    let said =
        kind::parameter(content_type, "charset").and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = match said {
        Some(encoding) if encoding != UTF_8 => encoding,
        said => match unmarked(bytes) {
            Ok(text) => return text,
            // What browsers take for a text that does not say what it is.
            Err(bytes) => return decoded(said.unwrap_or(WINDOWS_1252), &bytes),
        },
    };
    decoded(encoding, &bytes)
}

fn decoded(encoding: &'static Encoding, bytes: &[u8]) -> String {
    encoding.decode(bytes).0.into_owned()
}

/// Takes bytes for the UTF-8 that they are, without a copy; a character that is cut at the end is left out.
fn unmarked(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if Encoding::for_bom(&bytes).is_some() {
        return Err(bytes);
    }
    String::from_utf8(bytes).or_else(|error| {
        let is_cut = error.utf8_error().error_len().is_none();
        let valid = error.utf8_error().valid_up_to();
        let mut bytes = error.into_bytes();
        if !is_cut {
            return Err(bytes);
        }
        bytes.truncate(valid);
        String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
    })
}

/// Takes what may be a text for one if it is UTF-8 and has no control characters that texts have not.
pub(super) fn utf8(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    let text = match Encoding::for_bom(&bytes) {
        Some((encoding, _)) => decoded(encoding, &bytes),
        None => unmarked(bytes)?,
    };
    let is_odd = |character: char| {
        character.is_ascii_control() && !matches!(character, '\n' | '\r' | '\t' | '\u{c}' | '\u{1b}')
    };
    if text.contains(is_odd) { Err(text.into_bytes()) } else { Ok(text) }
}

/// Reads a value of JSON.
fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
