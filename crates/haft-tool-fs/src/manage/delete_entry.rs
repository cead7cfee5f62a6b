use super::doing::{Doing, changing};
use super::entry::{not_the_root, resolve_entry};
use crate::failure::{crosses_devices, failure, failure_near, writable};
use crate::hints::Hints;
use crate::resource;
use crate::words::{Count, Shown};
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolSpec};
use haft_tools_core::{Access, Accesses, CallScope, Prepared, Tool, input_schema, parse_input};
use haft_workdir::{EntryKind, Error, Expected, NewFile, OpenChangeSet, Workdir, WorkdirPath};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The directory of the root that keeps what is deleted, a directory for each run.
const TRASH: &str = ".haft-trash";

/// How many entries of one name are kept of a run.
const SAME_NAMES: u32 = 1_000;

const DESCRIPTION: &str = "\
Deletes a file, or a directory with everything in it. It is moved to a trash of this run, and the reply says how to bring it \
back. With `permanently` a file or an empty directory is removed for good.";

/// Deletes an entry: the tool `delete`.
///
/// By default it is moved in one step to `.haft-trash/RUN/` in the working directory, which git ignores and from where `move`
/// brings it back; a host empties it when it likes. A symbolic link is itself deleted. Declares that it writes everything at
/// and below the place, and the trash of the run.
///
/// ```
/// use haft_tool_fs::DeleteEntry;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("a.txt", "one\n");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(DeleteEntry::new(workdir.clone())) as _])?;
/// // The run is `test`.
/// let reply = call(&registry, "delete", json!({ "path": "a.txt" })).await;
/// assert_eq!(
///     reply.output.to_text(),
///     "deleted `a.txt`; it is kept as `.haft-trash/test/a.txt`, from where `move` brings it back",
/// );
/// assert!(workdir.kind(&workdir.resolve("a.txt")?).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeleteEntry {
    spec: ToolSpec,
    workdir: Workdir,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file or directory to delete, relative to the working directory.
    path: String,
    /// Remove a file or an empty directory for good, instead of moving it to the trash.
    #[serde(default)]
    permanently: bool,
}

impl DeleteEntry {
    /// Makes the tool for a working directory.
    pub fn new(workdir: Workdir) -> Self {
        let spec = ToolSpec::new(ToolName::project("delete"), DESCRIPTION, input_schema::<Input>())
            .with_title("Delete")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints { destructive: true, ..ToolHints::default() });
        Self { spec, workdir }
    }
}

impl Tool for DeleteEntry {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { path, permanently } = parse_input(input)?;
        let path = resolve_entry(&self.workdir, &path)?;
        not_the_root(&path, "delete")?;
        let hints = Hints::where_missing(&self.workdir, &path);
        let trash = trash_of(scope)?;
        if path.starts_with(&trash) && !permanently {
            return Err(ToolError::invalid_input(format!(
                "`{}` is in the trash already; set `permanently` to remove it for good",
                Shown::new(path.as_str())
            )));
        }
        if trash.starts_with(&path) && !permanently {
            return Err(ToolError::invalid_input(format!(
                "`{}` holds the trash of this run and cannot be moved into it; delete what is in it with `permanently`",
                Shown::new(path.as_str())
            )));
        }
        let mut accesses = vec![Access::write(resource::tree(&path))];
        if !permanently {
            writable(&self.workdir, &trash)?;
            accesses.push(Access::write(resource::tree(&trash)));
        }
        let accesses: Accesses = accesses.into_iter().chain(hints.access()).collect();
        let workdir = self.workdir.clone();
        let how = if permanently { "for good" } else { "by moving it to the trash" };
        let shown = format!("deletes `{}` {how}", Shown::new(path.as_str()));
        let doing = Doing::new(shown, move |cx, _| {
            hints.asked_by(cx);
            let _lock = workdir.lock([&path]).map_err(failure)?;
            let kind = kind_of(&workdir, &path).map_err(|error| failure_near(&workdir, &hints, error))?;
            changing(&workdir, cx, |set| {
                if permanently { remove(&workdir, set, &path, kind) } else { keep(set, &path, &trash) }
            })
        });
        Ok(Prepared::new(accesses, doing))
    }
}

/// Gives the directory that keeps what a run deletes.
fn trash_of(scope: &CallScope) -> Result<WorkdirPath, ToolError> {
    let trash = WorkdirPath::root().join_file_name(TRASH);
    let of_run = trash.and_then(|trash| trash.join_file_name(&scope.run().to_string().replace('/', "_")));
    of_run.ok_or_else(|| ToolError::failed("this run has no trash; set `permanently`, or ask the user"))
}

/// Looks an entry up; a link counts as what it is.
fn kind_of(workdir: &Workdir, path: &WorkdirPath) -> Result<EntryKind, Error> {
    match workdir.kind(path) {
        Err(Error::Changed { .. }) => Ok(EntryKind::Symlink),
        kind => kind,
    }
}

fn remove(
    workdir: &Workdir,
    set: &mut OpenChangeSet<'_>,
    path: &WorkdirPath,
    kind: EntryKind,
) -> Result<String, ToolError> {
    let shown = Shown::new(path.as_str());
    if kind == EntryKind::Directory {
        let entries = workdir.read_dir(path).map_err(failure)?.len();
        if entries > 0 {
            return Err(ToolError::invalid_input(format!(
                "`{shown}` has {} entries; leave out `permanently` to move it to the trash with all of them, or delete them first",
                Count(entries as u64)
            )));
        }
        set.remove_dir(path).map_err(failure)?;
    } else {
        set.remove_file(path, Expected::Whatever).map_err(failure)?;
    }
    Ok(format!("deleted `{shown}` for good"))
}

/// Moves an entry to the trash under its own name, with a number where that is taken.
fn keep(set: &mut OpenChangeSet<'_>, path: &WorkdirPath, trash: &WorkdirPath) -> Result<String, ToolError> {
    let created = set.create_dir_all(trash).map_err(failure)?;
    if let (Some(root), true) = (trash.parent(), created > 1)
        && let Some(ignore) = root.join_file_name(".gitignore")
    {
        // Whether git ignores it is a convenience.
        let _ = set.write(&ignore, &NewFile::new(&[b"*\n"]), Expected::Absent);
    }
    let name = path.file_name().unwrap_or_default();
    for number in 0..SAME_NAMES {
        let kept = if number == 0 { name.to_owned() } else { format!("{number}~{name}") };
        let Some(place) = trash.join_file_name(&kept) else { break };
        match set.rename(path, &place) {
            Ok(()) => {
                return Ok(format!(
                    "deleted `{}`; it is kept as `{}`, from where `move` brings it back",
                    Shown::new(path.as_str()),
                    Shown::new(place.as_str())
                ));
            }
            Err(Error::Exists { .. }) => {}
            Err(error @ Error::Io { .. }) if crosses_devices(&error) => {
                return Err(ToolError::failed(format!(
                    "`{}` lies on another file system than the trash; set `permanently` to remove it for good",
                    Shown::new(path.as_str())
                ))
                .with_source(error));
            }
            Err(error) => return Err(failure(error)),
        }
    }
    Err(ToolError::failed(format!(
        "the trash has too many entries named `{}`; ask the user to empty `{TRASH}`",
        Shown::new(name)
    )))
}
