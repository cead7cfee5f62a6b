use super::unique::unique;
use crate::now_ms;
use haft_core::{Decision, RunId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Says for how long a person's answer is remembered.
///
/// ```
/// use haft_tools_core::{GrantPlace, GrantTerm};
///
/// assert_eq!(GrantPlace::Run("run-1".parse()?).term(), GrantTerm::Run);
/// assert_eq!(serde_json::to_string(&GrantTerm::Workspace)?, r#""workspace""#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GrantTerm {
    /// Until the run ends.
    Run,
    /// For the session: what a host counts as one sitting.
    Session,
    /// In the workspace, whoever works in it.
    Workspace,
    /// Everywhere.
    Always,
}

/// Remembers a person's answer about what one agent may touch.
///
/// ```
/// use haft_core::Decision;
/// use haft_tools_core::{Grant, GrantPlace, now_ms};
///
/// let place = GrantPlace::Workspace("/home/ann/project".to_owned());
/// let grant = Grant::new(Decision::Allow, "exec(cargo test)", None, place);
/// assert!(!grant.is_expired());
/// assert!(grant.expires_at_ms(now_ms() - 1).is_expired());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// Names it; no other grant has this name.
    pub id: String,
    /// What was answered: [`Decision::Allow`], or [`Decision::Deny`] for "never".
    pub decision: Decision,
    /// What it is about: a rule, as it is written in a policy.
    pub rule: String,
    /// The agent it is about; `None` is the one without a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Where it holds.
    pub place: GrantPlace,
    /// When it was given, in milliseconds since the Unix epoch.
    pub given_at_ms: u64,
    /// Until when it holds, in milliseconds since the Unix epoch; for ever if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at_ms: Option<u64>,
}

/// Says where a grant holds.
///
/// ```
/// use haft_tools_core::GrantPlace;
///
/// assert_eq!(GrantPlace::Always.to_string(), "always");
/// assert_eq!(GrantPlace::Run("run-1".parse()?).to_string(), "run run-1");
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "term", content = "of", rename_all = "snake_case")]
#[non_exhaustive]
pub enum GrantPlace {
    /// In this run.
    Run(RunId),
    /// In this session.
    Session(String),
    /// In this workspace.
    Workspace(String),
    /// Everywhere.
    Always,
}

impl Grant {
    /// Remembers an answer from now on, until it is revoked.
    pub fn new(
        decision: Decision,
        rule: impl Into<String>,
        agent: Option<String>,
        place: GrantPlace,
    ) -> Self {
        let (id, given_at_ms) = (unique(), now_ms());
        Self { id, decision, rule: rule.into(), agent, place, given_at_ms, expires_at_ms: None }
    }

    /// Lets the grant hold until a time, in milliseconds since the Unix epoch.
    pub fn expires_at_ms(mut self, end: u64) -> Self {
        self.expires_at_ms = Some(end);
        self
    }

    /// Tells whether it no longer holds.
    pub fn is_expired(&self) -> bool {
        self.expires_at_ms.is_some_and(|end| end <= now_ms())
    }
}

impl GrantPlace {
    /// For how long it holds.
    pub fn term(&self) -> GrantTerm {
        match self {
            Self::Run(_) => GrantTerm::Run,
            Self::Session(_) => GrantTerm::Session,
            Self::Workspace(_) => GrantTerm::Workspace,
            Self::Always => GrantTerm::Always,
        }
    }
}

impl fmt::Display for GrantTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "run",
            Self::Session => "session",
            Self::Workspace => "workspace",
            Self::Always => "always",
        })
    }
}

/// Reads as `always`, `run run-1`, `workspace /home/me/project`.
impl fmt::Display for GrantPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.term())?;
        match self {
            Self::Run(run) => write!(f, " {run}"),
            Self::Session(name) | Self::Workspace(name) => write!(f, " {name}"),
            Self::Always => Ok(()),
        }
    }
}
