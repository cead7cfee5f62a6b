use super::File;
use super::hunks::patched;
use super::patch::{Hunk, Kind};
use crate::commit::{After, Before, Change};
use crate::diff::Diff;
use crate::encoding::Decoded;
use crate::failure::{failure, failure_near};
use crate::lines::lines_of;
use crate::text_change::{difference, in_file, spliced};
use crate::whole::whole;
use crate::words::{Shown, counted, lines, size};
use haft_core::ToolError;
use haft_workdir::{Error, Workdir, WorkdirPath};
use std::fmt::Write as _;

/// How many bytes the files of a patch may have together: they are held in memory, as they are and as they become.
const PATCHED_BYTES: u64 = 64 * 1024 * 1024;

/// What becomes of one file.
pub(super) struct Planned<'a> {
    file: &'a File,
    /// What is in it; nothing where it is new, or only renamed.
    before: Option<Vec<u8>>,
    /// What comes into it; nothing where it is removed, or only renamed.
    pub(super) after: Option<Vec<u8>>,
    was_executable: bool,
    hunks: usize,
    pub(super) change: &'static str,
    pub(super) diff: String,
    pub(super) notes: Vec<String>,
}

/// Works out what becomes of a file; counts what is read.
pub(super) fn plan<'a>(workdir: &Workdir, file: &'a File, read: &mut u64) -> Result<Planned<'a>, ToolError> {
    let refused = |reason: String| ToolError::invalid_input(reason);
    let executable = file.patch.executable;
    if let Kind::Add { content } = &file.patch.kind {
        is_vacant(workdir, &file.path)?;
        return Ok(Planned {
            file,
            before: None,
            after: Some(content.clone().into_bytes()),
            was_executable: false,
            hunks: 0,
            change: "added",
            diff: Diff::new(None, content).for_host(file.path.as_str()),
            notes: Vec::new(),
        });
    }
    let not_readable = |error| match error {
        Error::TooLarge { .. } => refused(format!(
            "the files are larger than {} together; patch fewer at a time",
            size(PATCHED_BYTES)
        )),
        other => failure_near(workdir, &file.hints, other),
    };
    drop(workdir.open_file(&file.path).map_err(not_readable)?);
    let was_executable = workdir.metadata(&file.path).map_err(failure)?.is_executable();
    if let Some(to) = &file.to {
        is_vacant(workdir, to)?;
    }
    let hunks: &[Hunk] = match &file.patch.kind {
        Kind::Delete { hunks } | Kind::Update { hunks, .. } => hunks,
        Kind::Add { .. } => &[],
    };
    let change = match (&file.patch.kind, &file.to) {
        (Kind::Delete { .. }, _) => "removed",
        (_, Some(_)) => "renamed",
        (_, None) if hunks.is_empty() => "changed the mode of",
        (_, None) => "changed",
    };
    let mut planned = Planned {
        file,
        before: None,
        after: None,
        was_executable,
        hunks: hunks.len(),
        change,
        diff: String::new(),
        notes: Vec::new(),
    };
    if change == "renamed" && hunks.is_empty() && executable.unwrap_or(was_executable) == was_executable {
        return Ok(planned);
    }
    let before = whole(workdir, &file.path, PATCHED_BYTES - *read).map_err(not_readable)?;
    *read += before.len() as u64;
    if hunks.is_empty() {
        if change != "removed" {
            if file.to.is_none() && executable == Some(was_executable) {
                return Err(refused("it has this mode already; leave it out".to_owned()));
            }
            planned.after = Some(before.clone());
        }
        planned.before = Some(before);
        return Ok(planned);
    }
    let decoded = Decoded::new(&before).ok_or_else(|| {
        refused("it is not text; change it with a program for this kind of file".to_owned())
    })?;
    let found = patched(&decoded.text, hunks).map_err(refused)?;
    if change == "removed" {
        let is_all: usize = found.changes.iter().map(|change| change.place.len()).sum();
        if is_all != decoded.text.len() || found.changes.iter().any(|change| !change.new.is_empty()) {
            return Err(refused(
                "the patch removes it, and it has lines that the patch does not show; read it first"
                    .to_owned(),
            ));
        }
    } else if found.changes.is_empty() {
        return Err(refused("it is already as the patch would make it; leave it out".to_owned()));
    } else {
        let parts = in_file(&decoded, &before, &found.changes).map_err(refused)?;
        planned.after = Some(spliced(&before, &parts).concat());
    }
    planned.diff =
        difference(&decoded.text, &found.changes).for_host(file.to.as_ref().unwrap_or(&file.path).as_str());
    planned.notes = found.notes;
    drop(decoded);
    planned.before = Some(before);
    Ok(planned)
}

fn is_vacant(workdir: &Workdir, path: &WorkdirPath) -> Result<(), ToolError> {
    match workdir.kind(path) {
        Err(Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(failure(error)),
        Ok(kind) => Err(ToolError::invalid_input(format!(
            "`{}` already exists as a {kind}; change it with a hunk, or choose another path",
            Shown::new(path.as_str())
        ))),
    }
}

impl Planned<'_> {
    /// The path that the file has afterwards.
    pub(super) fn path(&self) -> &WorkdirPath {
        self.file.to.as_ref().unwrap_or(&self.file.path)
    }

    /// Says what happened in a line.
    pub(super) fn summary(&self) -> String {
        let path = Shown::new(self.file.path.as_str());
        let mut text = match &self.file.to {
            Some(to) => format!("{} `{path}` to `{}`", self.change, Shown::new(to.as_str())),
            None => format!("{} `{path}`", self.change),
        };
        if self.hunks > 0 && self.after.is_some() {
            // Writing to a string cannot fail.
            let _ = write!(text, ", {}", counted(self.hunks as u64, "hunk", "hunks"));
        }
        if let (None, Some(after)) = (&self.before, &self.after) {
            let _ = write!(text, ", {}", lines(lines_of(after)));
        }
        match self.file.patch.executable {
            Some(executable) if executable != self.was_executable => {
                text += if executable { ", executable" } else { ", no longer executable" };
            }
            _ => {}
        }
        text
    }

    /// What has to be done for it.
    pub(super) fn change_of_file(&self) -> Change<'_> {
        let before = self.before.as_deref().map_or(Before::Absent, Before::Holds);
        let after = || self.after.as_deref().map_or(After::Absent, |bytes| After::Holds(vec![bytes]));
        let wanted = self.file.patch.executable.unwrap_or(self.was_executable);
        let path = &self.file.path;
        let executable = (wanted != self.was_executable).then_some(wanted);
        match (&self.file.to, &self.before, &self.after) {
            (Some(to), None, None) => Change {
                path: to,
                before: Before::Whatever,
                after: After::Kept,
                executable: None,
                moved_from: Some(path),
            },
            (Some(to), ..) => Change { path: to, before, after: after(), executable, moved_from: Some(path) },
            (None, ..) => Change { path, before, after: after(), executable, moved_from: None },
        }
    }
}
