//! The one place from which files are changed.

use crate::failure::failure;
use crate::same::holds;
use crate::words::Shown;
use haft_core::ToolError;
use haft_workdir::{Error, Existing, Workdir, WorkdirPath};

/// What becomes of one file.
#[derive(Debug)]
pub(crate) struct Change<'a> {
    pub(crate) path: &'a WorkdirPath,
    pub(crate) before: Before<'a>,
    pub(crate) after: After<'a>,
    /// Whether anyone may execute it, where that changes; of what is removed, whether one could.
    pub(crate) executable: Option<bool>,
}

/// What must be in a file's place for a change to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Before<'a> {
    /// Nothing.
    Absent,
    /// A file with exactly these bytes.
    Holds(&'a [u8]),
    /// Nothing or a file, whatever is in it. Only the last change of several can be so, since it cannot be undone.
    Whatever,
}

/// What is in a file's place once a change is made.
#[derive(Debug)]
pub(crate) enum After<'a> {
    /// A file with these parts, one behind the other.
    Holds(Vec<&'a [u8]>),
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

/// Makes every change, or none.
///
/// All of them are looked at before the first is made: what must be there has to be there. If a later one fails, those
/// before it are undone. Gives the directories that were created for new files.
pub(crate) fn commit(workdir: &Workdir, changes: &[Change<'_>]) -> Result<Vec<WorkdirPath>, Uncommitted> {
    for change in changes {
        if !is_as_before(workdir, change).map_err(|error| Uncommitted::Failed(failure(error)))? {
            return Err(Uncommitted::Changed(change.path.clone()));
        }
    }
    let mut directories = Vec::new();
    // What is removed goes last, since it is written anew if it has to be undone.
    let (removed, written): (Vec<_>, Vec<_>) =
        changes.iter().partition(|change| matches!(change.after, After::Absent));
    let mut made: Vec<&Change<'_>> = Vec::with_capacity(changes.len());
    for change in written.into_iter().chain(removed) {
        if let Err(error) = make(workdir, change, &mut directories) {
            return Err(undo(workdir, &made, &directories, change, error));
        }
        made.push(change);
    }
    Ok(directories)
}

fn is_as_before(workdir: &Workdir, change: &Change<'_>) -> Result<bool, Error> {
    match change.before {
        Before::Whatever => Ok(true),
        Before::Holds(bytes) => match holds(workdir, change.path, bytes) {
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

fn make(workdir: &Workdir, change: &Change<'_>, directories: &mut Vec<WorkdirPath>) -> Result<(), Error> {
    match &change.after {
        After::Absent => workdir.remove_file(change.path)?,
        After::Holds(parts) => {
            if let Some(parent) = change.path.parent() {
                directories.extend(workdir.create_dir_all(&parent)?);
            }
            let existing = match change.before {
                Before::Absent => Existing::Refuse,
                Before::Holds(_) | Before::Whatever => Existing::Replace,
            };
            workdir.write_atomic_parts(change.path, parts, existing)?;
            if let Some(executable) = change.executable {
                workdir.set_executable(change.path, executable)?;
            }
        }
    }
    Ok(())
}

/// Puts everything back, the last change first, and says why.
fn undo(
    workdir: &Workdir,
    made: &[&Change<'_>],
    directories: &[WorkdirPath],
    failed: &Change<'_>,
    error: Error,
) -> Uncommitted {
    let mut left = Vec::new();
    for change in made.iter().rev() {
        let undone = match (change.before, &change.after) {
            (Before::Absent, _) => workdir.remove_file(change.path),
            (Before::Holds(bytes), After::Holds(_)) => {
                let undone = workdir.write_atomic(change.path, bytes, Existing::Replace).map(|_| ());
                undone.and_then(|()| match change.executable {
                    Some(executable) => workdir.set_executable(change.path, !executable),
                    None => Ok(()),
                })
            }
            (Before::Holds(bytes), After::Absent) => {
                let undone = workdir.write_atomic(change.path, bytes, Existing::Refuse).map(|_| ());
                undone.and_then(|()| match change.executable {
                    Some(executable) => workdir.set_executable(change.path, executable),
                    None => Ok(()),
                })
            }
            (Before::Whatever, _) => Ok(()),
        };
        if undone.is_err() {
            left.push(format!("`{}`", Shown::new(change.path.as_str())));
        }
    }
    for directory in directories.iter().rev() {
        // One that somebody else has put something into stays.
        let _ = workdir.remove_dir(directory);
    }
    let error = match error {
        Error::Exists { .. } | Error::NotFound { .. } => return Uncommitted::Changed(failed.path.clone()),
        error => failure(error),
    };
    if left.is_empty() {
        return Uncommitted::Failed(error);
    }
    let text =
        format!("{}; could not be put back: {}; look at what is in there", error.message(), left.join(", "));
    Uncommitted::Failed(ToolError::new(error.kind(), text).with_source(error))
}

#[cfg(test)]
mod tests {
    use super::{After, Before, Change, Uncommitted, commit};
    use haft_testkit::Tree;
    use haft_workdir::{Workdir, WorkdirPath};

    fn change<'a>(path: &'a WorkdirPath, before: Before<'a>, after: After<'a>) -> Change<'a> {
        Change { path, before, after, executable: None }
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
