use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

/// How many bytes are hashed at once.
const BUFFER_BYTES: usize = 64 * 1024;

/// Names a content by its SHA-256; written as 64 hexadecimal digits.
///
/// ```
/// use haft_workdir::ContentDigest;
///
/// let digest = ContentDigest::of_parts(&[b"ab", b"c"]);
/// assert_eq!(digest, ContentDigest::of_parts(&[b"abc"]));
/// assert_eq!(digest.to_string().parse(), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentDigest([u8; 32]);

/// Says that a text is not the digest of a content.
///
/// ```
/// use haft_workdir::{ContentDigest, ContentDigestError};
///
/// let error: ContentDigestError = "abc123".parse::<ContentDigest>().unwrap_err();
/// assert_eq!(error.to_string(), "the digest of a content is 64 hexadecimal digits");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the digest of a content is 64 hexadecimal digits")]
pub struct ContentDigestError;

impl ContentDigest {
    /// Names a content that is in parts, one behind the other.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// Names what is left to read of a content, with how many bytes that was.
    pub(crate) fn of_reader(mut reader: impl Read) -> io::Result<(Self, u64)> {
        let mut hash = Sha256::new();
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut bytes = 0;
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok((Self(hash.finalize().into()), bytes)),
                Ok(read) => {
                    hash.update(&buffer[..read]);
                    bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentDigest({self})")
    }
}

impl FromStr for ContentDigest {
    type Err = ContentDigestError;

    fn from_str(text: &str) -> Result<Self, ContentDigestError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(ContentDigestError);
        }
        let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let mut digest = [0; 32];
        for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
            let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else {
                return Err(ContentDigestError);
            };
            *byte = high << 4 | low;
        }
        Ok(Self(digest))
    }
}

impl Serialize for ContentDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
