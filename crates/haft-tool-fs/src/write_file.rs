use crate::blocking::{blocking, blocking_preview, go_on};
use crate::diff::Diff;
use crate::failure::{failure, resolve};
use crate::hints::missing_above;
use crate::lines::lines_of;
use crate::resource;
use crate::same::holds;
use crate::words::{Shown, joined, lines, size};
use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, CallContext, CallScope, Prepared, Preview, Tool, input_schema, parse_input,
};
use haft_workdir::{Error, Existing, Workdir, WorkdirPath, Written};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io;
use std::iter;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How large a file may be, in bytes, for its change to be shown as a diff.
const DIFFED_BYTES: u64 = 4 * 1024 * 1024;

const DESCRIPTION: &str = "\
Writes a whole file: creates it, with the directories above it, or replaces all of its content. To change a part of an \
existing file use edit_file. The file holds either its old content or the new, never a part.";

/// Writes a whole file: the tool `write_file`.
///
/// The content goes into place in one step, so that neither a reader nor a crash sees half of it; directories that do
/// not exist are created and named in the reply. Content that is there already is not written again. The host gets the
/// change as a unified diff in the output's details (`{"path", "diff"}`; the diff is null where a side is larger than 4 MiB or
/// not text), and a person who is asked sees the same.
///
/// Declares that it writes exactly the file, and each directory above it that does not exist.
#[derive(Debug)]
pub struct WriteFile {
    spec: ToolSpec,
    workdir: Workdir,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file to write, relative to the working directory.
    path: String,
    /// All of the file's new content, written exactly as given; end it with a line break.
    content: String,
    /// Refuse if the file exists, instead of replacing its content.
    #[serde(default)]
    create_only: bool,
}

impl WriteFile {
    /// Makes the tool for a working directory.
    pub fn new(workdir: Workdir) -> Self {
        let spec = ToolSpec::new(ToolName::project("write_file"), DESCRIPTION, input_schema::<Input>())
            .with_title("Write file")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints { destructive: true, idempotent: true, ..ToolHints::default() });
        Self { spec, workdir }
    }
}

impl Tool for WriteFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let input: Input = parse_input(input)?;
        let path = resolve(&self.workdir, &input.path)?;
        let existing = if input.create_only { Existing::Refuse } else { Existing::Replace };
        // Until the directories exist, what is done below them has to wait for whoever creates them.
        let created = resource::created(&missing_above(&self.workdir, &path));
        let accesses: Accesses =
            iter::once(resource::file(&path)).chain(created).map(Access::write).collect();
        let workdir = self.workdir.clone();
        Ok(Prepared::new(
            accesses,
            Write(Arc::new(Change { workdir, path, content: input.content, existing })),
        ))
    }
}

struct Write(Arc<Change>);

struct Change {
    workdir: Workdir,
    path: WorkdirPath,
    content: String,
    existing: Existing,
}

/// What is in a file's place before it is written.
enum Before {
    Nothing,
    Text(String),
    /// Something that no diff can show: not text, or too large.
    Other {
        bytes: u64,
    },
}

#[async_trait]
impl Action for Write {
    async fn preview(&self) -> Preview {
        let change = Arc::clone(&self.0);
        blocking_preview(move || change.preview()).await
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        blocking(&cx, move |stop| self.0.write(stop)).await
    }
}

impl Change {
    fn preview(&self) -> Preview {
        match self.before() {
            Ok(before) => match self.diff(&before) {
                Some(diff) if before.text() != Some(&self.content) => Preview::Diff(diff),
                Some(_) => Preview::Text(format!("{}; nothing would be written", self.unchanged())),
                None => Preview::Text(format!(
                    "replaces `{}` ({}) by {}",
                    Shown::new(self.path.as_str()),
                    before.measure(),
                    measure(&self.content)
                )),
            },
            Err(error) => Preview::Text(format!("this write would be refused: {}", error.message())),
        }
    }

    fn write(&self, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let before = self.before()?;
        if !matches!(before, Before::Nothing) && self.is_there_already() {
            let text = format!("{}; nothing was written", self.unchanged());
            let details = json!({ "path": self.path.as_str(), "diff": "" });
            return Ok(ToolOutput::text(text).with_details(details));
        }
        go_on(stop)?;
        let directories = self.create_directories()?;
        let written = self.workdir.write_atomic(&self.path, self.content.as_bytes(), self.existing).map_err(
            |error| {
                let error = failure(error);
                if directories.is_empty() {
                    return error;
                }
                let text = format!("created {}, but: {}", joined(&directories, "and"), error.message());
                ToolError::new(error.kind(), text).with_source(error)
            },
        )?;
        let path = Shown::new(self.path.as_str());
        let mut text = match written {
            Written::Created => format!("created `{path}`: {}", measure(&self.content)),
            Written::Replaced => {
                format!("replaced `{path}`: {} (before: {})", measure(&self.content), before.measure())
            }
        };
        if !directories.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, "; new directories: {}", joined(&directories, "and"));
        }
        let details = json!({ "path": self.path.as_str(), "diff": self.diff(&before) });
        Ok(ToolOutput::text(text).with_details(details))
    }

    /// Looks at what is there, and refuses what must not be replaced.
    fn before(&self) -> Result<Before, ToolError> {
        let before = match self.workdir.read(&self.path, DIFFED_BYTES) {
            Ok(bytes) => String::from_utf8(bytes)
                .map_or_else(|error| Before::Other { bytes: error.as_bytes().len() as u64 }, Before::Text),
            Err(Error::NotFound { .. }) => return Ok(Before::Nothing),
            Err(error) if cannot_be_shown(&error) => {
                let metadata = self.workdir.metadata(&self.path);
                let metadata = metadata.map_err(failure)?;
                Before::Other { bytes: metadata.size() }
            }
            Err(error) => return Err(failure(error)),
        };
        if self.existing == Existing::Refuse {
            return Err(ToolError::invalid_input(format!(
                "`{}` exists already ({}); change it with edit_file, or leave out `create_only` to replace all of it",
                Shown::new(self.path.as_str()),
                before.measure()
            )));
        }
        Ok(before)
    }

    fn is_there_already(&self) -> bool {
        // What cannot be read is not known to be the same, so it is written.
        holds(&self.workdir, &self.path, self.content.as_bytes()).unwrap_or(false)
    }

    fn unchanged(&self) -> String {
        format!("`{}` holds exactly this content already", Shown::new(self.path.as_str()))
    }

    fn create_directories(&self) -> Result<Vec<String>, ToolError> {
        let Some(parent) = self.path.parent() else {
            return Ok(Vec::new());
        };
        let created = self.workdir.create_dir_all(&parent).map_err(failure)?;
        Ok(created.iter().map(|path| format!("`{}`", Shown::new(path.as_str()))).collect())
    }

    fn diff(&self, before: &Before) -> Option<String> {
        let old = match before {
            Before::Nothing => None,
            Before::Text(text) => Some(text.as_str()),
            Before::Other { .. } => return None,
        };
        let is_small = u64::try_from(self.content.len()).is_ok_and(|bytes| bytes <= DIFFED_BYTES);
        is_small.then(|| Diff::new(old, &self.content).for_host(self.path.as_str()))
    }
}

impl Before {
    /// Says what is there: `12 lines, 340 bytes`.
    fn measure(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Text(text) => measure(text),
            Self::Other { bytes } => size(*bytes),
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Nothing | Self::Other { .. } => None,
        }
    }
}

/// Tells whether a file is there, but too large or forbidden to read.
fn cannot_be_shown(error: &Error) -> bool {
    match error {
        Error::TooLarge { .. } => true,
        Error::Io { source, .. } => source.kind() == io::ErrorKind::PermissionDenied,
        _ => false,
    }
}

fn measure(text: &str) -> String {
    match text.len() as u64 {
        0 => "empty".to_owned(),
        bytes => format!("{}, {}", lines(lines_of(text.as_bytes())), size(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::Change;
    use haft_core::ToolErrorKind;
    use haft_testkit::Tree;
    use haft_workdir::Existing;
    use tokio_util::sync::CancellationToken;

    #[test]
    fn writes_nothing_once_it_is_told_to_stop() {
        let tree = Tree::new();
        let workdir = tree.workdir();
        let path = workdir.resolve("new/a.txt").unwrap();
        let change = Change { workdir, path, content: "text\n".to_owned(), existing: Existing::Replace };
        let stop = CancellationToken::new();
        stop.cancel();
        assert_eq!(change.write(&stop).unwrap_err().kind(), ToolErrorKind::Cancelled);
        assert_eq!(tree.list(), Vec::<String>::new());
    }
}
