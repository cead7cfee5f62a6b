use crate::PolicyFile;
use crate::instead::instead;
use crate::problem::PolicyFileError;
use haft_tools_core::RuleLanguage;
use std::fmt;
use std::str::FromStr;

/// Is one of the policies that come with haft, from the narrowest to the widest.
///
/// Each is a policy file like any other, with comments and tests; [`text`](Self::text) is what is in it. Each allows all
/// that the one before it allows, and forbids nothing, so that your own rules can.
///
/// ```
/// use haft_policy::Profile;
///
/// assert_eq!("read_only".parse(), Ok(Profile::ReadOnly));
/// let error = "readonly".parse::<Profile>().unwrap_err();
/// assert_eq!(error.to_string(), "`readonly` is not a profile; write `read_only`");
/// assert!(Profile::ReadOnly.text().contains("read(**)"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// Looks at files of the working directory, and runs what is understood to only look.
    ReadOnly,
    /// Changes files of the working directory, too, and runs what is understood to stay in it.
    WorkspaceWrite,
    /// Does everything without asking.
    FullAccess,
}

/// Says that a text is not a profile, with what to write instead.
///
/// A program that takes a profile as an argument can show it as it is:
///
/// ```
/// use haft_policy::{Profile, ProfileError};
///
/// let error: ProfileError = "everything".parse::<Profile>().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`everything` is not a profile; write `read_only`, `workspace_write` or `full_access`"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a profile; {instead}")]
pub struct ProfileError {
    text: String,
    instead: String,
}

impl Profile {
    /// All profiles, from the narrowest to the widest.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::WorkspaceWrite, Self::FullAccess];

    /// The word that it is written as.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::WorkspaceWrite => "workspace_write",
            Self::FullAccess => "full_access",
        }
    }

    /// The policy file, with comments for people and its own tests.
    pub fn text(self) -> &'static str {
        match self {
            Self::ReadOnly => include_str!("../profiles/read_only.toml"),
            Self::WorkspaceWrite => include_str!("../profiles/workspace_write.toml"),
            Self::FullAccess => include_str!("../profiles/full_access.toml"),
        }
    }

    /// Reads the policy file; rules over what the language has no patterns of are left out, since nothing asks them.
    ///
    /// # Errors
    ///
    /// When the language has patterns of files or commands, and not those that the profile is written in.
    pub fn file(self, language: &RuleLanguage) -> Result<PolicyFile, PolicyFileError> {
        PolicyFile::built_in(self.text(), &format!("profile {self}"), language)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let found = Self::ALL.into_iter().find(|profile| profile.as_str() == text);
        found.ok_or_else(|| ProfileError {
            text: text.to_owned(),
            instead: instead(text, Self::ALL.map(Self::as_str)),
        })
    }
}
