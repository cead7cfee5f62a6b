mod hunks;
mod locate;
mod patch;
mod planned;

use crate::blocking::{blocking, blocking_preview, go_on};
use crate::commit::{Uncommitted, commit};
use crate::digest::digest;
use crate::failure::{failure, of_file, resolve_writable};
use crate::hints::{Hints, missing_above};
use crate::origin::origin_of;
use crate::resource;
use crate::words::{Count, Shown, counted};
use async_trait::async_trait;
use haft_core::{Content, Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, CallContext, CallScope, Prepared, Preview, Tool, input_schema, parse_input,
};
use haft_workdir::{ChangeOrigin, Workdir, WorkdirPath};
use patch::{FilePatch, Kind, parse};
use planned::{Planned, plan};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How many files that cannot be changed are told in full.
const TOLD_FILES: usize = 3;

/// How many files and notes are named in a reply.
const NAMED_LINES: usize = 200;

/// What is said of files that were changed elsewhere during the call.
const DRIFTED: &str = "[something else wrote to files of the patch during this call; the hunks were looked up in what they are now]";

const DESCRIPTION: &str = "\
Changes, creates, removes and renames files by a patch: either the form that starts with `*** Begin Patch` and ends with \
`*** End Patch`, or a unified diff as git or diff write it. Everything is looked up before anything is changed: either all \
files are changed or none. Each hunk has to fit in one place only, exactly but for blanks at the ends of lines; give it \
lines of context. For a few replacements in one file edit_file is simpler.";

/// Applies a patch to several files, all or none: the tool `apply_patch`.
///
/// Reads the grammar of `*** Begin Patch` and unified diffs, git's extended heads with them: new, removed and renamed files
/// and modes; not copies and binary patches. Each hunk is taken where it says it is, by how far those before it were moved,
/// or in the only place where it fits; where that is not where it says, and where up to 2 lines of context at its ends do not
/// fit, the reply says so. Files keep their encoding, line endings and missing final newline, unless the patch is about it.
///
/// All is planned before anything is written; then every file is looked at once more, and if one cannot be written those
/// before it are put back. Where the working directory has a journal, they are also put back if the process is killed. The host gets the diffs in the output's details (`{"files": [{"path", "change", "diff"}]}`).
///
/// A renamed file is moved, so that it keeps all that it has beside its content, and its other names (hard links) stay names of
/// it; one that is changed too is then written as any file is, those names included. A rename from one file system to another is
/// refused.
///
/// Declares that it reads and writes the files, and writes the directories that it creates.
///
/// ```
/// use haft_tool_fs::ApplyPatch;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("a.txt", "one\ntwo\n");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(ApplyPatch::new(workdir.clone())) as _])?;
/// let patch = "*** Begin Patch\n*** Update File: a.txt\n one\n-two\n+three\n*** Add File: b.txt\n+new\n*** End Patch\n";
/// let reply = call(&registry, "apply_patch", json!({ "patch": patch })).await;
/// assert!(reply.output.to_text().starts_with("applied to 2 files:\nchanged `a.txt`, 1 hunk"));
/// assert_eq!(workdir.read(&workdir.resolve("a.txt")?, 100)?, b"one\nthree\n");
/// assert_eq!(workdir.read(&workdir.resolve("b.txt")?, 100)?, b"new\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ApplyPatch {
    spec: ToolSpec,
    workdir: Workdir,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The patch, whole.
    patch: String,
}

impl ApplyPatch {
    /// Makes the tool for a working directory.
    pub fn new(workdir: Workdir) -> Self {
        let spec = ToolSpec::new(ToolName::project("apply_patch"), DESCRIPTION, input_schema::<Input>())
            .with_title("Apply patch")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints { destructive: true, ..ToolHints::default() });
        Self { spec, workdir }
    }
}

impl Tool for ApplyPatch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { patch } = parse_input(input)?;
        let refused = |reason: &str| ToolError::invalid_input(format!("the patch was not applied: {reason}"));
        let patches = parse(&patch).map_err(|reason| refused(&reason))?;
        let mut files = Vec::with_capacity(patches.len());
        let mut accesses: Vec<Access> = Vec::new();
        for patch in patches {
            let path = resolve_writable(&self.workdir, &patch.path)?;
            let to = match &patch.kind {
                Kind::Update { to: Some(to), .. } => Some(resolve_writable(&self.workdir, to)?),
                _ => None,
            };
            let is_new = matches!(patch.kind, Kind::Add { .. });
            let hints = if is_new { Hints::default() } else { Hints::where_missing(&self.workdir, &path) };
            if !is_new {
                accesses.push(Access::read(resource::file(&path)));
            }
            accesses.push(Access::write(resource::file(&path)));
            accesses.extend(hints.access());
            for created in is_new.then_some(&path).into_iter().chain(&to) {
                let directories = resource::created(&missing_above(&self.workdir, created));
                accesses.extend(directories.into_iter().chain([resource::file(created)]).map(Access::write));
            }
            files.push(File { path, to, hints, patch });
        }
        for (index, file) in files.iter().enumerate() {
            let others =
                files[..index].iter().flat_map(|other| [Some(&other.path), other.to.as_ref()]).flatten();
            let paths: Vec<&WorkdirPath> =
                [Some(&file.path), file.to.as_ref()].into_iter().flatten().collect();
            if let Some(twice) = others.into_iter().find(|other| paths.contains(other)) {
                let twice = Shown::new(twice.as_str());
                return Err(refused(&format!("`{twice}` is in it twice; put all its hunks under one head")));
            }
        }
        let accesses: Accesses = accesses
            .into_iter()
            .fold(Vec::new(), |mut different: Vec<Access>, access| {
                if !different.contains(&access) {
                    different.push(access);
                }
                different
            })
            .into_iter()
            .collect();
        Ok(Prepared::new(accesses, Apply(Arc::new(Patch { workdir: self.workdir.clone(), files }))))
    }
}

struct Apply(Arc<Patch>);

struct Patch {
    workdir: Workdir,
    files: Vec<File>,
}

/// One file of a patch, with the places that its paths name.
struct File {
    path: WorkdirPath,
    to: Option<WorkdirPath>,
    hints: Hints,
    patch: FilePatch,
}

#[async_trait]
impl Action for Apply {
    async fn preview(&self) -> Preview {
        let patch = Arc::clone(&self.0);
        blocking_preview(move || patch.preview()).await
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let origin = origin_of(&cx);
        self.0.files.iter().for_each(|file| file.hints.asked_by(&cx));
        blocking(&cx, move |stop| self.0.apply(&origin, stop)).await
    }
}

impl Patch {
    fn preview(&self) -> Preview {
        match self.plan() {
            Ok(planned) => Preview::Diff(planned.iter().map(|file| file.diff.as_str()).collect()),
            Err(error) => Preview::Text(format!("this patch would be refused: {}", error.message())),
        }
    }

    fn apply(&self, origin: &ChangeOrigin, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let paths = self.files.iter().flat_map(|file| [Some(&file.path), file.to.as_ref()]).flatten();
        let _lock = self.workdir.lock(paths).map_err(failure)?;
        match self.try_once(origin, stop)? {
            Ok(output) => Ok(output),
            Err(Uncommitted::Changed(path)) if self.removes_unseen(&path) => {
                Err(Uncommitted::Changed(path).into_error())
            }
            // Something has changed since it was read, which need not be where the hunks are.
            Err(_) => {
                let mut output = self.try_once(origin, stop)?.map_err(Uncommitted::into_error)?;
                output.content.push(Content::text(DRIFTED));
                Ok(output)
            }
        }
    }

    /// Tells whether a file is to be removed whatever is in it.
    fn removes_unseen(&self, path: &WorkdirPath) -> bool {
        let removes = |kind: &Kind| matches!(kind, Kind::Delete { hunks } if hunks.is_empty());
        self.files.iter().any(|file| file.path == *path && removes(&file.patch.kind))
    }

    fn try_once(
        &self,
        origin: &ChangeOrigin,
        stop: &CancellationToken,
    ) -> Result<Result<ToolOutput, Uncommitted>, ToolError> {
        let planned = self.plan()?;
        go_on(stop)?;
        let changes: Vec<_> = planned.iter().map(Planned::change_of_file).collect();
        match commit(&self.workdir, origin, &changes) {
            Ok(committed) => Ok(Ok(committed.noted(output(&planned)))),
            Err(refused @ Uncommitted::Changed(_)) => Ok(Err(refused)),
            Err(Uncommitted::Failed(error)) => Err(error),
        }
    }

    /// Works out what becomes of every file, before any is changed.
    fn plan(&self) -> Result<Vec<Planned<'_>>, ToolError> {
        let mut planned = Vec::with_capacity(self.files.len());
        let mut failed: Vec<(&File, ToolError)> = Vec::new();
        let mut read = 0;
        for file in &self.files {
            match plan(&self.workdir, file, &mut read) {
                Ok(file) => planned.push(file),
                Err(error) => failed.push((file, error)),
            }
        }
        let Some((_, first)) = failed.first() else { return Ok(planned) };
        let mut text = match self.files.len() {
            1 => "the patch was not applied".to_owned(),
            files => format!(
                "nothing of the patch was applied, since {} of {files} files cannot be changed",
                failed.len()
            ),
        };
        for (file, error) in failed.iter().take(TOLD_FILES) {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{}", of_file(&file.path, error));
        }
        if failed.len() > TOLD_FILES {
            let _ = write!(text, "\n… and {} more; correct these first", failed.len() - TOLD_FILES);
        }
        Err(ToolError::new(first.kind(), text))
    }
}

fn output(planned: &[Planned<'_>]) -> ToolOutput {
    let mut lines = vec![format!("applied to {}:", counted(planned.len() as u64, "file", "files"))];
    for file in planned {
        let mut line = file.summary();
        if let Some(after) = &file.after {
            let _ = write!(line, ", {}", digest(&[after]));
        }
        lines.push(line);
        lines.extend(file.notes.iter().map(|note| format!("  {note}")));
    }
    if lines.len() > NAMED_LINES {
        let more = lines.len() - NAMED_LINES;
        lines.truncate(NAMED_LINES);
        lines.push(format!("… and {} more lines", Count(more as u64)));
    }
    let files: Vec<Value> = planned
        .iter()
        .map(|file| json!({ "path": file.path().as_str(), "change": file.change, "diff": file.diff }))
        .collect();
    ToolOutput::text(lines.join("\n")).with_details(json!({ "files": files }))
}
