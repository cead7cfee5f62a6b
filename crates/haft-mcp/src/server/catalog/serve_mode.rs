use haft_tools_core::{Selector, SelectorError};
use std::fmt;
use std::str::FromStr;

/// Says which tools clients are served, and how they learn of them.
///
/// Written `full`, `search`, or as the [`Selector`] of the tools: `read_*, @github`. Tools that are explicit only are served
/// where a selector names them; those that are hidden never.
///
/// ```
/// use haft_mcp::ServeMode;
///
/// assert_eq!("full".parse(), Ok(ServeMode::Full));
/// assert!(matches!("@builtin, !bash".parse(), Ok(ServeMode::Allow(_))));
/// # Ok::<(), haft_mcp::ServeModeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ServeMode {
    /// All tools that are listed at the start of a turn; those that are deferred can be called, and are not listed.
    #[default]
    Full,
    /// Three tools by which all others are found, described and called: for thousands of them.
    Search,
    /// The tools that are chosen, also those that are deferred.
    Allow(Selector),
}

/// Says why a text is not a mode.
///
/// ```
/// use haft_mcp::ServeMode;
///
/// let error = "read_*, @git*".parse::<ServeMode>().unwrap_err();
/// println!("{error}");
/// assert!("search".parse::<ServeMode>().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is neither `full` nor `search`, and chooses no tools")]
pub struct ServeModeError {
    text: String,
    source: SelectorError,
}

impl FromStr for ServeMode {
    type Err = ServeModeError;

    fn from_str(text: &str) -> Result<Self, ServeModeError> {
        match text.trim() {
            "full" => Ok(Self::Full),
            "search" => Ok(Self::Search),
            tools => match tools.parse() {
                Ok(selector) => Ok(Self::Allow(selector)),
                Err(source) => Err(ServeModeError { text: text.to_owned(), source }),
            },
        }
    }
}

impl fmt::Display for ServeMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Search => f.write_str("search"),
            Self::Allow(selector) => selector.fmt(f),
        }
    }
}
