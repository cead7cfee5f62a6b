//! Bytes as JSON.

use encoding_rs::Encoding;
use serde_json::Value;

/// From how many bytes on JSON is read where that holds up nobody else.
const HEAVY: usize = 1 << 20;

/// Reads JSON, which is of UTF-8 unless it begins by saying otherwise; the bytes stay as they are.
pub(super) async fn read(bytes: &mut Vec<u8>) -> Result<Value, String> {
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

/// Reads a value of JSON.
fn parsed(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
