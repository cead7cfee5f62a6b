use crate::instead::instead;
use std::fmt;
use std::str::FromStr;

/// Says whether what is run is kept within a sandbox; from the loosest to the strictest.
///
/// A program that has no sandbox must refuse to run under [`Require`](Self::Require), instead of running without one.
///
/// ```
/// use haft_policy::{PolicyLoader, SandboxMode};
/// use haft_tools_core::RuleLanguage;
///
/// fn is_confined(asked: SandboxMode, has_sandbox: bool) -> Result<bool, &'static str> {
///     match asked {
///         SandboxMode::Off => Ok(false),
///         SandboxMode::Prefer => Ok(has_sandbox),
///         SandboxMode::Require if has_sandbox => Ok(true),
///         SandboxMode::Require => Err("this machine has no sandbox, and the policy requires one"),
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("policy.toml");
/// std::fs::write(&path, "[sandbox]\nmode = \"require\"\n")?;
/// let loaded = PolicyLoader::new(RuleLanguage::new()).user(&path).load()?;
/// assert_eq!(is_confined(loaded.sandbox, true), Ok(true));
/// assert!(is_confined(loaded.sandbox, false).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SandboxMode {
    /// Nothing is.
    #[default]
    Off,
    /// It is, where the machine has one.
    Prefer,
    /// It is, and does not run where the machine has none.
    Require,
}

/// Says that a text is not a mode of the sandbox, with what to write instead.
///
/// ```
/// use haft_policy::SandboxMode;
///
/// assert_eq!("prefer".parse(), Ok(SandboxMode::Prefer));
/// let error = "required".parse::<SandboxMode>().unwrap_err();
/// assert_eq!(error.to_string(), "`required` is not a mode of the sandbox; write `require`");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a mode of the sandbox; {instead}")]
pub struct SandboxModeError {
    text: String,
    instead: String,
}

impl SandboxMode {
    /// All of them, from the loosest to the strictest.
    pub const ALL: [Self; 3] = [Self::Off, Self::Prefer, Self::Require];

    /// The word that it is written as.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Prefer => "prefer",
            Self::Require => "require",
        }
    }
}

impl fmt::Display for SandboxMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SandboxMode {
    type Err = SandboxModeError;

    fn from_str(text: &str) -> Result<Self, SandboxModeError> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        found.ok_or_else(|| SandboxModeError {
            text: text.to_owned(),
            instead: instead(text, Self::ALL.map(Self::as_str)),
        })
    }
}
