use serde::{Deserialize, Serialize};
use std::fmt;

/// Says whether a call may run; ordered from the most lenient to the strictest.
///
/// The strictest decision over everything a call touches is the maximum.
///
/// ```
/// use haft_core::Decision;
///
/// assert_eq!([Decision::Allow, Decision::Ask].into_iter().max(), Some(Decision::Ask));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may run.
    Allow,
    /// A person must say so first.
    Ask,
    /// It may not run.
    Deny,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}
