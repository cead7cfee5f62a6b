use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::borrow::Borrow;
use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;

/// The most characters a tool name may have: the limit of the strictest provider.
const MAX_CHARACTERS: usize = 64;

/// The hexadecimal digits of the suffix that [`ToolName::project`] adds, after an underscore.
const SUFFIX_DIGITS: usize = 12;

/// Names a tool towards a model: 1 to 64 characters of `[A-Za-z0-9_-]`.
///
/// This is the rule of the strictest provider, so a name that parses here can be sent to any of them. Cheap to clone.
///
/// ```
/// use haft_core::ToolName;
///
/// let name: ToolName = "read_file".parse()?;
/// assert_eq!(name.as_str(), "read_file");
/// assert!("read file".parse::<ToolName>().is_err());
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(Arc<str>);

/// Says why a text is not a tool name.
///
/// ```
/// use haft_core::ToolName;
///
/// let error = "read file".parse::<ToolName>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"the tool name "read file" holds ' '; use letters, digits, `_` and `-` only"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// The text has no characters.
    #[error("a tool name cannot be empty")]
    Empty,
    /// The text is longer than 64 characters.
    #[error("the tool name `{name}` has {length} characters; at most {MAX_CHARACTERS} are allowed")]
    TooLong {
        /// The start of the text.
        name: String,
        /// Its length in characters.
        length: usize,
    },
    /// The text has a character outside `[A-Za-z0-9_-]`.
    #[error("the tool name {name:?} holds {character:?}; use letters, digits, `_` and `-` only")]
    Character {
        /// The start of the text.
        name: String,
        /// The first such character.
        character: char,
    },
}

impl ToolName {
    /// Borrows the name's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Turns any text into a valid name, the same one every time and a different one for every text.
    ///
    /// A valid name stays as it is. Anything else has its invalid characters replaced by `_`, is shortened, and gets a
    /// suffix of 12 hexadecimal digits of the SHA-256 of the whole text, so that `a b` and `a.b` stay apart. A valid
    /// name that already ends in what looks like such a suffix gets one too: nobody can choose a name that equals the
    /// projection of another, short of finding two texts with the same 48 bits of hash. Keep the exact text in
    /// [`Origin`](crate::Origin).
    ///
    /// ```
    /// use haft_core::ToolName;
    ///
    /// assert_eq!(ToolName::project("create_issue").as_str(), "create_issue");
    /// assert_eq!(ToolName::project("créer un ticket").as_str(), "cr_er_un_ticket_eebac1f5dbe7");
    /// ```
    pub fn project(foreign: &str) -> Self {
        if validate(foreign).is_ok() && !ends_in_suffix(foreign) {
            return Self(foreign.into());
        }
        marked(foreign, MAX_CHARACTERS)
    }

    /// Makes a name of at most so many characters of this one, the same one every time and a different one for every name.
    ///
    /// For where names are put behind others' prefixes. A name that is short enough stays as it is; any other keeps its
    /// beginning and gets a suffix, as [`ToolName::project`] adds it. A short name that already ends in what looks like such
    /// a suffix gets one too, so shortening what was shortened makes yet another name: keep which is which. `most` counts
    /// as 14 where it is less, and as 64 where it is more.
    ///
    /// ```
    /// use haft_core::ToolName;
    ///
    /// let name: ToolName = "github__list_pull_request_review_comments".parse()?;
    /// assert_eq!(name.shortened(40).as_str(), "github__list_pull_request_r_f5756b184605");
    /// assert_eq!(name.shortened(64), name);
    /// # Ok::<(), haft_core::NameError>(())
    /// ```
    #[must_use]
    pub fn shortened(&self, most: usize) -> Self {
        let most = most.clamp(SUFFIX_DIGITS + 2, MAX_CHARACTERS);
        if self.0.len() <= most && !ends_in_suffix(&self.0) { self.clone() } else { marked(&self.0, most) }
    }
}

/// Makes a name of the beginning of a text and of its hash.
fn marked(text: &str, most: usize) -> ToolName {
    let room = most - SUFFIX_DIGITS - 1;
    let mut name: String = text
        .chars()
        .take(room)
        .map(|character| if is_allowed(character) { character } else { '_' })
        .collect();
    name.push('_');
    for byte in Sha256::digest(text.as_bytes()).iter().take(SUFFIX_DIGITS / 2) {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    ToolName(name.into())
}

fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '-'
}

fn validate(text: &str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if let Some(character) = text.chars().find(|character| !is_allowed(*character)) {
        return Err(NameError::Character { name: start_of(text), character });
    }
    if text.len() > MAX_CHARACTERS {
        return Err(NameError::TooLong { name: start_of(text), length: text.len() });
    }
    Ok(())
}

/// Cuts a text to what fits an error message.
fn start_of(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn ends_in_suffix(name: &str) -> bool {
    name.len().checked_sub(SUFFIX_DIGITS + 1).is_some_and(|start| {
        let suffix = &name.as_bytes()[start..];
        suffix[0] == b'_' && suffix[1..].iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

impl FromStr for ToolName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        validate(text)?;
        Ok(Self(text.into()))
    }
}

/// Lets a map that is keyed by names be asked with a plain text.
impl Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ToolName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolName({:?})", self.as_str())
    }
}

impl Serialize for ToolName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for ToolName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
