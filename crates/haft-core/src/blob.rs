use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Holds binary content; its serde form is a standard base64 string.
///
/// Cheap to clone. Equality is equality of the bytes.
///
/// ```
/// use haft_core::Blob;
///
/// let blob = Blob::from(vec![0xff, 0xd8]);
/// assert_eq!(serde_json::to_string(&blob)?, "\"/9g=\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Blob(Bytes);

impl Blob {
    /// Borrows the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Encodes the bytes as standard base64 with padding, as every provider's wire format wants them.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.0)
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl From<Bytes> for Blob {
    fn from(bytes: Bytes) -> Self {
        Self(bytes)
    }
}

/// Shows the size only: blobs are large and unreadable.
impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({} bytes)", self.0.len())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_base64())
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match STANDARD.decode(text) {
            Ok(bytes) => Ok(bytes.into()),
            Err(_) => {
                Err(serde::de::Error::custom("binary content is written as standard base64 with padding"))
            }
        }
    }
}
