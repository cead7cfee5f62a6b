mod elision;
mod ends;

use crate::blocking::{blocking, blocking_preview, go_on};
use crate::commit::{self, Uncommitted};
use crate::diff::Diff;
use crate::digest::digest;
use crate::encoding::{Decoded, TextEncoding};
use crate::failure::{failure, resolve_writable};
use crate::hints::missing_above;
use crate::lines::{LineEnd, line_feeds, lines_of};
use crate::origin::origin_of;
use crate::resource;
use crate::whole::whole;
use crate::words::{Count, Shown, joined, lines, size};
use async_trait::async_trait;
use elision::elision;
use ends::Ends;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, CallContext, CallScope, Prepared, Preview, Tool, input_schema, parse_input,
};
use haft_workdir::{ChangeOrigin, Error, Existing, Workdir, WorkdirPath};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;
use std::iter;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How large a file may be, in bytes, for its change to be shown as a diff.
const DIFFED_BYTES: usize = 4 * 1024 * 1024;

/// How large a file may be, in bytes, for what it is like to be kept.
const KEPT_BYTES: u64 = 64 * 1024 * 1024;

/// How many bytes of the diff the model gets.
const SHOWN_DIFF_BYTES: usize = 4 * 1024;

const DESCRIPTION: &str = "\
Writes a whole file: creates it, with the directories above it, or replaces all of its content. To change a part of an \
existing file use edit_file. The file holds either its old content or the new, never a part. An existing file keeps its \
encoding, byte order mark, line endings and mode; a text that stands for something left out is refused.";

/// Writes a whole file: the tool `write_file`.
///
/// The content goes into place in one step, so that neither a reader nor a crash sees half of it; directories that do
/// not exist are created and named in the reply. Content that is there already is not written again. What an existing file is
/// like stays: its encoding, byte order mark and mode, and CR LF at the ends of its lines if all of them have it and the content
/// has none; content that its encoding does not have is refused. Of a file of more than 64 MiB only its mode is kept, which the
/// reply says. Refused, too, is content with a line such as `// ... rest unchanged` that
/// the file does not have. The host gets the
/// change as a unified diff in the output's details (`{"path", "diff", "digest"}`; the diff is null where a side is larger than 4 MiB or
/// not text), and a person who is asked sees the same.
///
/// Declares that it writes exactly the file, and each directory above it that does not exist.
///
/// ```
/// # use haft_testkit::{Tree, call}; let tree = Tree::new();
/// let registry = haft_tools_core::ToolRegistry::new().with(haft_tool_fs::WriteFile::new(tree.workdir()))?;
/// let input = serde_json::json!({ "path": "docs/start.md", "content": "Start.\n" });
/// let reply = tokio::runtime::Runtime::new()?.block_on(call(&registry, "write_file", input));
/// assert!(reply.output.to_text().starts_with("created `docs/start.md`: 1 line, 7 bytes"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    /// All of the file's new content; end it with a line break.
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
        let path = resolve_writable(&self.workdir, &input.path)?;
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
    Text {
        text: String,
        encoding: TextEncoding,
        /// What ends its lines.
        ends: Ends,
        bytes: Vec<u8>,
    },
    /// Something that is no text, or too large or forbidden to read.
    Other {
        size: u64,
        /// What it holds, where that was read.
        bytes: Option<Vec<u8>>,
    },
}

#[async_trait]
impl Action for Write {
    async fn preview(&self) -> Preview {
        let change = Arc::clone(&self.0);
        blocking_preview(move || change.preview()).await
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let origin = origin_of(&cx);
        blocking(&cx, move |stop| self.0.write(&origin, stop)).await
    }
}

impl Change {
    fn preview(&self) -> Preview {
        let written = self.before().and_then(|before| Ok((self.bytes(&before)?, before)));
        match written {
            Ok((bytes, before)) => match self.diff(&before) {
                Some(diff) if before.bytes() != Some(&bytes) => {
                    Preview::Diff(diff.for_host(self.path.as_str()))
                }
                Some(_) => Preview::Text(format!("{}; nothing would be written", self.unchanged())),
                None => Preview::Text(format!(
                    "replaces `{}` ({}) by {}",
                    Shown::new(self.path.as_str()),
                    before.measure(),
                    measure(&self.content, bytes.len())
                )),
            },
            Err(error) => Preview::Text(format!("this write would be refused: {}", error.message())),
        }
    }

    fn write(&self, origin: &ChangeOrigin, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let _lock = self.workdir.lock([&self.path]).map_err(failure)?;
        // What something else has written to it since it was read is not to be lost.
        self.try_once(origin, stop)?.map_err(Uncommitted::into_error)
    }

    fn try_once(
        &self,
        origin: &ChangeOrigin,
        stop: &CancellationToken,
    ) -> Result<Result<ToolOutput, Uncommitted>, ToolError> {
        let before = self.before()?;
        let bytes = self.bytes(&before)?;
        if !matches!(before, Before::Nothing) && self.is_there_already(&bytes) {
            let text = format!("{}; nothing was written", self.unchanged());
            let details = json!({ "path": self.path.as_str(), "diff": "" });
            return Ok(Ok(ToolOutput::text(text).with_details(details)));
        }
        go_on(stop)?;
        let expected = match &before {
            Before::Nothing => commit::Before::Absent,
            Before::Text { bytes, .. } | Before::Other { bytes: Some(bytes), .. } => {
                commit::Before::Holds(bytes)
            }
            Before::Other { bytes: None, .. } => commit::Before::Whatever,
        };
        let after = commit::After::Holds(vec![bytes.as_slice()]);
        let change =
            commit::Change { path: &self.path, before: expected, after, executable: None, moved_from: None };
        match commit::commit(&self.workdir, origin, &[change]) {
            Ok(committed) => {
                let output = self.output(&before, &bytes, &committed.directories);
                Ok(Ok(committed.noted(output)))
            }
            Err(refused @ Uncommitted::Changed(_)) => Ok(Err(refused)),
            Err(Uncommitted::Failed(error)) => Err(error),
        }
    }

    fn output(&self, before: &Before, bytes: &[u8], directories: &[WorkdirPath]) -> ToolOutput {
        let path = Shown::new(self.path.as_str());
        let diff = self.diff(before);
        let mut text = match before {
            Before::Nothing => format!("created `{path}`: {}", measure(&self.content, bytes.len())),
            _ => format!(
                "replaced `{path}`: {} (before: {})",
                measure(&self.content, bytes.len()),
                before.measure()
            ),
        };
        if let Some(kept) = before.kept(&self.content) {
            // Writing to a string cannot fail.
            let _ = write!(text, "; kept {kept}");
        }
        if matches!(before, Before::Other { size, bytes: None } if *size > KEPT_BYTES) {
            text.push_str("; it was too large to look at, so only its mode was kept");
        }
        if !directories.is_empty() {
            let directories: Vec<String> =
                directories.iter().map(|path| format!("`{}`", Shown::new(path.as_str()))).collect();
            let _ = write!(text, "; new directories: {}", joined(&directories, "and"));
        }
        if let (Before::Text { .. }, Some(diff)) = (before, &diff) {
            text.push('\n');
            text.push_str(diff.for_model(SHOWN_DIFF_BYTES).trim_end_matches('\n'));
        }
        let diff = diff.map(|diff| diff.for_host(self.path.as_str()));
        let details = json!({ "path": self.path.as_str(), "diff": diff, "digest": digest(&[bytes]) });
        ToolOutput::text(text).with_details(details)
    }

    /// Looks at what is there, and refuses what must not be replaced.
    fn before(&self) -> Result<Before, ToolError> {
        let before = match whole(&self.workdir, &self.path, KEPT_BYTES) {
            Ok(bytes) => Before::of(bytes),
            Err(Error::NotFound { .. }) => return Ok(Before::Nothing),
            Err(error) if cannot_be_shown(&error) => {
                let metadata = self.workdir.metadata(&self.path);
                let metadata = metadata.map_err(failure)?;
                Before::Other { size: metadata.size(), bytes: None }
            }
            Err(error) => return Err(failure(error)),
        };
        let path = Shown::new(self.path.as_str());
        if self.existing == Existing::Refuse {
            return Err(ToolError::invalid_input(format!(
                "`{path}` already exists ({}); change it with `edit_file`, or leave out `create_only` to replace all of it",
                before.measure()
            )));
        }
        if let Before::Text { text, .. } = &before
            && let Some((line, placeholder)) = elision(&self.content, text)
        {
            return Err(ToolError::invalid_input(format!(
                "`{path}` was not written: line {}, `{}`, stands for something left out, and the file would lose it; give \
                 all of the content, or change a part of the file with `edit_file`",
                Count(line),
                Shown::new(placeholder)
            )));
        }
        Ok(before)
    }

    /// Writes the content in the encoding and with the line endings that the file has.
    fn bytes(&self, before: &Before) -> Result<Vec<u8>, ToolError> {
        let Before::Text { encoding, ends, .. } = before else {
            return Ok(self.content.clone().into_bytes());
        };
        let mark = encoding.mark();
        let content = match self.content.strip_prefix('\u{feff}') {
            Some(content) if !mark.is_empty() => content,
            _ => self.content.as_str(),
        };
        let content = ends.give(content);
        let bytes = encoding.encode(&content).map_err(|character| {
            ToolError::invalid_input(format!(
                "`{}` was not written: it is in {}, which does not have the character U+{:04X} of `content`; write it another \
                 way, or convert the file with a command such as `iconv` first",
                Shown::new(self.path.as_str()),
                encoding.name(),
                u32::from(character)
            ))
        })?;
        Ok([mark, &bytes].concat())
    }

    fn is_there_already(&self, bytes: &[u8]) -> bool {
        // What cannot be read is not known to be the same, so it is written.
        self.workdir.holds(&self.path, bytes).unwrap_or(false)
    }

    fn unchanged(&self) -> String {
        format!("`{}` holds exactly this content already", Shown::new(self.path.as_str()))
    }

    fn diff(&self, before: &Before) -> Option<Diff> {
        let (old, ends) = match before {
            Before::Nothing => (None, Ends::Feeds),
            Before::Text { bytes, .. } if bytes.len() > DIFFED_BYTES => return None,
            Before::Text { text, ends, .. } => (Some(text.as_str()), *ends),
            Before::Other { .. } => return None,
        };
        let is_small = self.content.len() <= DIFFED_BYTES;
        let new = self.content.strip_prefix('\u{feff}').unwrap_or(&self.content);
        let new = match ends {
            // Their text has line feeds in the places of the returns.
            Ends::Returns => Cow::Borrowed(new),
            ends => ends.give(new),
        };
        is_small.then(|| Diff::new(old, &new))
    }
}

impl Before {
    fn of(bytes: Vec<u8>) -> Self {
        let Some(decoded) = Decoded::new(&bytes).filter(|decoded| !decoded.text.contains('\0')) else {
            return Self::Other { size: bytes.len() as u64, bytes: Some(bytes) };
        };
        let Decoded { encoding, line_end, .. } = decoded;
        let text = decoded.text.into_owned();
        let newlines = line_feeds(text.as_bytes());
        let crlf = newlines > 0 && text.matches("\r\n").count() as u64 == newlines;
        let ends = match line_end {
            LineEnd::Return => Ends::Returns,
            LineEnd::Feed if crlf => Ends::Crlf,
            LineEnd::Feed => Ends::Feeds,
        };
        Self::Text { text, encoding, ends, bytes }
    }

    /// Says what is there: `12 lines, 340 bytes`.
    fn measure(&self) -> String {
        match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Text { text, bytes, .. } => measure(text, bytes.len()),
            Self::Other { size: bytes, .. } => size(*bytes),
        }
    }

    /// Says what a file keeps that its new content does not have.
    fn kept(&self, content: &str) -> Option<String> {
        let Self::Text { encoding, ends, .. } = self else { return None };
        let mut kept = Vec::new();
        match encoding {
            TextEncoding::Utf8 { .. } => {}
            other => kept.push(format!("the encoding {}", other.name())),
        }
        if !encoding.mark().is_empty() && !content.starts_with('\u{feff}') {
            kept.push("the byte order mark".to_owned());
        }
        if content.contains('\n') && !content.contains('\r') {
            kept.extend(ends.kept().map(str::to_owned));
        }
        (!kept.is_empty()).then(|| joined(&kept, "and"))
    }

    fn bytes(&self) -> Option<&Vec<u8>> {
        match self {
            Self::Text { bytes, .. } => Some(bytes),
            Self::Other { bytes, .. } => bytes.as_ref(),
            Self::Nothing => None,
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

/// Says how much a text is that has so many bytes in its file.
fn measure(text: &str, bytes: usize) -> String {
    match bytes {
        0 => "empty".to_owned(),
        bytes => format!("{}, {}", lines(lines_of(text.as_bytes())), size(bytes as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::Change;
    use haft_core::ToolErrorKind;
    use haft_testkit::Tree;
    use haft_workdir::{ChangeOrigin, Existing};
    use tokio_util::sync::CancellationToken;

    #[test]
    fn writes_nothing_once_it_is_told_to_stop() {
        let tree = Tree::new();
        let workdir = tree.workdir();
        let path = workdir.resolve("new/a.txt").unwrap();
        let change = Change { workdir, path, content: "text\n".to_owned(), existing: Existing::Replace };
        let stop = CancellationToken::new();
        stop.cancel();
        let origin = ChangeOrigin::new("run".parse().unwrap(), "call".parse().unwrap());
        assert_eq!(change.write(&origin, &stop).unwrap_err().kind(), ToolErrorKind::Cancelled);
        assert_eq!(tree.list(), Vec::<String>::new());
    }
}
