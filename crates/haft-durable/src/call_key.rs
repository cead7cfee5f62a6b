use haft_core::{CallId, IdError, RunId};
use haft_tools_core::CallScope;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// What stays as it is in a part of a key, so that keys can be read and stand in paths and headers.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Stands for a turn that nobody named.
const NO_TURN: &str = "-";

/// Names a call among all calls of all runs: its run, the turn if that is known, and the id that the model gave it.
///
/// The same call has the same key whoever makes it, so that a client which died finds it again. Models name their calls
/// within one message only, so a host that [names turns](CallScope::with_turn) need not see to it that ids differ; one that
/// does not must.
///
/// It is written `run/turn/call`, each part percent-encoded and at most 1 KiB of ASCII long.
///
/// ```
/// use haft_durable::CallKey;
/// use haft_tools_core::CallScope;
///
/// let key = CallKey::new(&CallScope::new("run 1".parse()?).with_turn(2), "c/1".parse()?);
/// assert_eq!(key.to_string(), "run%201/2/c%2F1");
/// assert_eq!("run%201/2/c%2F1".parse::<CallKey>()?, key);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKey {
    run: RunId,
    turn: Option<u32>,
    call: CallId,
}

/// Says why a text is not a key.
///
/// ```
/// use haft_durable::{CallKey, KeyError};
///
/// let error = "run-1/c1".parse::<CallKey>().unwrap_err();
/// assert_eq!(error, KeyError::Form { form: "run/turn/call" });
/// assert_eq!(error.to_string(), "a key is written `run/turn/call`");
///
/// let error = "run-1/3/".parse::<CallKey>().unwrap_err();
/// assert_eq!(error.to_string(), "the call of the key is not one");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It does not have its parts.
    #[error("a key is written `{form}`")]
    Form {
        /// How one is written.
        form: &'static str,
    },
    /// A part is no identifier.
    #[error("the {part} of the key is not one")]
    Part {
        /// Which.
        part: &'static str,
        /// Why.
        source: IdError,
    },
}

impl CallKey {
    const FORM: &str = "run/turn/call";

    /// Names the call of this id that is made in a scope.
    pub fn new(scope: &CallScope, call: CallId) -> Self {
        Self { run: scope.run().clone(), turn: scope.turn(), call }
    }

    /// The run that makes the call.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The turn in which it is made, from 1, if that is known.
    pub fn turn(&self) -> Option<u32> {
        self.turn
    }

    /// What the model called it.
    pub fn call(&self) -> &CallId {
        &self.call
    }
}

/// Writes an identifier so that it is one part of a key.
fn encoded(text: &str) -> impl fmt::Display + '_ {
    utf8_percent_encode(text, PART)
}

/// Reads a part of a key; one of another spelling than is written is none, so that a key has one spelling.
fn decoded<T: FromStr<Err = IdError>>(text: &str, part: &'static str) -> Result<T, KeyError> {
    let other = || KeyError::Form { form: CallKey::FORM };
    let plain = percent_decode_str(text).decode_utf8().map_err(|_| other())?;
    if encoded(&plain).to_string() != text {
        return Err(other());
    }
    plain.parse().map_err(|source| KeyError::Part { part, source })
}

impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", encoded(self.run.as_str()))?;
        match self.turn {
            Some(turn) => write!(f, "{turn}/")?,
            None => write!(f, "{NO_TURN}/")?,
        }
        write!(f, "{}", encoded(self.call.as_str()))
    }
}

impl FromStr for CallKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let other = || KeyError::Form { form: Self::FORM };
        let mut parts = text.split('/');
        let (Some(run), Some(turn), Some(call), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(other());
        };
        let turn = match turn {
            NO_TURN => None,
            written => {
                let turn: u32 = written.parse().map_err(|_| other())?;
                if turn.to_string() != written {
                    return Err(other());
                }
                Some(turn)
            }
        };
        Ok(Self { run: decoded(run, "run")?, turn, call: decoded(call, "call")? })
    }
}

impl Serialize for CallKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CallKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(text.parse::<CallKey>().unwrap_err().to_string(), expected, "{text}");
    }

    #[test]
    fn has_one_spelling() {
        let form = "a key is written `run/turn/call`";
        for text in
            ["", "a", "a/1", "a/1/b/c", "a/x/b", "a/01/b", "a/+1/b", "a/1/%41", "a/1/%2f", "a/1/ü", "a/1/%FF"]
        {
            check(text, form);
        }
        check("/1/b", "the run of the key is not one");
        check("a/1/%00", "the call of the key is not one");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(run in "\\PC{1,40}", turn in any::<Option<u32>>(), call in "\\PC{1,40}") {
            prop_assume!(run.len() <= 256 && call.len() <= 256);
            let (Ok(run), Ok(call)) = (run.parse::<RunId>(), call.parse::<CallId>()) else { return Ok(()) };
            let scope = CallScope::new(run);
            let scope = match turn { Some(turn) => scope.with_turn(turn), None => scope };
            let key = CallKey::new(&scope, call);
            prop_assert_eq!(key.to_string().parse::<CallKey>(), Ok(key.clone()));
            prop_assert!(key.to_string().bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert!(!key.to_string().contains(':'));
        }

        #[test]
        fn no_text_breaks_it(text in "\\PC*") {
            if let Ok(key) = text.parse::<CallKey>() {
                prop_assert_eq!(key.to_string(), text);
            }
        }
    }
}
