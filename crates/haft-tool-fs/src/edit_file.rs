mod ladder;
pub(crate) mod nearest;
mod places;
mod plan;
mod projection;
mod rewrite;
mod shift;

use crate::blocking::{blocking, blocking_preview, go_on};
use crate::commit::{self, After, Before, Uncommitted, commit};
use crate::diff::Diff;
use crate::digest::digest_beside;
use crate::encoding::{Decoded, TextEncoding};
use crate::failure::{failure, failure_near, resolve_writable};
use crate::hints::Hints;
use crate::lines::LineEnd;
use crate::origin::origin_of;
use crate::resource;
use crate::text_change::{difference, in_file, spliced};
use crate::whole::whole;
use crate::words::{Shown, counted, size};
use async_trait::async_trait;
use haft_core::{Content, Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, CallContext, CallScope, Prepared, Preview, Tool, input_schema, parse_input,
};
use haft_workdir::{ChangeOrigin, Error, Workdir, WorkdirPath};
use ladder::Level;
use plan::{Edit, Plan, PlannedEdit, plan};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How large a file may be, in bytes: it is held in memory.
const EDITED_BYTES: u64 = 64 * 1024 * 1024;

/// How many bytes of the diff the model gets.
const SHOWN_DIFF_BYTES: usize = 4 * 1024;

/// What is said of a file that was changed elsewhere during the call.
const DRIFTED: &str =
    "[something else wrote to the file during this call; the edits were looked up in what it is now]";

const DESCRIPTION: &str = "\
Changes parts of a text file by replacing exact texts. Each `old` must be copied from the file as it is, blanks and \
indentation included and without the line numbers of read_file, and be unique in it: add lines around it if it is not. \
All edits are looked up in the file as it is before the call; either all of them are made or none. The file keeps its \
encoding and line endings. The reply shows what has changed, and says so where `old` was found only without regard to \
line endings, blanks at the ends of lines, indentation or kinds of punctuation.";

/// Replaces exact texts in a file: the tool `edit_file`.
///
/// Every edit names a text that must occur exactly once, or as often as the edit says. All edits of a call are found
/// in the file before any is made; if one fails, the file stays as it is and the reply tells, for each that failed, in
/// which lines the text occurs or where in the file it was probably meant to be.
///
/// Nothing is ever replaced by similarity. A text that does not occur exactly is looked for without regard to line
/// endings, then also to blanks at the ends of lines, then also to one shift of all its indentation (by which the new text
/// is shifted too), and at last to which of several characters punctuation is written with; the first of these at which
/// it is found decides, and it has to be unique there. What old and new text have in common stays as it is in the file.
///
/// Only the bytes of what is replaced change, whatever the encoding of the file; where the new text cannot be written in
/// it, the edit is refused. The result goes into place in one step, after a look that the file is still what was read; if
/// it is not, the edits are looked up once more. What is not text is refused, and so is a file over 64 MiB. The host gets
/// the change in the output's details (`{"path", "diff", "replacements", "digest"}`), and a person who is asked sees the
/// same diff.
///
/// Declares that it reads and writes exactly the file; if that is missing, also that it reads the directory whose names
/// are shown.
///
/// ```
/// use haft_tool_fs::EditFile;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("a.txt", "let a = 1;\nlet b = 1;\n");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(EditFile::new(workdir.clone())) as _])?;
/// let edits = json!([{ "old": "b = 1", "new": "b = 2" }]);
/// call(&registry, "edit_file", json!({ "path": "a.txt", "edits": edits })).await;
/// assert_eq!(workdir.read(&workdir.resolve("a.txt")?, 100)?, b"let a = 1;\nlet b = 2;\n");
///
/// // What is meant is not guessed: a text that is there twice changes nothing.
/// let edits = json!([{ "old": "let ", "new": "const " }]);
/// let reply = call(&registry, "edit_file", json!({ "path": "a.txt", "edits": edits })).await;
/// assert!(!reply.status.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct EditFile {
    spec: ToolSpec,
    workdir: Workdir,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file to edit, relative to the working directory.
    path: String,
    /// The replacements to make, all of them or none; they must not overlap.
    #[schemars(length(min = 1, max = 100))]
    edits: Vec<Edit>,
}

impl EditFile {
    /// Makes the tool for a working directory.
    pub fn new(workdir: Workdir) -> Self {
        let spec = ToolSpec::new(ToolName::project("edit_file"), DESCRIPTION, input_schema::<Input>())
            .with_title("Edit file")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints { destructive: true, ..ToolHints::default() });
        Self { spec, workdir }
    }
}

impl Tool for EditFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { path, edits } = parse_input(input)?;
        let path = resolve_writable(&self.workdir, &path)?;
        let resource = resource::file(&path);
        let hints = Hints::where_missing(&self.workdir, &path);
        let accesses = [Access::read(resource.clone()), Access::write(resource)];
        let accesses: Accesses = accesses.into_iter().chain(hints.access()).collect();
        Ok(Prepared::new(
            accesses,
            EditAction(Arc::new(Change { workdir: self.workdir.clone(), path, hints, edits })),
        ))
    }
}

struct EditAction(Arc<Change>);

struct Change {
    workdir: Workdir,
    path: WorkdirPath,
    hints: Hints,
    edits: Vec<Edit>,
}

#[async_trait]
impl Action for EditAction {
    async fn preview(&self) -> Preview {
        let change = Arc::clone(&self.0);
        blocking_preview(move || change.preview()).await
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let origin = origin_of(&cx);
        self.0.hints.asked_by(&cx);
        blocking(&cx, move |stop| self.0.edit(&origin, stop)).await
    }
}

/// What an edit makes of a file.
struct Edited {
    edits: Vec<PlannedEdit>,
    diff: Diff,
    /// What each changed part of the file becomes.
    parts: Vec<(Range<usize>, Vec<u8>)>,
    encoding: TextEncoding,
}

impl Change {
    fn preview(&self) -> Preview {
        let refused = |reason: &str| Preview::Text(format!("this edit would be refused: {reason}"));
        match self.read() {
            Ok(old) => match edited(&old, &self.edits) {
                Ok(edited) => Preview::Diff(edited.diff.for_host(self.path.as_str())),
                Err(reason) => refused(&reason),
            },
            Err(error) => refused(error.message()),
        }
    }

    fn edit(&self, origin: &ChangeOrigin, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let _lock = self.workdir.lock([&self.path]).map_err(failure)?;
        if let Ok(output) = self.try_once(origin, stop)? {
            return Ok(output);
        }
        // It has changed since it was read, which need not be where the edits are.
        let mut output = self.try_once(origin, stop)?.map_err(Uncommitted::into_error)?;
        output.content.push(Content::text(DRIFTED));
        Ok(output)
    }

    fn try_once(
        &self,
        origin: &ChangeOrigin,
        stop: &CancellationToken,
    ) -> Result<Result<ToolOutput, Uncommitted>, ToolError> {
        let old = self.read()?;
        let edited = edited(&old, &self.edits).map_err(|reason| {
            ToolError::invalid_input(format!(
                "`{}` was not changed: {reason}",
                Shown::new(self.path.as_str())
            ))
        })?;
        go_on(stop)?;
        let parts = spliced(&old, &edited.parts);
        let (before, after) = (Before::Holds(&old), After::Holds(parts.clone()));
        let change = commit::Change { path: &self.path, before, after, executable: None, moved_from: None };
        let (committed, digest) = digest_beside(&parts, || commit(&self.workdir, origin, &[change]));
        match committed {
            Ok(committed) => Ok(Ok(committed.noted(self.output(&edited, &digest)))),
            Err(refused @ Uncommitted::Changed(_)) => Ok(Err(refused)),
            Err(Uncommitted::Failed(error)) => Err(error),
        }
    }

    fn output(&self, edited: &Edited, digest: &str) -> ToolOutput {
        let Edited { edits, diff, encoding, .. } = edited;
        let total: u64 = edits.iter().map(|edit| edit.places).sum();
        let mut text = format!(
            "edited `{}`: {}, {digest}",
            Shown::new(self.path.as_str()),
            counted(total, "replacement", "replacements")
        );
        let written = edited.parts.iter().any(|(_, new)| !new.is_ascii());
        if written && matches!(encoding, TextEncoding::Legacy(_)) {
            // Writing to a string cannot fail.
            let _ = write!(text, ", written as {}", encoding.name());
        }
        for (index, edit) in edits.iter().enumerate() {
            if let Some(words) = edit.level.words() {
                let _ = match edits.len() {
                    1 => write!(text, "; found without regard to {words}"),
                    _ => write!(text, "; edit {} found without regard to {words}", index + 1),
                };
            }
        }
        text.push('\n');
        text.push_str(diff.for_model(SHOWN_DIFF_BYTES).trim_end_matches('\n'));
        ToolOutput::text(text).with_details(json!({
            "path": self.path.as_str(),
            "diff": diff.for_host(self.path.as_str()),
            "replacements": edits.iter().map(|edit| edit.places).collect::<Vec<_>>(),
            "digest": digest,
        }))
    }

    fn read(&self) -> Result<Vec<u8>, ToolError> {
        whole(&self.workdir, &self.path, EDITED_BYTES).map_err(|error| match error {
            Error::TooLarge { .. } => ToolError::invalid_input(format!(
                "`{}` is larger than {}, too large to edit here; change it with a command such as `sed`",
                Shown::new(self.path.as_str()),
                size(EDITED_BYTES)
            ))
            .with_source(error),
            Error::NotFound { .. } => {
                let error = failure_near(&self.workdir, &self.hints, error);
                let text = format!("{} To create a file, use `write_file`.", ended(error.message()));
                ToolError::not_found(text).with_source(error)
            }
            other => failure(other),
        })
    }
}

/// Works out what edits make of a file, or says in words for the model why they cannot be made.
fn edited(old: &[u8], edits: &[Edit]) -> Result<Edited, String> {
    let Some(decoded) = Decoded::new(old) else {
        return Err("it is not text; change it with a program for this kind of file".to_owned());
    };
    let Plan { changes, edits: mut planned } = plan(&decoded.text, edits)?;
    for (planned, edit) in planned.iter_mut().zip(edits) {
        if decoded.line_end == LineEnd::Return && planned.level == Level::Exact && edit.old.contains('\n') {
            planned.level = Level::LineEnds;
        }
    }
    let parts = in_file(&decoded, old, &changes)?;
    let diff = difference(&decoded.text, &changes);
    Ok(Edited { edits: planned, diff, parts, encoding: decoded.encoding })
}

/// Ends a text so that a sentence can follow.
fn ended(text: &str) -> String {
    if text.ends_with(['?', '.']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::{Change, Hints};
    use crate::edit_file::plan::Edit;
    use haft_core::ToolErrorKind;
    use haft_testkit::Tree;
    use haft_testkit::counting::most_live;
    use haft_workdir::ChangeOrigin;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    fn origin() -> ChangeOrigin {
        ChangeOrigin::new("run".parse().unwrap(), "call".parse().unwrap())
    }

    #[test]
    fn holds_a_file_once() {
        let line = "let value = compute(with, some, arguments);\n";
        let text = line.repeat(200_000) + "let needle = 1;\n" + &line.repeat(200_000);
        let tree = Tree::new().file("a.txt", &text);
        let workdir = tree.workdir();
        let path = workdir.resolve("a.txt").unwrap();
        let edit: Edit = serde_json::from_value(json!({ "old": "needle = 1", "new": "pin = 2" })).unwrap();
        let change = Change { workdir, path, hints: Hints::default(), edits: vec![edit] };
        let (output, most) = most_live(|| change.edit(&origin(), &CancellationToken::new()).unwrap());
        assert!(output.to_text().contains("+let pin = 2;"));
        let file = i64::try_from(text.len()).unwrap();
        assert!(most * 10 <= file * 11, "{most} bytes are held for {file}");
    }

    #[test]
    fn changes_nothing_once_it_is_told_to_stop() {
        let tree = Tree::new().file("a.txt", "old\n");
        let workdir = tree.workdir();
        let path = workdir.resolve("a.txt").unwrap();
        let edit: Edit = serde_json::from_value(json!({ "old": "old", "new": "new" })).unwrap();
        let change = Change { workdir, path, hints: Hints::default(), edits: vec![edit] };
        let stop = CancellationToken::new();
        stop.cancel();
        assert_eq!(change.edit(&origin(), &stop).unwrap_err().kind(), ToolErrorKind::Cancelled);
        assert_eq!(tree.read("a.txt"), "old\n");
    }
}
