use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Says how far a run goes without asking; from the strictest to the widest.
///
/// ```
/// use haft_tools_core::Mode;
///
/// let mode: Mode = "accept_edits".parse()?;
/// assert!(mode.is_wider_than(Mode::Default));
/// assert!(!Mode::Plan.is_wider_than(Mode::DenyUnknown));
/// assert!("yolo".parse::<Mode>().is_err());
/// # Ok::<(), haft_tools_core::ModeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
#[non_exhaustive]
pub enum Mode {
    /// Denies whatever writes, executes, connects, calls a remote party or cannot be told. Runs below may be
    /// [started](crate::Access::delegate), since they are held to it as well.
    Plan,
    /// Denies what it would otherwise have to ask about: for runs that nobody watches.
    DenyUnknown,
    /// Asks about what no rule speaks of.
    #[default]
    Default,
    /// Allows edits that no rule speaks of, as far as the policy's rules for this mode contain them.
    AcceptEdits,
    /// Allows what no rule speaks of and the policy's rules for this mode contain: what stays within the sandbox.
    Auto,
}

/// Says that a text is not a mode.
///
/// ```
/// use haft_tools_core::Mode;
///
/// let error = "yolo".parse::<Mode>().unwrap_err();
/// assert!(error.to_string().contains("yolo"), "{error}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a mode; write `plan`, `deny_unknown`, `default`, `accept_edits` or `auto`")]
pub struct ModeError {
    text: String,
}

impl Mode {
    /// All modes, from the strictest to the widest.
    pub const ALL: &'static [Self] =
        &[Self::Plan, Self::DenyUnknown, Self::Default, Self::AcceptEdits, Self::Auto];

    /// The mode as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::DenyUnknown => "deny_unknown",
            Self::Default => "default",
            Self::AcceptEdits => "accept_edits",
            Self::Auto => "auto",
        }
    }

    /// Tells whether anything that this mode lets through is held back in the other.
    ///
    /// Only a person may change to a wider mode.
    pub fn is_wider_than(self, other: Self) -> bool {
        self > other
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        let known = Self::ALL.iter().copied().find(|mode| mode.as_str() == text);
        known.ok_or_else(|| ModeError { text: text.to_owned() })
    }
}

/// Holds modes that all bound the same calls, each in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ModeSet(u8);

impl ModeSet {
    pub(crate) fn with(self, mode: Mode) -> Self {
        Self(self.0 | 1 << mode as u8)
    }

    pub(crate) fn contains(self, mode: Mode) -> bool {
        self.0 & 1 << mode as u8 != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the modes, from the strictest to the widest.
    pub(crate) fn iter(self) -> impl Iterator<Item = Mode> {
        Mode::ALL.iter().copied().filter(move |mode| self.contains(*mode))
    }
}

impl From<Mode> for ModeSet {
    fn from(mode: Mode) -> Self {
        Self::default().with(mode)
    }
}

/// Holds the mode of runs while they go on; clones are the same switch.
///
/// A call is decided in the mode that is set when it is decided; a change does not reach calls that were decided before.
///
/// ```
/// use haft_tools_core::{Mode, ModeSwitch};
///
/// let mode = ModeSwitch::new(Mode::Plan);
/// assert!(!mode.narrow(Mode::Auto));
/// mode.set(Mode::Auto);
/// assert!(mode.narrow(Mode::Default));
/// assert_eq!(mode.get(), Mode::Default);
/// ```
#[derive(Debug, Clone)]
pub struct ModeSwitch(Arc<AtomicU8>);

impl Default for ModeSwitch {
    fn default() -> Self {
        Self::new(Mode::default())
    }
}

impl ModeSwitch {
    /// Makes a switch that is set to a mode.
    pub fn new(mode: Mode) -> Self {
        Self(Arc::new(AtomicU8::new(mode as u8)))
    }

    /// The mode that is set.
    pub fn get(&self) -> Mode {
        let set = self.0.load(Ordering::Acquire);
        Mode::ALL.iter().copied().find(|mode| *mode as u8 == set).unwrap_or(Mode::Plan)
    }

    /// Sets a mode, in the name of a person.
    pub fn set(&self, mode: Mode) {
        self.0.store(mode as u8, Ordering::Release);
    }

    /// Sets a mode unless it is wider than the one that is set; gives whether it is set now.
    pub fn narrow(&self, mode: Mode) -> bool {
        let before = self.0.fetch_min(mode as u8, Ordering::AcqRel);
        mode as u8 <= before
    }
}
