use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// Identifies a JSON value by its SHA-256; printed as 64 hexadecimal digits.
///
/// Two values have the same digest when they are equal as JSON: the order in which an object's members were written
/// does not count. Numbers count as they are written: `1` is not `1.0`, nor `0.0` `-0.0`. Approvals and pins are bound to
/// digests.
///
/// ```
/// use haft_core::Digest;
/// use serde_json::json;
///
/// let digest = Digest::of(&json!({ "path": "a", "limit": 5 }));
/// assert_eq!(digest, Digest::of(&json!({ "limit": 5, "path": "a" })));
/// assert_eq!(digest.to_string().parse(), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Says that a text is not a digest.
///
/// ```
/// use haft_core::{Digest, DigestError};
///
/// assert_eq!("sha256:6a09".parse::<Digest>(), Err(DigestError));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a digest is written as 64 hexadecimal digits")]
pub struct DigestError;

impl Digest {
    /// Digests a JSON value; costs one SHA-256 over it and a sorted list of keys per object.
    pub fn of(value: &Value) -> Self {
        let mut hasher = Sha256::new();
        feed(&mut hasher, value);
        Self(hasher.finalize().into())
    }

    /// Digests an object of these members, which need not be put together for it; no two may have the same name.
    ///
    /// ```
    /// use haft_core::Digest;
    /// use serde_json::json;
    ///
    /// let input = json!({ "path": "a" });
    /// let whole = Digest::of(&json!({ "tool": "read_file", "input": { "path": "a" } }));
    /// assert_eq!(Digest::of_members([("tool", &json!("read_file")), ("input", &input)]), whole);
    /// ```
    pub fn of_members<'a>(members: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Self {
        let mut hasher = Sha256::new();
        feed_members(&mut hasher, members.into_iter().collect());
        Self(hasher.finalize().into())
    }

    /// Borrows the 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Writes the digits; each call has two digests in its records, so they are written at once.
    fn digits<'a>(&self, into: &'a mut [u8; 64]) -> &'a str {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for (pair, byte) in into.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        std::str::from_utf8(into).unwrap_or_default()
    }
}

/// Feeds a value in a form in which no two different values read the same: a tag, a length where one is needed, the
/// content, with object members sorted by key.
fn feed(hasher: &mut Sha256, value: &Value) {
    let mut sized = |tag: u8, length: usize| {
        hasher.update([tag]);
        hasher.update((length as u64).to_le_bytes());
    };
    match value {
        Value::Null => hasher.update(b"n"),
        Value::Bool(false) => hasher.update(b"f"),
        Value::Bool(true) => hasher.update(b"t"),
        Value::Number(number) => {
            let text = number.to_string();
            sized(b'#', text.len());
            hasher.update(text.as_bytes());
        }
        Value::String(text) => {
            sized(b'"', text.len());
            hasher.update(text.as_bytes());
        }
        Value::Array(items) => {
            sized(b'[', items.len());
            for item in items {
                feed(hasher, item);
            }
        }
        Value::Object(members) => {
            feed_members(hasher, members.iter().map(|(key, member)| (key.as_str(), member)).collect());
        }
    }
}

fn feed_members(hasher: &mut Sha256, mut members: Vec<(&str, &Value)>) {
    hasher.update([b'{']);
    hasher.update((members.len() as u64).to_le_bytes());
    members.sort_unstable_by_key(|(key, _)| *key);
    for (key, member) in members {
        hasher.update((key.len() as u64).to_le_bytes());
        hasher.update(key.as_bytes());
        feed(hasher, member);
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let digits = text.as_bytes();
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(DigestError);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| DigestError)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| DigestError)?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.digits(&mut [0; 64]))
    }
}

/// Shows the first eight digits, enough to tell digests apart in a log.
impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({}…)", &self.digits(&mut [0; 64])[..8])
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.digits(&mut [0; 64]))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
