use super::carried::{Carried, Left};
use crate::paint::{ASKS, BAD, GOOD, NAME, QUIET};
use crate::timeline::visible;
use schemars::JsonSchema;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// The lines around a change that are shown with it.
const AROUND: usize = 2;

/// Is what came of an import, for people.
pub(super) struct Report<'a> {
    pub(super) target: &'a str,
    /// The files that were read.
    pub(super) found: &'a [String],
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    pub(super) carried: &'a Carried,
}

impl Report<'_> {
    /// Prints what is changed, and what is not carried over.
    pub(super) fn print(&self) {
        if self.found.is_empty() {
            return;
        }
        let files = haft::tools_core::listed(self.found.iter().map(String::as_str), "and");
        outln!("{QUIET}read {}{QUIET:#}", visible(&files));
        if self.before != self.after {
            outln!("\n{NAME}{}{NAME:#}", visible(self.target));
            self.print_difference();
        }
        let left = &self.carried.left;
        if left.is_empty() {
            return;
        }
        outln!("\nNot carried over:");
        for Left { file, at, why } in left {
            outln!("  {ASKS}{}{ASKS:#}: {}", visible(file), visible(at));
            outln!("    {}", visible(why));
        }
    }

    /// Says what was done, and what to do next.
    pub(super) fn print_end(&self, writes: bool, is_users: bool) {
        let target = visible(self.target);
        if self.found.is_empty() {
            outln!("There is nothing to import: no file of these programs is here.");
            if !is_users {
                outln!("`haft import --user` reads your own.");
            }
        } else if self.before == self.after {
            outln!("\nThere is nothing to write: all that can be carried over is in `{target}` already.");
        } else if !writes {
            outln!(
                "\nNothing was written; `haft import{} --write` writes it.",
                if is_users { " --user" } else { "" }
            );
        } else if is_users {
            outln!("\n{GOOD}wrote{GOOD:#} {NAME}{target}{NAME:#}; `haft config show` shows what is set.");
        } else {
            outln!("\n{GOOD}wrote{GOOD:#} {NAME}{target}{NAME:#}; look at it, then run `haft policy trust`.");
        }
    }

    fn print_difference(&self) {
        let difference = TextDiff::from_lines(self.before, self.after);
        for group in difference.grouped_ops(AROUND) {
            for change in group.iter().flat_map(|operation| difference.iter_changes(operation)) {
                let line = change.value().trim_end_matches('\n');
                match change.tag() {
                    ChangeTag::Insert => outln!("{GOOD}+ {}{GOOD:#}", visible(line)),
                    ChangeTag::Delete => outln!("{BAD}- {}{BAD:#}", visible(line)),
                    ChangeTag::Equal if line.is_empty() => outln!(),
                    ChangeTag::Equal => outln!("  {}", visible(line)),
                }
            }
        }
    }

    /// Gives what came of it as it is printed for programs.
    pub(super) fn told(&self, is_written: bool) -> Imported {
        Imported {
            version: 1,
            target: self.target.to_owned(),
            read: self.found.to_vec(),
            written: is_written,
            text: self.after.to_owned(),
            left: self.carried.left.clone(),
        }
    }
}

/// What came of an import.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Imported {
    /// The version of the form.
    version: u32,
    /// The file that is written, or would be.
    target: String,
    /// The files that were read.
    read: Vec<String>,
    /// Whether the file was changed.
    written: bool,
    /// The whole text of the file, as it is now or would be.
    text: String,
    /// What is not carried over.
    left: Vec<Left>,
}
