use haft_core::{RunId, Visible};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};

/// How many files a summary names.
const NAMED_FILES: usize = 50;

/// How many files that are not in the patch a summary names.
const NAMED_LEFT_OUT: usize = 20;

/// How many characters of a path a summary shows.
const SHOWN_CHARACTERS: usize = 200;

/// Is what a child changed in its place, as a patch that people and `apply_patch` read.
///
/// The text is a unified diff as git writes it, of all files that text can carry. What it cannot carry is
/// [left out](Patch::left_out), each with a reason, never silently.
///
/// ```
/// use haft_subagents::Patch;
///
/// let nothing = Patch::default();
/// assert!(nothing.is_empty());
/// assert_eq!(nothing.summary(&"child-1".parse()?), "it changed no files");
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Patch {
    /// The diff; empty where nothing is carried.
    pub text: String,
    /// What happens to which files, in the order of the text.
    pub files: Vec<PatchFile>,
    /// What was changed and is not in the text.
    pub left_out: Vec<LeftOut>,
}

/// Is one file of a [`Patch`].
///
/// ```
/// use haft_subagents::{FileChange, Patch, PatchFile};
///
/// let mut file = PatchFile::new("src/parse.rs", FileChange::Changed);
/// (file.added, file.removed) = (12, 3);
/// let summary = Patch::new("…", vec![file]).summary(&"editor-1".parse()?);
/// assert!(summary.starts_with("it changed 1 file (+12 -3)"), "{summary}");
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PatchFile {
    /// The path from the working directory on; of a renamed file the new one.
    pub path: String,
    /// What happens to it.
    pub change: FileChange,
    /// How many lines are added.
    pub added: u64,
    /// How many lines are removed.
    pub removed: u64,
    /// Whether anyone may execute it from now on, where that changes.
    pub executable: Option<bool>,
}

/// Says what happens to a file of a [`Patch`].
///
/// ```
/// use haft_subagents::FileChange;
///
/// let renamed = FileChange::Renamed { from: "a.txt".to_owned() };
/// assert_eq!(serde_json::to_string(&renamed)?, r#"{"renamed":{"from":"a.txt"}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileChange {
    /// It is new.
    Added,
    /// Its content or its mode changes.
    Changed,
    /// It is removed.
    Removed,
    /// It has another path, and maybe another content.
    Renamed {
        /// The path it had.
        from: String,
    },
}

/// Is a change that a [`Patch`] does not carry.
///
/// ```
/// use haft_subagents::{LeftOut, Patch};
///
/// let logo = LeftOut::new("logo.png", "it is no text");
/// let patch = Patch::default().left_out(vec![logo]);
/// assert!(!patch.is_empty());
/// assert!(patch.summary(&"editor-1".parse()?).contains("logo.png"));
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// The path from the working directory on, with a replacement character for what is not UTF-8.
    pub path: String,
    /// Why it is not in the text, in words for the model.
    pub reason: String,
}

impl PatchFile {
    /// Makes a file of a patch, with no lines counted.
    pub fn new(path: impl Into<String>, change: FileChange) -> Self {
        Self { path: path.into(), change, added: 0, removed: 0, executable: None }
    }
}

impl LeftOut {
    /// Makes a change that is not carried.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

impl Patch {
    /// Makes a patch of a diff and what it changes.
    pub fn new(text: impl Into<String>, files: Vec<PatchFile>) -> Self {
        Self { text: text.into(), files, left_out: Vec::new() }
    }

    /// Adds what the text does not carry.
    pub fn left_out(mut self, left_out: Vec<LeftOut>) -> Self {
        self.left_out = left_out;
        self
    }

    /// Tells whether nothing was changed, nor left out.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.left_out.is_empty()
    }

    /// Says in a few lines what the child of this run changed and how to get it, for the model of its parent.
    ///
    /// At most 50 files are named; the others are counted.
    pub fn summary(&self, run: &RunId) -> String {
        if self.is_empty() {
            return "it changed no files".to_owned();
        }
        let mut text = String::new();
        if self.files.is_empty() {
            text += "nothing of what it changed can be carried by a patch:";
        } else {
            let (added, removed) = self.counts();
            let files = if self.files.len() == 1 { "file" } else { "files" };
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "it changed {} {files} (+{added} -{removed}) in a place of its own, not yet here:",
                self.files.len()
            );
            self.list(&mut text);
        }
        self.list_left_out(&mut text);
        if !self.files.is_empty() {
            let _ = write!(
                text,
                "\nlook at them with `show_changes`, then apply them with `apply_changes`, both with run \"{run}\""
            );
        }
        text
    }

    /// Lists the files, one a line.
    pub(super) fn list(&self, text: &mut String) {
        for file in self.files.iter().take(NAMED_FILES) {
            let _ = write!(text, "\n{file}");
        }
        if self.files.len() > NAMED_FILES {
            let _ = write!(text, "\n… and {} more files", self.files.len() - NAMED_FILES);
        }
    }

    /// Lists what is not carried, one a line.
    pub(super) fn list_left_out(&self, text: &mut String) {
        for LeftOut { path, reason } in self.left_out.iter().take(NAMED_LEFT_OUT) {
            let _ = write!(text, "\nnot in the patch: `{}`, {reason}", Shown(path));
        }
        if self.left_out.len() > NAMED_LEFT_OUT {
            let _ = write!(text, "\nnot in the patch: {} more", self.left_out.len() - NAMED_LEFT_OUT);
        }
    }

    /// How many lines are added and removed.
    fn counts(&self) -> (u64, u64) {
        let sum = |of: fn(&PatchFile) -> u64| self.files.iter().map(of).fold(0, u64::saturating_add);
        (sum(|file| file.added), sum(|file| file.removed))
    }
}

impl fmt::Display for PatchFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = Shown(&self.path);
        match &self.change {
            FileChange::Added => write!(f, "added `{path}`")?,
            FileChange::Changed => write!(f, "changed `{path}`")?,
            FileChange::Removed => write!(f, "removed `{path}`")?,
            FileChange::Renamed { from } => write!(f, "renamed `{}` to `{path}`", Shown(from))?,
        }
        if self.added > 0 || self.removed > 0 {
            write!(f, " (+{} -{})", self.added, self.removed)?;
        }
        match self.executable {
            Some(true) => f.write_str(", executable"),
            Some(false) => f.write_str(", no longer executable"),
            None => Ok(()),
        }
    }
}

/// Shows a path on one line, whatever is in it, and cuts it where it is long.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cut: String = self.0.chars().take(SHOWN_CHARACTERS).collect();
        write!(f, "{}", Visible::line(&cut))?;
        if self.0.chars().nth(SHOWN_CHARACTERS).is_some() {
            f.write_char('…')?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(patch: &Patch, expected: &Expect) {
        expected.assert_eq(&patch.summary(&"child-1".parse().expect("it is an id")));
    }

    fn file(path: &str, change: FileChange, counts: (u64, u64)) -> PatchFile {
        PatchFile { added: counts.0, removed: counts.1, ..PatchFile::new(path, change) }
    }

    #[test]
    fn says_what_happens_to_each_file_and_what_is_next() {
        let from = "old\nname".to_owned();
        let mut files = vec![
            file("src/lib.rs", FileChange::Changed, (3, 1)),
            file("docs/new.md", FileChange::Added, (9, 0)),
            file("gone", FileChange::Removed, (0, 2)),
            file("new", FileChange::Renamed { from }, (0, 0)),
        ];
        files[0].executable = Some(true);
        let left_out = vec![LeftOut::new("logo.png", "since it is not text")];
        check(
            &Patch::new("", files).left_out(left_out),
            &expect![[r#"
                it changed 4 files (+12 -3) in a place of its own, not yet here:
                changed `src/lib.rs` (+3 -1), executable
                added `docs/new.md` (+9 -0)
                removed `gone` (+0 -2)
                renamed `old\nname` to `new`
                not in the patch: `logo.png`, since it is not text
                look at them with `show_changes`, then apply them with `apply_changes`, both with run "child-1""#]],
        );
    }

    #[test]
    fn is_bounded() {
        let path = "x".repeat(10_000);
        let files = (0..10_000).map(|_| file(&path, FileChange::Added, (u64::MAX, 0))).collect();
        let left_out = (0..10_000).map(|_| LeftOut::new(path.clone(), "since it is not text")).collect();
        let summary = Patch::new("", files).left_out(left_out).summary(&"child-1".parse().unwrap());
        assert!(summary.len() < 32 * 1024, "{}", summary.len());
        assert!(summary.contains("… and 9950 more files\n"), "{summary}");
        assert!(summary.contains("not in the patch: 9980 more\n"), "{summary}");
    }

    #[test]
    fn says_where_nothing_can_be_carried() {
        let left_out = vec![LeftOut::new("logo.png", "since it is not text")];
        check(
            &Patch::default().left_out(left_out),
            &expect![[r"
                nothing of what it changed can be carried by a patch:
                not in the patch: `logo.png`, since it is not text"]],
        );
    }
}
