use crate::EncodeError;
use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use serde_json::Value;

/// Takes base64 with and without padding, since models write both.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Is a file that stands in an argument.
#[derive(Debug)]
pub(super) struct File<'a> {
    pub(super) bytes: Bytes,
    pub(super) name: Option<&'a str>,
    pub(super) content_type: Option<&'a str>,
}

/// Reads a file: a text, or an object with `base64`.
pub(super) fn file<'a>(value: &'a Value, pointer: &str) -> Result<File<'a>, EncodeError> {
    let text = |member: &str| value.get(member).and_then(Value::as_str);
    match value {
        Value::String(text) => {
            Ok(File { bytes: Bytes::copy_from_slice(text.as_bytes()), name: None, content_type: None })
        }
        Value::Object(_) => {
            let refused = |why: &str| EncodeError::argument(format!("{pointer}/base64"), why);
            let encoded = text("base64").ok_or_else(|| refused("it is required, and a text"))?;
            let encoded: String =
                encoded.chars().filter(|character| !character.is_ascii_whitespace()).collect();
            let bytes = BASE64.decode(encoded).map_err(|_| refused("it is not base64"))?;
            let is_media_type = |text: &&str| {
                text.len() <= 200
                    && text.contains('/')
                    && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
            };
            let content_type = text("content_type").filter(is_media_type);
            Ok(File { bytes: bytes.into(), name: text("filename"), content_type })
        }
        other => Ok(File { bytes: Bytes::from(other.to_string()), name: None, content_type: None }),
    }
}
