use crate::paint::{BAD, GOOD, PLACE};
use crate::timeline::visible;
use haft::workdir::UndoEffect;
use serde::Serialize;

/// Is one thing that undoing does, as it is shown.
#[derive(Debug, Serialize)]
#[serde(tag = "does", rename_all = "snake_case")]
pub(super) enum Shown {
    Restore { path: String },
    Remove { path: String },
    Move { from: String, to: String },
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
                anstream::println!("{GOOD}{}{GOOD:#} {}", word("restored", "restores"), visible(path));
            }
            Self::Remove { path } => {
                anstream::println!("{BAD}{}{BAD:#} {}", word("removed", "removes"), visible(path));
            }
            Self::Move { from, to } => {
                let word = word("moved back", "moves back");
                anstream::println!("{PLACE}{word}{PLACE:#} {} to {}", visible(from), visible(to));
            }
        }
    }
}

impl Shown {
    /// Tells whether it is about one of these paths.
    pub(super) fn is_about(&self, paths: &[&str]) -> bool {
        matches!(self, Self::Remove { path } if paths.contains(&path.as_str()))
    }
}
