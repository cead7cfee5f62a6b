use crate::{CallKey, KeyError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Names one round of a call, 0 for the first: written `<call>:<round>`.
///
/// ```
/// use haft_durable::RoundKey;
///
/// let key: RoundKey = "run-1/3/c1:1".parse()?;
/// assert_eq!((key.call().to_string(), key.round()), ("run-1/3/c1".to_owned(), 1));
/// # Ok::<(), haft_durable::KeyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RoundKey {
    call: CallKey,
    round: u32,
}

impl RoundKey {
    const FORM: &str = "run/turn/call:round";

    /// Names a round of a call.
    pub fn new(call: CallKey, round: u32) -> Self {
        Self { call, round }
    }

    /// The call.
    pub fn call(&self) -> &CallKey {
        &self.call
    }

    /// The round, from 0.
    pub fn round(&self) -> u32 {
        self.round
    }
}

impl fmt::Display for RoundKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.call, self.round)
    }
}

impl FromStr for RoundKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let other = || KeyError::Form { form: Self::FORM };
        let (call, written) = text.rsplit_once(':').ok_or_else(other)?;
        let round: u32 = written.parse().map_err(|_| other())?;
        if round.to_string() != written {
            return Err(other());
        }
        Ok(Self { call: call.parse()?, round })
    }
}

impl Serialize for RoundKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RoundKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_one_spelling() {
        for text in ["", "a/1/b", "a/1/b:", "a/1/b:x", "a/1/b:01", "a/1/b:+1", "a/1/b:4294967296"] {
            let error = text.parse::<RoundKey>().unwrap_err().to_string();
            assert_eq!(error, "a key is written `run/turn/call:round`", "{text}");
        }
        assert_eq!("a/b:0".parse::<RoundKey>().unwrap_err().to_string(), "a key is written `run/turn/call`");
        assert_eq!("a/-/b:0".parse::<RoundKey>().unwrap().to_string(), "a/-/b:0");
    }
}
