mod nearest;
mod plan;
mod search;

use crate::blocking::{blocking, blocking_preview, go_on};
use crate::diff::Diff;
use crate::failure::{failure, failure_near, resolve};
use crate::hints::Hints;
use crate::lines::line_at;
use crate::resource;
use crate::same::holds;
use crate::words::{Count, Shown, counted, size};
use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, CallContext, CallScope, Prepared, Preview, Tool, input_schema, parse_input,
};
use haft_workdir::{Error, Existing, Workdir, WorkdirPath};
use plan::{Edit, plan};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How large a file may be, in bytes: it is held in memory twice.
const EDITED_BYTES: u64 = 64 * 1024 * 1024;

/// How many bytes of the diff the model gets.
const SHOWN_DIFF_BYTES: usize = 4 * 1024;

const DESCRIPTION: &str = "\
Changes parts of a text file by replacing exact texts. Each `old` must be copied from the file as it is, blanks and \
indentation included and without the line numbers of read_file, and be unique in it: add lines around it if it is not. \
All edits are looked up in the file as it is before the call; either all of them are made or none. The file keeps its \
line endings. The reply shows what has changed.";

/// Replaces exact texts in a file: the tool `edit_file`.
///
/// Every edit names a text that must occur exactly once, or as often as the edit says. All edits of a call are found
/// in the file before any is made; if one fails, the file stays as it is and the reply tells, for each that failed, in
/// which lines the text occurs or where in the file it was probably meant to be. Nothing is ever replaced by
/// similarity. Where the model writes LF and the file has CR LF, the text matches and the file keeps its endings.
///
/// The result goes into place in one step, after a look that the file is still what was read. A file that is not
/// UTF-8 is refused untouched, and so is one over 64 MiB. The host gets the change in the output's details
/// (`{"path", "diff", "replacements"}`), and a person who is asked sees the same diff.
///
/// Declares that it reads and writes exactly the file; if that is missing, also that it reads the directory whose names
/// are shown.
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
        let path = resolve(&self.workdir, &path)?;
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
        blocking(&cx, move |stop| self.0.edit(stop)).await
    }
}

impl Change {
    fn preview(&self) -> Preview {
        let refused = |reason: &str| Preview::Text(format!("this edit would be refused: {reason}"));
        match self.read() {
            Ok(old) => match plan(&old, &self.edits) {
                Ok(plan) => Preview::Diff(Diff::new(Some(&old), &plan.content).for_host(self.path.as_str())),
                Err(reason) => refused(&reason),
            },
            Err(error) => refused(error.message()),
        }
    }

    fn edit(&self, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let old = self.read()?;
        let plan = plan(&old, &self.edits).map_err(|reason| {
            ToolError::invalid_input(format!(
                "`{}` was not changed: {reason}",
                Shown::new(self.path.as_str())
            ))
        })?;
        go_on(stop)?;
        self.replace(&old, &plan.content)?;
        let diff = Diff::new(Some(&old), &plan.content);
        let total: u64 = plan.replacements.iter().sum();
        let text = format!(
            "edited `{}`: {}\n{}",
            Shown::new(self.path.as_str()),
            counted(total, "replacement", "replacements"),
            diff.for_model(SHOWN_DIFF_BYTES).trim_end_matches('\n')
        );
        Ok(ToolOutput::text(text).with_details(json!({
            "path": self.path.as_str(),
            "diff": diff.for_host(self.path.as_str()),
            "replacements": plan.replacements,
        })))
    }

    fn read(&self) -> Result<String, ToolError> {
        let bytes = self.workdir.read(&self.path, EDITED_BYTES).map_err(|error| match error {
            Error::TooLarge { .. } => ToolError::invalid_input(format!(
                "`{}` is larger than {}, too large to edit here; change it with a command such as `sed`",
                Shown::new(self.path.as_str()),
                size(EDITED_BYTES)
            ))
            .with_source(error),
            Error::NotFound { .. } => {
                let error = failure_near(&self.workdir, &self.hints, error);
                let text = format!("{} To create a file use write_file", ended(error.message()));
                ToolError::not_found(text).with_source(error)
            }
            other => failure(other),
        })?;
        String::from_utf8(bytes).map_err(|error| {
            let line = line_at(error.as_bytes(), error.utf8_error().valid_up_to());
            ToolError::invalid_input(format!(
                "`{}` was not changed: it is not UTF-8 text (see line {}); convert it with a command such as `iconv`, or change \
                 it with one such as `sed`",
                Shown::new(self.path.as_str()),
                Count(line)
            ))
            .with_source(error)
        })
    }

    /// Puts the new content into the file's place, if that still holds the old.
    fn replace(&self, old: &str, new: &str) -> Result<(), ToolError> {
        if !holds(&self.workdir, &self.path, old.as_bytes()).map_err(failure)? {
            return Err(ToolError::retry(format!(
                "`{}` was not changed: something else wrote to it during this call; read it again, then repeat the edit",
                Shown::new(self.path.as_str())
            )));
        }
        self.workdir.write_atomic(&self.path, new.as_bytes(), Existing::Replace).map_err(failure)?;
        Ok(())
    }
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
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    #[test]
    fn refuses_to_replace_a_file_that_changed_since_it_was_read() {
        let tree = Tree::new().file("a.txt", "theirs\n");
        let workdir = tree.workdir();
        let path = workdir.resolve("a.txt").unwrap();
        let change = Change { workdir, path, hints: Hints::default(), edits: Vec::new() };
        let error = change.replace("old\n", "mine\n").unwrap_err();
        assert_eq!(
            (error.message(), error.can_retry()),
            (
                "`a.txt` was not changed: something else wrote to it during this call; read it again, then repeat the edit",
                true
            )
        );
        assert_eq!(tree.read("a.txt"), "theirs\n");
        change.replace("theirs\n", "mine\n").unwrap();
        assert_eq!(tree.read("a.txt"), "mine\n");
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
        assert_eq!(change.edit(&stop).unwrap_err().kind(), ToolErrorKind::Cancelled);
        assert_eq!(tree.read("a.txt"), "old\n");
    }
}
