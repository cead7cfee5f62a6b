use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The most bytes an identifier may have.
const MAX_BYTES: usize = 256;

/// Says why a text is not an identifier.
///
/// ```
/// use haft_core::{CallId, IdError};
///
/// assert_eq!("".parse::<CallId>(), Err(IdError::Empty));
/// assert_eq!("a\nb".parse::<CallId>(), Err(IdError::Control { character: '\n' }));
/// assert_eq!("a".repeat(300).parse::<CallId>(), Err(IdError::TooLong { length: 300 }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The text has no characters.
    #[error("an identifier cannot be empty")]
    Empty,
    /// The text is longer than 256 bytes.
    #[error("an identifier has at most {MAX_BYTES} bytes, not {length}")]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// The text has a control character.
    #[error("an identifier cannot hold the control character {character:?}")]
    Control {
        /// The first such character.
        character: char,
    },
}

fn check(text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    if text.len() > MAX_BYTES {
        return Err(IdError::TooLong { length: text.len() });
    }
    match text.chars().find(|character| character.is_control()) {
        Some(character) => Err(IdError::Control { character }),
        None => Ok(()),
    }
}

macro_rules! identifier {
    ($(#[$docs:meta])* $name:ident) => {
        $(#[$docs])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Borrows the identifier's text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                check(text)?;
                Ok(Self(text.into()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?})", stringify!($name), self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

identifier! {
    /// Names one tool call; the model chose it, and the reply repeats it.
    ///
    /// Any text of 1 to 256 bytes without control characters. Cheap to clone.
    ///
    /// ```
    /// use haft_core::CallId;
    ///
    /// let id: CallId = "toolu_01A".parse()?;
    /// assert_eq!(id.as_str(), "toolu_01A");
    /// assert!("".parse::<CallId>().is_err());
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    CallId
}

identifier! {
    /// Names one run: one agent working on one task.
    ///
    /// Any text of 1 to 256 bytes without control characters. Cheap to clone.
    ///
    /// ```
    /// use haft_core::RunId;
    ///
    /// let id: RunId = "run-7".parse()?;
    /// assert_eq!(id.to_string(), "run-7");
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    RunId
}

identifier! {
    /// Names one output that was stored whole because a reply could not hold it.
    ///
    /// Any text of 1 to 256 bytes without control characters. Cheap to clone. It says nothing by itself: a store gives
    /// the output only to the run it was stored for, and to those next to it.
    ///
    /// ```
    /// use haft_core::OutputId;
    ///
    /// let id: OutputId = "o7".parse()?;
    /// assert_eq!(id.to_string(), "o7");
    /// # Ok::<(), haft_core::IdError>(())
    /// ```
    OutputId
}
