use super::doing::{Doing, changing};
use super::entry::{not_inside, not_the_root, occupied};
use crate::blocking::go_on;
use crate::failure::{failure, failure_near, resolve, resolve_writable};
use crate::hints::{Hints, missing_above};
use crate::resource;
use crate::whole::whole;
use crate::words::{Count, Shown, counted, size};
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolSpec};
use haft_tools_core::{Access, Accesses, CallScope, Prepared, Tool, input_schema, parse_input};
use haft_workdir::{EntryKind, Error, Expected, NewFile, OpenChangeSet, WalkOptions, Workdir, WorkdirPath};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// How many bytes a copied file may have: it is held in memory.
const FILE_BYTES: u64 = 64 * 1024 * 1024;

/// How many entries of a directory are copied at most.
const ENTRIES: usize = 5_000;

const DESCRIPTION: &str = "\
Copies a file, or a directory with everything in it. Nothing is replaced: if something is at the new path, the call is \
refused. Directories above the new path are made. Symbolic links in a directory are left out and counted.";

/// Copies a file or a directory: the tool `copy`.
///
/// Everything is copied or nothing, and has the permissions of what it is a copy of. A file over 64 MiB and a directory of
/// more than 5,000 entries are refused before anything is copied. Declares that it reads everything at and below the one
/// place and writes the other, with the directories that it makes.
///
/// ```
/// use haft_tool_fs::CopyEntry;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("a.txt", "one\n");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(CopyEntry::new(workdir.clone())) as _])?;
/// let reply = call(&registry, "copy", json!({ "from": "a.txt", "to": "old/a.txt" })).await;
/// assert_eq!(reply.output.to_text(), "copied `a.txt` to `old/a.txt`: 4 bytes");
/// assert_eq!(workdir.read(&workdir.resolve("old/a.txt")?, 100)?, b"one\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CopyEntry {
    spec: ToolSpec,
    workdir: Workdir,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file or directory to copy, relative to the working directory.
    from: String,
    /// The whole path of the copy, its name included.
    to: String,
}

impl CopyEntry {
    /// Makes the tool for a working directory.
    pub fn new(workdir: Workdir) -> Self {
        let spec = ToolSpec::new(ToolName::project("copy"), DESCRIPTION, input_schema::<Input>())
            .with_title("Copy")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints::default());
        Self { spec, workdir }
    }
}

impl Tool for CopyEntry {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let input: Input = parse_input(input)?;
        let from = resolve(&self.workdir, &input.from)?;
        let to = resolve_writable(&self.workdir, &input.to)?;
        not_the_root(&from, "copy")?;
        not_inside(&from, &to)?;
        let hints = Hints::where_missing(&self.workdir, &from);
        let created = resource::created(&missing_above(&self.workdir, &to));
        let written = std::iter::once(resource::tree(&to)).chain(created).map(Access::write);
        let read = std::iter::once(Access::read(resource::tree(&from)));
        let accesses: Accesses = read.chain(written).chain(hints.access()).collect();
        let workdir = self.workdir.clone();
        let shown = format!("copies `{}` to `{}`", Shown::new(from.as_str()), Shown::new(to.as_str()));
        let doing = Doing::new(shown, move |cx, stop| {
            hints.asked_by(cx);
            let _lock = workdir.lock([&to]).map_err(failure)?;
            let found = find(&workdir, &from, &to, &hints, stop)?;
            changing(&workdir, cx, |set| copy(&workdir, set, &found, &from, &to, stop))
        });
        Ok(Prepared::new(accesses, doing))
    }
}

/// What there is to copy.
enum Found {
    File,
    /// What is in a directory, with how much of it is neither a file nor a directory.
    Directory {
        files: Vec<WorkdirPath>,
        directories: Vec<WorkdirPath>,
        left_out: u64,
    },
}

fn find(
    workdir: &Workdir,
    from: &WorkdirPath,
    to: &WorkdirPath,
    hints: &Hints,
    stop: &CancellationToken,
) -> Result<Found, ToolError> {
    let kind = workdir.metadata(from).map_err(|error| failure_near(workdir, hints, error))?.kind();
    match workdir.kind(to) {
        Err(Error::NotFound { .. }) => {}
        Err(error) => return Err(failure(error)),
        Ok(_) => return Err(occupied(to)),
    }
    match kind {
        EntryKind::File => return Ok(Found::File),
        EntryKind::Directory => {}
        other => {
            return Err(ToolError::invalid_input(format!(
                "`{}` is a {other}; only files and directories are copied",
                Shown::new(from.as_str())
            )));
        }
    }
    let options = WalkOptions::default().hidden(true).ignored(true);
    let (mut files, mut directories, mut left_out) = (Vec::new(), Vec::new(), 0_u64);
    for entry in workdir.walk(from, options).map_err(failure)? {
        go_on(stop)?;
        let Ok(entry) = entry else {
            left_out += 1;
            continue;
        };
        match entry.kind() {
            EntryKind::File => files.push(entry.into_path()),
            EntryKind::Directory => directories.push(entry.into_path()),
            EntryKind::Symlink | EntryKind::Other(_) => left_out += 1,
        }
        if files.len() + directories.len() > ENTRIES {
            return Err(ToolError::invalid_input(format!(
                "nothing was copied: `{}` has more than {} entries; copy parts of it, or use a command such as `cp -r`",
                Shown::new(from.as_str()),
                Count(ENTRIES as u64)
            )));
        }
    }
    Ok(Found::Directory { files, directories, left_out })
}

fn copy(
    workdir: &Workdir,
    set: &mut OpenChangeSet<'_>,
    found: &Found,
    from: &WorkdirPath,
    to: &WorkdirPath,
    stop: &CancellationToken,
) -> Result<String, ToolError> {
    let said = format!("`{}` to `{}`", Shown::new(from.as_str()), Shown::new(to.as_str()));
    let Found::Directory { files, directories, left_out } = found else {
        let bytes = copy_file(workdir, set, from, to)?;
        return Ok(format!("copied {said}: {}", size(bytes)));
    };
    let place = |path: &WorkdirPath| {
        let below = path.relative_to(from).unwrap_or_default();
        below.split('/').try_fold(to.clone(), |place, name| place.join_file_name(name))
    };
    copy_directory(workdir, set, from, to)?;
    for directory in directories {
        let Some(place) = place(directory) else { continue };
        copy_directory(workdir, set, directory, &place)?;
    }
    let mut bytes = 0;
    for file in files {
        go_on(stop)?;
        let Some(place) = place(file) else { continue };
        bytes += copy_file(workdir, set, file, &place).map_err(|error| {
            let text = format!("nothing was copied: {}", error.message());
            ToolError::new(error.kind(), text).with_source(error)
        })?;
    }
    let mut text =
        format!("copied {said}: {}, {}", counted(files.len() as u64, "file", "files"), size(bytes));
    if *left_out > 0 {
        text += "; left out: ";
        text += &counted(*left_out, "link or other entry", "links and other entries");
    }
    Ok(text)
}

fn copy_directory(
    workdir: &Workdir,
    set: &mut OpenChangeSet<'_>,
    from: &WorkdirPath,
    to: &WorkdirPath,
) -> Result<(), ToolError> {
    let mode = workdir.metadata(from).map_err(failure)?.permissions();
    set.create_dir_like(to, mode).map_err(failure)
}

fn copy_file(
    workdir: &Workdir,
    set: &mut OpenChangeSet<'_>,
    from: &WorkdirPath,
    to: &WorkdirPath,
) -> Result<u64, ToolError> {
    let bytes = whole(workdir, from, FILE_BYTES).map_err(|error| match error {
        Error::TooLarge { .. } => ToolError::invalid_input(format!(
            "`{}` is larger than {}; copy it with a command such as `cp`",
            Shown::new(from.as_str()),
            size(FILE_BYTES)
        )),
        other => failure(other),
    })?;
    let mode = workdir.metadata(from).map_err(failure)?.permissions();
    let written = set.write(to, &NewFile::new(&[&bytes]).permissions(mode).copied(), Expected::Absent);
    written.map_err(|error| match error {
        Error::Exists { .. } => occupied(to).with_source(error),
        other => failure(other),
    })?;
    Ok(bytes.len() as u64)
}
