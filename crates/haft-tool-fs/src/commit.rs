//! The one place from which files are changed.

use crate::failure::{crosses_devices, failure};
use crate::words::{Shown, joined};
use haft_core::{Content, ToolError, ToolOutput};
use haft_workdir::{ChangeOrigin, Error, Expected, Finished, NewFile, OpenChangeSet, Workdir, WorkdirPath};

/// How many paths are named where something is said about undoing.
const NAMED_PATHS: usize = 5;

/// What becomes of one file.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    pub(crate) path: &'a WorkdirPath,
    pub(crate) before: Before<'a>,
    pub(crate) after: After<'a>,
    /// Whether anyone may execute it, where that changes.
    pub(crate) executable: Option<bool>,
    /// Where the file is before; it is moved to `path`, where nothing is, with all that it has beside its content.
    pub(crate) moved_from: Option<&'a WorkdirPath>,
}

/// What must be in a file's place for a change to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Before<'a> {
    /// Nothing.
    Absent,
    /// A file with exactly these bytes.
    Holds(&'a [u8]),
    /// Nothing or a file, whatever is in it. Only the last change of several that write can be so, since it cannot be undone.
    Whatever,
}

/// What is in a file's place once a change is made.
#[derive(Debug)]
pub(crate) enum After<'a> {
    /// A file with these parts, one behind the other.
    Holds(Vec<&'a [u8]>),
    /// What was there, or what was moved there.
    Kept,
    /// Nothing.
    Absent,
}

/// Why no file was changed.
#[derive(Debug)]
pub(crate) enum Uncommitted {
    /// Something else has changed this file.
    Changed(WorkdirPath),
    /// The file system refused; if something could not be undone, the text says what.
    Failed(ToolError),
}

impl Uncommitted {
    /// Says it to the model.
    pub(crate) fn into_error(self) -> ToolError {
        match self {
            Self::Changed(path) => ToolError::retry(format!(
                "`{}` was not changed: something else wrote to it during this call; read it again, then repeat the edit",
                Shown::new(path.as_str())
            )),
            Self::Failed(error) => error,
        }
    }
}

/// What became of changes that were made.
#[derive(Debug)]
pub(crate) struct Committed {
    /// The directories that were created for new files.
    pub(crate) directories: Vec<WorkdirPath>,
    /// What the model is to know about undoing them, if anything.
    pub(crate) note: Option<String>,
}

impl Committed {
    /// Adds to a reply what the model is to know.
    pub(crate) fn noted(self, mut output: ToolOutput) -> ToolOutput {
        output.content.extend(self.note.map(Content::text));
        output
    }
}

/// Makes every change, or none.
///
/// All of them are looked at before the first is made: what must be there has to be there. If a later one fails, those
/// before it are taken back; where the working directory has a journal, also if the process is killed.
pub(crate) fn commit(
    workdir: &Workdir,
    origin: &ChangeOrigin,
    changes: &[Change<'_>],
) -> Result<Committed, Uncommitted> {
    let failed = |error| Uncommitted::Failed(failure(error));
    // First what a killed process has left, so that it is not taken for what is to be there.
    let mut set = workdir.change(origin.clone());
    for change in changes.iter().filter(|_| !is_only_write(changes)) {
        if !is_as_before(workdir, change).map_err(failed)? {
            return Err(Uncommitted::Changed(change.path.clone()));
        }
    }
    // What is removed goes last, since it is written anew if it has to be taken back.
    let (removed, written): (Vec<_>, Vec<_>) =
        changes.iter().partition(|change| matches!(change.after, After::Absent));
    for change in written.into_iter().chain(removed) {
        if let Err(error) = make(&mut set, change) {
            return Err(taken_back(set, change, error));
        }
    }
    let finished = set.finish().map_err(failed)?;
    Ok(Committed { note: undo_note(&finished), directories: finished.directories })
}

/// Says what of a change set cannot be undone, and what was found unfinished before it.
pub(crate) fn undo_note(finished: &Finished) -> Option<String> {
    let named = |paths: &[String]| -> Vec<String> {
        let more = paths.len().saturating_sub(NAMED_PATHS);
        let shown = paths.iter().take(NAMED_PATHS).map(|path| format!("`{}`", Shown::new(path)));
        shown.chain((more > 0).then(|| format!("{more} more"))).collect()
    };
    let mut notes = Vec::new();
    if finished.unrecorded.is_some() {
        notes.push("note: this change could not be recorded, so it cannot be undone".to_owned());
    } else if !finished.not_undoable.is_empty() {
        let paths = named(&finished.not_undoable);
        notes.push(format!(
            "note: this change cannot be undone, since what was there is too large to be kept: {}",
            joined(&paths, "and")
        ));
    }
    for recovered in &finished.recovered {
        notes.push(format!(
            "note: a call of a process that was killed had not finished; what it had done was taken back first: {}",
            joined(&named(&recovered.paths), "and")
        ));
        if !recovered.left.is_empty() {
            notes.push(format!(
                "note: this could not be put back, since something else has changed it; look at what is in there: {}",
                joined(&named(&recovered.left), "and")
            ));
        }
    }
    (!notes.is_empty()).then(|| notes.join("\n"))
}

/// Tells whether nothing but one file is written over: that looks at what is there by itself, right before it is done.
fn is_only_write(changes: &[Change<'_>]) -> bool {
    matches!(changes, [Change { before: Before::Holds(_), after: After::Holds(_), moved_from: None, .. }])
}

fn is_as_before(workdir: &Workdir, change: &Change<'_>) -> Result<bool, Error> {
    match change.before {
        Before::Whatever => Ok(true),
        Before::Holds(bytes) => match workdir.holds(change.moved_from.unwrap_or(change.path), bytes) {
            Err(Error::NotFound { .. }) => Ok(false),
            held => held,
        },
        Before::Absent => match workdir.kind(change.path) {
            Err(Error::NotFound { .. }) => Ok(true),
            Ok(_) => Ok(false),
            Err(error) => Err(error),
        },
    }
}

fn make<'a>(set: &mut OpenChangeSet<'a>, change: &Change<'a>) -> Result<(), Error> {
    let expected = match change.before {
        Before::Absent => Expected::Absent,
        Before::Holds(bytes) => Expected::Holds(bytes),
        Before::Whatever => Expected::Whatever,
    };
    if let Some(from) = change.moved_from {
        set.rename(from, change.path)?;
    }
    match &change.after {
        After::Kept => Ok(()),
        After::Absent => set.remove_file(change.path, expected),
        After::Holds(parts) => {
            set.write(change.path, &NewFile::new(parts).executable(change.executable), expected)
        }
    }
}

/// Puts everything back, the last change first, and says why.
pub(crate) fn taken_back(set: OpenChangeSet<'_>, failed: &Change<'_>, error: Error) -> Uncommitted {
    let left = set.roll_back();
    let error = match error {
        Error::NotFound { path } if left.is_empty() && failed.moved_from == Some(&path) => {
            return Uncommitted::Changed(path);
        }
        Error::Exists { .. } | Error::NotFound { .. } | Error::Differs { .. } if left.is_empty() => {
            return Uncommitted::Changed(failed.path.clone());
        }
        error if failed.moved_from.is_some() && crosses_devices(&error) => ToolError::failed(format!(
            "`{}` lies on another file system, so that nothing can be renamed to it; add it as a new file and remove the old one",
            Shown::new(failed.path.as_str())
        ))
        .with_source(error),
        error => failure(error),
    };
    Uncommitted::Failed(with_left(error, &left))
}

/// Adds to an error what could not be put back.
pub(crate) fn with_left(error: ToolError, left: &[String]) -> ToolError {
    if left.is_empty() {
        return error;
    }
    let left: Vec<String> = left.iter().map(|path| format!("`{}`", Shown::new(path))).collect();
    let text =
        format!("{}; could not be put back: {}; look at what is in there", error.message(), left.join(", "));
    ToolError::new(error.kind(), text).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::{After, Before, Change, Committed, Uncommitted};
    use haft_testkit::Tree;
    use haft_workdir::ChangeOrigin;
    use haft_workdir::{Workdir, WorkdirPath};

    fn change<'a>(path: &'a WorkdirPath, before: Before<'a>, after: After<'a>) -> Change<'a> {
        Change { path, before, after, executable: None, moved_from: None }
    }

    fn commit(workdir: &Workdir, changes: &[Change<'_>]) -> Result<Committed, Uncommitted> {
        let origin = ChangeOrigin::new("run".parse().unwrap(), "call".parse().unwrap());
        super::commit(workdir, &origin, changes)
    }

    fn paths<const N: usize>(workdir: &Workdir, paths: [&str; N]) -> [WorkdirPath; N] {
        paths.map(|path| workdir.resolve(path).unwrap())
    }

    #[test]
    fn puts_everything_back_if_one_change_fails() {
        let tree = Tree::new().file("a", "old a\n").executable("gone", "old\n").file("file", "");
        let workdir = tree.workdir();
        let [a, gone, new, bad] = paths(&workdir, ["a", "gone", "new/dir/b", "file"]);
        let bad = bad.join_file_name("below").unwrap();
        let before = tree.list();
        let error = commit(
            &workdir,
            &[
                change(&a, Before::Holds(b"old a\n"), After::Holds(vec![b"new a\n"])),
                change(&gone, Before::Holds(b"old\n"), After::Absent),
                change(&new, Before::Absent, After::Holds(vec![b"b\n"])),
                change(&bad, Before::Whatever, After::Holds(vec![b""])),
            ],
        );
        assert!(matches!(error, Err(Uncommitted::Failed(_))), "{error:?}");
        assert_eq!(
            (tree.list(), tree.read("a"), tree.read("gone")),
            (before, "old a\n".into(), "old\n".into())
        );
    }

    #[test]
    fn changes_nothing_if_one_file_is_not_as_it_was() {
        let tree = Tree::new().file("a", "a\n").file("b", "theirs\n");
        let workdir = tree.workdir();
        let [a, b, c] = paths(&workdir, ["a", "b", "c"]);
        for stale in [Before::Holds(b"mine\n"), Before::Absent] {
            let changes = [
                change(&a, Before::Holds(b"a\n"), After::Holds(vec![b"new\n"])),
                change(&b, stale, After::Holds(vec![b"new\n"])),
            ];
            assert!(matches!(commit(&workdir, &changes), Err(Uncommitted::Changed(path)) if path == b));
        }
        let missing = [change(&c, Before::Holds(b""), After::Absent)];
        assert!(matches!(commit(&workdir, &missing), Err(Uncommitted::Changed(path)) if path == c));
        assert_eq!((tree.read("a"), tree.read("b")), ("a\n".into(), "theirs\n".into()));
    }

    #[test]
    fn tells_what_was_changed_meanwhile() {
        let error = Uncommitted::Changed(Tree::new().workdir().resolve("a.txt").unwrap()).into_error();
        assert_eq!(
            (error.message(), error.can_retry()),
            (
                "`a.txt` was not changed: something else wrote to it during this call; read it again, then repeat the edit",
                true
            )
        );
    }
}
