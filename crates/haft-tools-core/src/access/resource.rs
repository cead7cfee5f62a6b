use haft_core::is_hidden;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;

/// Names a kind of resource: lower-case letters, digits and `-`, starting with a letter.
///
/// Each domain owns its schemes as constants, so a misspelt one does not compile.
///
/// ```
/// use haft_tools_core::Scheme;
///
/// const FILE: Scheme = Scheme::new("file");
/// assert_eq!(FILE.as_str(), "file");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scheme(Cow<'static, str>);

impl Scheme {
    /// Names a scheme in a constant.
    ///
    /// # Panics
    ///
    /// When the text is not a scheme; in a `const`, as it is meant to be used, this is a compile error.
    pub const fn new(name: &'static str) -> Self {
        assert!(is_scheme(name), "a scheme is lower-case letters, digits and `-`, starting with a letter");
        Self(Cow::Borrowed(name))
    }

    /// Borrows the scheme's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_scheme(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut index = 1;
    while index < bytes.len() {
        if !matches!(bytes[index], b'a'..=b'z' | b'0'..=b'9' | b'-') {
            return false;
        }
        index += 1;
    }
    true
}

/// Names something a call can touch: a file, a directory with all below it, a host, a command, a remote tool.
///
/// A resource is a scheme and a path of segments divided by `/`. It stands for exactly that path
/// ([`Resource::exact`]), or for the path and everything below it ([`Resource::subtree`]). Which paths a scheme has is
/// the business of its domain; all that is known here is that a subtree contains what lies below it.
///
/// The printed form is what people read in questions and logs, and what [`FromStr`] reads back: `file:src/lib.rs`,
/// `file:src/**`, `file:**`, and `file:.` for an empty path, which is where all others of the scheme begin. A `*`, a `\`, and
/// a character that cannot be seen or turns others around is printed escaped, and so is a path that is a dot, so that no path
/// looks like a subtree or like another path.
///
/// ```
/// use haft_tools_core::{Resource, Scheme};
///
/// const FILE: Scheme = Scheme::new("file");
/// let sources = Resource::subtree(FILE, "src");
/// assert!(sources.contains(&Resource::exact(FILE, "src/lib.rs")));
/// assert!(!sources.contains(&Resource::exact(FILE, "src2/lib.rs")));
/// assert_eq!(sources.to_string(), "file:src/**");
/// assert_eq!("file:src/**".parse(), Ok(sources));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource {
    scheme: Scheme,
    path: Box<str>,
    subtree: bool,
}

/// Says why a text is not a resource.
///
/// ```
/// use haft_tools_core::Resource;
///
/// let error = "src/lib.rs".parse::<Resource>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "a resource starts with a scheme and a colon, as in `file:src/lib.rs`; `src/lib.rs` does not",
/// );
/// assert!("file:src/lib.rs".parse::<Resource>().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceError {
    /// The text does not start with a scheme and a colon.
    #[error("a resource starts with a scheme and a colon, as in `file:src/lib.rs`; `{text}` does not")]
    Scheme {
        /// The text.
        text: String,
    },
    /// The path has a backslash that escapes nothing, or a `*` that is neither escaped nor the final `**`.
    #[error(
        "the resource `{text}` holds a bare `{found}`; write `\\{found}` for the character, or end in `/**` for a subtree"
    )]
    Escape {
        /// The text.
        text: String,
        /// What was found.
        found: char,
    },
}

impl Resource {
    /// Names exactly the path, as it is: nothing in it is special.
    pub fn exact(scheme: Scheme, path: impl Into<Box<str>>) -> Self {
        Self { scheme, path: path.into(), subtree: false }
    }

    /// Names the path and everything below it; an empty path is everything of the scheme.
    pub fn subtree(scheme: Scheme, path: impl Into<Box<str>>) -> Self {
        Self { scheme, path: path.into(), subtree: true }
    }

    /// The kind of resource.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The path, unescaped and without the `**` of a subtree.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Tells whether everything below the path is meant too.
    pub fn is_subtree(&self) -> bool {
        self.subtree
    }

    /// Tells whether everything that `other` stands for is part of this.
    pub fn contains(&self, other: &Self) -> bool {
        Extent::of(self).contains(Extent::of(other))
    }

    /// Tells whether the two have anything in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        Extent::of(self).overlaps(Extent::of(other))
    }

    /// Tells whether the other's path is this one or lies below it.
    pub(super) fn is_above(&self, other: &Self) -> bool {
        Extent::of(self).is_above(Extent::of(other))
    }
}

/// Is what an access reaches as far as ordering goes: its resource, or a wider place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent<'a> {
    pub(crate) scheme: &'a Scheme,
    pub(crate) path: &'a str,
    /// Whether everything below the path is meant too.
    pub(crate) subtree: bool,
}

impl<'a> Extent<'a> {
    pub(super) fn of(resource: &'a Resource) -> Self {
        Self { scheme: &resource.scheme, path: &resource.path, subtree: resource.subtree }
    }

    /// The place that so many bytes of the resource's path name, with everything below it.
    pub(super) fn above(resource: &'a Resource, bytes: usize) -> Self {
        // A place whose name cannot be told is all of the scheme.
        let path = resource.path.get(..bytes).unwrap_or_default();
        Self { scheme: &resource.scheme, path, subtree: true }
    }

    fn contains(self, other: Self) -> bool {
        self.scheme == other.scheme
            && if self.subtree { self.covers(other.path) } else { !other.subtree && self.path == other.path }
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.contains(other) || other.contains(self)
    }

    /// Tells whether the other's path is this one or lies below it.
    pub(super) fn is_above(self, other: Self) -> bool {
        self.scheme == other.scheme && self.covers(other.path)
    }

    fn covers(self, path: &str) -> bool {
        if self.path.is_empty() {
            return true;
        }
        path.strip_prefix(self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scheme.as_str())?;
        f.write_char(':')?;
        match (&*self.path, self.subtree) {
            ("", false) => return f.write_char('.'),
            (".", false) => return f.write_str("\\u{2e}"),
            _ => {}
        }
        for character in self.path.chars() {
            if matches!(character, '*' | '\\') {
                f.write_char('\\')?;
            }
            write_visibly(f, character)?;
        }
        match (self.subtree, self.path.is_empty()) {
            (false, _) => Ok(()),
            (true, true) => f.write_str("**"),
            (true, false) => f.write_str("/**"),
        }
    }
}

impl FromStr for Resource {
    type Err = ResourceError;

    fn from_str(text: &str) -> Result<Self, ResourceError> {
        let Some((scheme, path)) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
            return Err(ResourceError::Scheme { text: text.to_owned() });
        };
        let (path, subtree) = match path.strip_suffix("/**") {
            Some(path) => (path, true),
            None if path == "**" => ("", true),
            None if path == "." => ("", false),
            None => (path, false),
        };
        let path = unescape(path).map_err(|found| ResourceError::Escape { text: text.to_owned(), found })?;
        Ok(Self { scheme: Scheme(Cow::Owned(scheme.to_owned())), path: path.into(), subtree })
    }
}

/// Writes a character so that whoever reads it sees it as it is.
pub(super) fn write_visibly(f: &mut fmt::Formatter<'_>, character: char) -> fmt::Result {
    if is_hidden(character) {
        write!(f, "\\u{{{:x}}}", u32::from(character))
    } else {
        f.write_char(character)
    }
}

/// Undoes the escapes of the printed form, or gives the first character that breaks it.
fn unescape(path: &str) -> Result<String, char> {
    let mut plain = String::with_capacity(path.len());
    let mut characters = path.chars();
    while let Some(character) = characters.next() {
        match character {
            '*' => return Err('*'),
            '\\' => match characters.next() {
                Some(escaped @ ('*' | '\\')) => plain.push(escaped),
                Some('u') => plain.push(code_point(&mut characters).ok_or('\\')?),
                _ => return Err('\\'),
            },
            character => plain.push(character),
        }
    }
    Ok(plain)
}

fn code_point(characters: &mut std::str::Chars<'_>) -> Option<char> {
    let (digits, rest) = characters.as_str().strip_prefix('{')?.split_once('}')?;
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    *characters = rest.chars();
    Some(character)
}

impl Serialize for Resource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Resource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
