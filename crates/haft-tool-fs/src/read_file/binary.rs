use crate::words::{Shown, size};
use haft_workdir::WorkdirPath;
use std::fmt::Write as _;

/// How many bytes of a file that is no text are shown.
const SHOWN_BYTES: usize = 64;

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
    (b"\xff\xfe\0\0", "UTF-32 text"),
    (b"\0\0\xfe\xff", "UTF-32 text"),
];

/// Tells what kind of file starts so.
pub(super) fn kind(head: &[u8]) -> Option<&'static str> {
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

/// Tells the model what a file is that is no text, and what to do with it.
pub(super) fn describe(path: &WorkdirPath, bytes: u64, head: &[u8]) -> String {
    let mut text = format!(
        "{}: {}, not text but {}; it starts with",
        Shown::new(path.as_str()),
        size(bytes),
        kind(head).unwrap_or("binary data")
    );
    write_rows(&mut text, &head[..head.len().min(SHOWN_BYTES)], 0);
    text.push_str("\n[look at more of it with `byte_range`, or with a program for this kind of file]");
    text
}

/// Writes bytes in rows of 16, in hexadecimal and as characters, with their places.
pub(super) fn write_rows(text: &mut String, bytes: &[u8], start: u64) {
    for (row, bytes) in bytes.chunks(16).enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{:04x} ", start + row as u64 * 16);
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
