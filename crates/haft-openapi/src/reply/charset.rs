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
pub(super) fn text(bytes: &[u8], content_type: &str) -> String {
    let said =
        kind::parameter(content_type, "charset").and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = said.unwrap_or_else(|| match std::str::from_utf8(bytes) {
        Ok(_) => UTF_8,
        // Cut within a character.
        Err(error) if error.error_len().is_none() => UTF_8,
        // What browsers take for such a text.
        Err(_) => WINDOWS_1252,
    });
    encoding.decode(bytes).0.into_owned()
}

/// Reads what may be a text: it is one if it is UTF-8 and has no control characters that texts have not.
pub(super) fn utf8(bytes: &[u8], is_cut: bool) -> Option<String> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if is_cut && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let is_odd = |character: char| {
        character.is_ascii_control() && !matches!(character, '\n' | '\r' | '\t' | '\u{c}' | '\u{1b}')
    };
    (!text.contains(is_odd)).then(|| text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())
}

/// Reads a value of JSON.
fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
