//! Edits derived from real source files and then made wrong in the ways in which models and files go wrong.
//!
//! An edit replaces some lines of a file. Then the file, or the edit, is changed as an editor, a converter or a model would
//! change it. The tool may make the edit where it is meant, or refuse it; anything else is wrong. Which bytes the file has to
//! have is worked out from how it was made, line by line: lines that stay are those of the file, whatever the edit says of them,
//! and new ones end as one beside them does.

#[path = "mutation/derive.rs"]
mod derive;

use serde_json::{Value, json};
use std::fmt;

/// What is done to a file or to the edit of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    Nothing,
    FileCrlf,
    FileReturns,
    FileMixedEnds,
    EditCrlf,
    FileTrailingBlanks,
    EditTrailingBlanks,
    EditDedented,
    EditIndented,
    FileTabs,
    EditTabs,
    FilePunctuation,
    FileNoBreakSpaces,
    FileUtf16,
    FileLatin1,
    Duplicate,
    DuplicateButForBlanks,
    OtherWord,
}

pub(crate) const MUTATIONS: [Mutation; 18] = [
    Mutation::Nothing,
    Mutation::FileCrlf,
    Mutation::FileReturns,
    Mutation::FileMixedEnds,
    Mutation::EditCrlf,
    Mutation::FileTrailingBlanks,
    Mutation::EditTrailingBlanks,
    Mutation::EditDedented,
    Mutation::EditIndented,
    Mutation::FileTabs,
    Mutation::EditTabs,
    Mutation::FilePunctuation,
    Mutation::FileNoBreakSpaces,
    Mutation::FileUtf16,
    Mutation::FileLatin1,
    Mutation::Duplicate,
    Mutation::DuplicateButForBlanks,
    Mutation::OtherWord,
];

impl Mutation {
    /// Tells whether it leaves it to how the places are asked for which of them are meant.
    pub(crate) fn leaves_places(self) -> bool {
        !matches!(self, Self::Duplicate | Self::DuplicateButForBlanks | Self::OtherWord)
    }
}

/// How an edit says which places it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// The text is there once.
    One,
    /// Two or three edits in one call, in any order.
    Several,
    /// Every place, with `all`.
    All,
    /// Every place, with the right `expected`.
    Expected,
    /// With an `expected` that is not true, so that it has to be refused.
    WrongCount,
    /// One of several, with `near_line`.
    NearLine,
}

pub(crate) const ASKS: [Ask; 6] =
    [Ask::One, Ask::Several, Ask::All, Ask::Expected, Ask::WrongCount, Ask::NearLine];

/// What became of edits.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) applied: u64,
    pub(crate) refused: u64,
    pub(crate) wrong: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8} applied {:>8} refused {:>4} wrong", self.applied, self.refused, self.wrong)
    }
}

/// One edit of a call.
#[derive(Debug, Clone)]
struct Edit {
    old: String,
    new: String,
    ask: Value,
}

/// What a file has to be once an edit is made: each part one of these.
type Parts = Vec<Vec<Vec<u8>>>;

/// A file, edits of it, and what the file has to be afterwards if they are made.
pub(crate) struct Case {
    pub(crate) file: Vec<u8>,
    edits: Vec<Edit>,
    /// Nothing where the edits have to be refused.
    expected: Option<Parts>,
    mutation: Mutation,
    ask: Ask,
    /// What is meant to be replaced, as it is in the file.
    targets: Vec<String>,
}

impl Case {
    /// The arguments of the call.
    pub(crate) fn input(&self, path: &str) -> Value {
        let edits = self.edits.iter().map(|Edit { old, new, ask }| {
            let mut edit = json!({ "old": old, "new": new });
            if let (Some(edit), Some(ask)) = (edit.as_object_mut(), ask.as_object()) {
                edit.extend(ask.clone());
            }
            edit
        });
        json!({ "path": path, "edits": edits.collect::<Vec<_>>() })
    }

    /// Counts what became of the file; tells whether that is right.
    pub(crate) fn judge(&self, after: &[u8], said_applied: bool, tally: &mut Tally) -> bool {
        let is_right = if said_applied {
            tally.applied += 1;
            self.expected.as_ref().is_some_and(|parts| is_made_of(after, parts))
        } else {
            tally.refused += 1;
            after == self.file
        };
        tally.wrong += u64::from(!is_right);
        is_right
    }
}

/// Tells whether something is one of the alternatives of each part, one behind the other.
fn is_made_of(bytes: &[u8], parts: &[Vec<Vec<u8>>]) -> bool {
    let Some((part, behind)) = parts.split_first() else { return bytes.is_empty() };
    part.iter().any(|part| bytes.strip_prefix(part.as_slice()).is_some_and(|rest| is_made_of(rest, behind)))
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.mutation, self.ask)?;
        for Edit { old, new, ask } in &self.edits {
            write!(f, "\nold {old:?}\nnew {new:?} {ask}")?;
        }
        for target in &self.targets {
            write!(f, "\nof  {target:?}")?;
        }
        let Some(parts) = &self.expected else { return f.write_str("\nto be refused") };
        for part in parts.iter().filter(|part| part.iter().all(|each| each.len() < 500)) {
            for each in part {
                write!(f, "\nmay be {:?}", String::from_utf8_lossy(each))?;
            }
        }
        Ok(())
    }
}
