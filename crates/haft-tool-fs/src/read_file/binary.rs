use super::slice::HEAD_BYTES;
use crate::lines::line_at;
use crate::words::{Count, Shown, size};
use haft_core::ToolError;
use haft_workdir::WorkdirPath;
use std::fmt::Write as _;
use std::str::Utf8Error;

/// How many bytes of a file that is no text are shown.
const SHOWN_BYTES: usize = 64;

/// Why a file is not text.
#[derive(Debug)]
pub(super) enum NotText {
    /// It has zero bytes near its start, or starts like a known kind of file.
    Binary,
    /// A line has bytes that are not UTF-8.
    NotUtf8 { line: u64, byte: u8 },
}

/// Kinds of files by the bytes they start with.
const KINDS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"BM", "a BMP image"),
    (b"\0\0\x01\0", "an icon"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or a document or package in that form)"),
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"BZh", "bzip2-compressed data"),
    (b"\xfd7zXZ\0", "xz-compressed data"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", "an ELF program or library"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"),
    (b"MZ", "a Windows program or library"),
    (b"\0asm", "a WebAssembly module"),
    (b"!<arch>\n", "a static library"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"OggS", "an Ogg sound or film"),
    (b"ID3", "an MP3 sound"),
    (b"fLaC", "a FLAC sound"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"\0\x01\0\0", "a font"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
];

/// Tells, by how a file starts, whether it is not text.
pub(super) fn binary(start: &[u8]) -> Option<NotText> {
    let head = &start[..start.len().min(HEAD_BYTES)];
    if head.contains(&0) {
        return Some(NotText::Binary);
    }
    let error = std::str::from_utf8(head).err()?;
    // The last character may go on behind the head.
    if error.error_len().is_none() && head.len() < start.len() {
        return None;
    }
    if kind(head).is_some() {
        return Some(NotText::Binary);
    }
    let line = line_at(head, error.valid_up_to());
    Some(not_utf8(line, head, error))
}

/// Says which byte of a line is not UTF-8.
pub(super) fn not_utf8(line: u64, bytes: &[u8], error: Utf8Error) -> NotText {
    NotText::NotUtf8 { line, byte: bytes.get(error.valid_up_to()).copied().unwrap_or_default() }
}

fn kind(head: &[u8]) -> Option<&'static str> {
    let container = |at: usize, mark: &[u8]| head.get(at..).is_some_and(|rest| rest.starts_with(mark));
    if head.starts_with(b"RIFF") && container(8, b"WEBP") {
        return Some("a WebP image");
    }
    if head.starts_with(b"RIFF") && container(8, b"WAVE") {
        return Some("a WAV sound");
    }
    if container(4, b"ftyp") {
        return Some("an MP4 film or an image of its family");
    }
    if container(257, b"ustar") {
        return Some("a tar archive");
    }
    KINDS.iter().find(|(mark, _)| head.starts_with(mark)).map(|(_, kind)| *kind)
}

/// Tells the model what the file is instead of text, and what to do with it.
pub(super) fn refusal(path: &WorkdirPath, not_text: &NotText, bytes: u64, head: &[u8]) -> ToolError {
    let path = Shown::new(path.as_str());
    let kind = kind(head);
    let (what, next) = match (not_text, kind) {
        (_, Some(kind @ "UTF-16 text")) => (
            format!("is not UTF-8 but {kind}"),
            "convert it with a command such as `iconv -f UTF-16 -t UTF-8`, then read the result",
        ),
        (NotText::Binary, kind) => (
            format!("is not text but {}", kind.unwrap_or("binary data")),
            "look at it with a command such as `file` or `xxd`, or with a program for this kind of file",
        ),
        (NotText::NotUtf8 { line, byte }, _) => (
            format!("is not UTF-8 text: line {} has the byte {byte:#04x}", Count(*line)),
            "convert it with a command such as `iconv -f LATIN1 -t UTF-8`, then read the result",
        ),
    };
    let mut text = format!("`{path}` {what}; {}", size(bytes));
    // Of a text in another encoding the start says little, and nothing where the byte is far behind it.
    if matches!(not_text, NotText::Binary) {
        text.push_str(", starting with");
        write_rows(&mut text, &head[..head.len().min(SHOWN_BYTES)]);
    }
    text.push('\n');
    text.push_str(next);
    ToolError::invalid_input(text)
}

/// Writes bytes in rows of 16, in hexadecimal and as characters.
fn write_rows(text: &mut String, bytes: &[u8]) {
    for (row, bytes) in bytes.chunks(16).enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{:04x} ", row * 16);
        for byte in bytes {
            let _ = write!(text, " {byte:02x}");
        }
        text.push_str(&"   ".repeat(16 - bytes.len()));
        text.push_str("  ");
        text.extend(
            bytes.iter().map(|byte| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' }),
        );
    }
}
