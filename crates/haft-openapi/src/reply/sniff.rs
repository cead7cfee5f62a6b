//! What bytes are, whatever is said of them.

/// Tells the type of an image or a sound by how it begins, and whether it is an image.
pub(super) fn media(bytes: &[u8]) -> Option<(&'static str, bool)> {
    let begins = |start: &[u8]| bytes.starts_with(start);
    let has = |at: usize, part: &[u8]| bytes.get(at..at + part.len()) == Some(part);
    if begins(b"\x89PNG\r\n\x1a\n") {
        Some(("image/png", true))
    } else if begins(b"\xff\xd8\xff") {
        Some(("image/jpeg", true))
    } else if begins(b"GIF87a") || begins(b"GIF89a") {
        Some(("image/gif", true))
    } else if begins(b"RIFF") && has(8, b"WEBP") {
        Some(("image/webp", true))
    } else if begins(b"RIFF") && has(8, b"WAVE") {
        Some(("audio/wav", false))
    } else if begins(b"ID3") {
        Some(("audio/mpeg", false))
    } else if begins(b"OggS") {
        Some(("audio/ogg", false))
    } else if begins(b"fLaC") {
        Some(("audio/flac", false))
    } else {
        None
    }
}
