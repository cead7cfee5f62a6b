//! Which encoding the text of a file is in, and text in it.

mod decoded;
mod detect;

pub(crate) use decoded::Decoded;
pub(crate) use detect::detect;

use encoding_rs::{EncoderResult, Encoding};
use std::borrow::Cow;

/// The encoding of a file's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextEncoding {
    /// UTF-8, of which single bytes may be none.
    Utf8 { bom: bool, strays: bool },
    /// UTF-16, with the low byte first or last.
    Utf16 { bom: bool, little: bool },
    /// One of those of the encoding standard, in all of which a line feed is the byte 0x0A and nothing else is.
    Legacy(&'static Encoding),
}

impl TextEncoding {
    /// Plain UTF-8.
    pub(crate) const UTF_8: Self = Self::Utf8 { bom: false, strays: false };

    /// Names it: `UTF-8`, `UTF-16LE`, `windows-1252`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Utf8 { .. } => "UTF-8",
            Self::Utf16 { little: true, .. } => "UTF-16LE",
            Self::Utf16 { little: false, .. } => "UTF-16BE",
            Self::Legacy(encoding) => encoding.name(),
        }
    }

    /// The byte order mark at the start of the file; empty where there is none.
    pub(crate) fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 { bom: true, .. } => b"\xef\xbb\xbf",
            Self::Utf16 { bom: true, little: true } => b"\xff\xfe",
            Self::Utf16 { bom: true, little: false } => b"\xfe\xff",
            _ => b"",
        }
    }

    /// Writes text in this encoding, without a mark; fails with the first character that it does not have.
    pub(crate) fn encode(self, text: &str) -> Result<Cow<'_, [u8]>, char> {
        match self {
            Self::Utf8 { .. } => Ok(Cow::Borrowed(text.as_bytes())),
            Self::Utf16 { little, .. } => {
                let bytes = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
                Ok(Cow::Owned(text.encode_utf16().flat_map(bytes).collect()))
            }
            Self::Legacy(encoding) => encode_legacy(encoding, text).map(Cow::Owned),
        }
    }

    /// Reads bytes that stand for whole characters; what is none becomes U+FFFD.
    pub(crate) fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Self::Utf8 { .. } => String::from_utf8_lossy(bytes),
            Self::Utf16 { little, .. } => {
                let encoding = if little { encoding_rs::UTF_16LE } else { encoding_rs::UTF_16BE };
                encoding.decode_without_bom_handling(bytes).0
            }
            Self::Legacy(encoding) => encoding.decode_without_bom_handling(bytes).0,
        }
    }
}

fn encode_legacy(encoding: &'static Encoding, text: &str) -> Result<Vec<u8>, char> {
    let mut encoder = encoding.new_encoder();
    let room = encoder.max_buffer_length_from_utf8_without_replacement(text.len());
    let mut bytes = Vec::with_capacity(room.unwrap_or_default());
    match encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true).0 {
        EncoderResult::InputEmpty => Ok(bytes),
        EncoderResult::Unmappable(character) => Err(character),
        // Only where the room cannot be counted, which a text in memory never comes near.
        EncoderResult::OutputFull => Err(char::REPLACEMENT_CHARACTER),
    }
}
