use crate::paint::{BAD, GOOD, PLACE};
use crate::timeline::visible;
use haft::workdir::UndoEffect;
use schemars::JsonSchema;
use serde::Serialize;

/// One thing that undoing does.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "does", rename_all = "snake_case")]
pub(super) enum Shown {
    /// A file is put back as it was.
    Restore {
        /// The file.
        path: String,
    },
    /// What was made is removed.
    Remove {
        /// The file or directory.
        path: String,
    },
    /// What was moved is moved back.
    Move {
        /// Where it is.
        from: String,
        /// Where it goes.
        to: String,
    },
}

impl Shown {
    pub(super) fn of(effect: &UndoEffect<'_>) -> Option<Self> {
        Some(match effect {
            UndoEffect::Restore(path) => Self::Restore { path: (*path).to_owned() },
            UndoEffect::Remove(path) => Self::Remove { path: (*path).to_owned() },
            UndoEffect::Move { from, to } => Self::Move { from: (*from).to_owned(), to: (*to).to_owned() },
            _ => return None,
        })
    }

    /// Prints it, as done or as what would be.
    pub(super) fn print(&self, is_done: bool) {
        let word = |done, would| if is_done { done } else { would };
        match self {
            Self::Restore { path } => {
                outln!("{GOOD}{}{GOOD:#} {}", word("restored", "restores"), visible(path));
            }
            Self::Remove { path } => {
                outln!("{BAD}{}{BAD:#} {}", word("removed", "removes"), visible(path));
            }
            Self::Move { from, to } => {
                let word = word("moved back", "moves back");
                outln!("{PLACE}{word}{PLACE:#} {} to {}", visible(from), visible(to));
            }
        }
    }
}

impl Shown {
    /// The file that it is about; of one that was moved, where it is again.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Restore { path } | Self::Remove { path } | Self::Move { to: path, .. } => path,
        }
    }

    /// Tells whether it is about one of these paths.
    pub(super) fn is_about(&self, paths: &[&str]) -> bool {
        matches!(self, Self::Remove { path } if paths.contains(&path.as_str()))
    }
}
