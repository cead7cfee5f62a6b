mod answer;
mod binary;
mod bytes;
mod chunks;
mod decoders;
#[cfg(feature = "images")]
mod image;
mod indent;
mod limits;
#[cfg(feature = "notebooks")]
mod notebook;
#[cfg(any(feature = "notebooks", feature = "pdf"))]
mod parts;
#[cfg(feature = "pdf")]
mod pdf;
mod slice;
mod survey;

use crate::blocking::blocking;
use crate::failure::{of_file, resolve};
use crate::hints::Hints;
use crate::resource;
use answer::{Answer, Reader};
use async_trait::async_trait;
use haft_core::{Content, Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input,
};
use haft_workdir::{Workdir, WorkdirPath};
pub use limits::ReadLimits;
use limits::Room;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use slice::Wanted;
use std::fs::File;
use std::iter;
use std::sync::Arc;
use survey::Surveys;
use tokio_util::sync::CancellationToken;

/// Says what the tool does, with so many bytes at a time.
fn description(bytes: usize) -> String {
    format!(
        "\
Reads a text file of the working directory, or several with `more`. Each line is given with its number and a tab in front; \
neither is part of the file. Without `offset` and `limit` the first 2,000 lines are given; a long file is given up to about \
{} KiB at a time, and the reply says how to go on. Lines over 2,000 bytes are cut and marked. A file is UTF-8 with LF line \
endings unless its head says otherwise. Of a directory the entries are listed, of a file that is no text the kind, the size \
and the first bytes are given.",
        bytes / 1024
    )
}

/// Reads slices of text files: the tool `read_file`.
///
/// A file is read through a fixed buffer, so that memory does not grow with it; a call costs one pass over the file, which
/// counts its lines, and two for an offset from the end. Of files from 1 MiB on it is remembered where their lines are, so
/// that the next slice costs no pass while they stay as they are. Text is read in any common encoding: by its byte order
/// mark, else by what it is most likely in. With the feature `images` an image comes with the reply once it has been decoded
/// whole, scaled to what [`ReadLimits`] say, and of an animation its first frame; a broken one is only described. With `pdf` and `notebooks`, `offset` and `limit`
/// count pages of PDF documents and cells of notebooks. A directory is answered with its entries, what is no text with its kind, size and
/// first bytes; a path that does not exist is refused with the names near it. Of several files each is answered by itself, and
/// the call fails only if all do.
///
/// Declares that it reads exactly the files; of one that is missing or a directory, also the directory whose names are shown.
///
/// ```
/// use haft_tool_fs::ReadFile;
/// use haft_tools_core::ToolRegistry;
/// # use haft_testkit::call;
/// # use serde_json::json;
/// # use std::sync::Arc;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tree = haft_testkit::Tree::new().file("notes.txt", "one\ntwo\nthree\n");
/// # let workdir = tree.workdir();
/// let registry = ToolRegistry::of([Arc::new(ReadFile::new(workdir.clone())) as _])?;
/// let reply = call(&registry, "read_file", json!({ "path": "notes.txt", "offset": 2, "limit": 1 })).await;
/// let expected = "notes.txt: 3 lines, 14 bytes\n2\ttwo\n[line 2 of 3; continue with offset 3]";
/// assert_eq!(reply.output.to_text(), expected);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ReadFile {
    spec: ToolSpec,
    workdir: Workdir,
    surveys: Arc<Surveys>,
    limits: ReadLimits,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file to read, relative to the working directory.
    path: String,
    /// The line to start at, counted from 1. A negative number counts from the end: -20 starts 20 lines before it.
    #[serde(default = "first_line")]
    offset: i64,
    /// The most lines to give, up to 2,000.
    #[serde(default = "default_lines")]
    #[schemars(range(min = 1))]
    limit: u64,
    /// Give these bytes of the file instead of lines: those from `start`, counted from 0, up to `end`.
    #[serde(default)]
    byte_range: Option<ByteRange>,
    /// Further files to read in the same call.
    #[serde(default)]
    #[schemars(length(max = 20))]
    more: Vec<Further>,
}

/// Some bytes of a file.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ByteRange {
    /// The place of the first byte, counted from 0.
    start: u64,
    /// The place behind the last byte.
    end: u64,
}

/// A further file to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Further {
    /// The file to read, relative to the working directory.
    path: String,
    /// The line to start at, as for the first file.
    #[serde(default = "first_line")]
    offset: i64,
    /// The most lines to give, up to 2,000.
    #[serde(default = "default_lines")]
    #[schemars(range(min = 1))]
    limit: u64,
}

/// How many bytes a file has at most that is read in place where it is in memory.
const BYTES_AT_HAND: usize = 16 * 1024;

/// The line at which a call starts that does not say.
fn first_line() -> i64 {
    1
}

/// How many lines a call gets that does not say.
fn default_lines() -> u64 {
    2000
}

impl ReadFile {
    /// Makes the tool for a working directory.
    pub fn new(workdir: Workdir) -> Self {
        let limits = ReadLimits::default();
        Self { spec: spec(limits), workdir, surveys: Arc::default(), limits }
    }

    /// Gives as much at once.
    pub fn limits(mut self, limits: ReadLimits) -> Self {
        self.limits = limits.within(usize::MAX);
        self.spec = spec(self.limits);
        self
    }
}

fn spec(limits: ReadLimits) -> ToolSpec {
    let name = ToolName::project("read_file");
    ToolSpec::new(name, description(limits.bytes), input_schema::<Input>())
        .with_title("Read file")
        .with_origin(Origin::Builtin)
        .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() })
}

impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn bounds_replies(&self) -> bool {
        true
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { path, offset, limit, byte_range, more } = parse_input(input)?;
        let first = iter::once((path, offset, limit, byte_range));
        let further = more.into_iter().map(|Further { path, offset, limit }| (path, offset, limit, None));
        let mut accesses: Vec<Access> = Vec::new();
        let mut files = Vec::new();
        for (path, offset, limit, bytes) in first.chain(further) {
            let path = resolve(&self.workdir, &path)?;
            let hints = Hints::where_no_file(&self.workdir, &path);
            accesses.extend(iter::once(Access::read(resource::file(&path))).chain(hints.access()));
            let lines = limit.min(default_lines());
            files.push(Asked {
                path,
                hints,
                lines: Wanted { offset, lines, bytes: self.limits.bytes },
                bytes,
            });
        }
        accesses = accesses.into_iter().fold(Vec::new(), |mut different, access| {
            if !different.contains(&access) {
                different.push(access);
            }
            different
        });
        let surveys = Arc::clone(&self.surveys);
        let reader = Reader { workdir: self.workdir.clone(), surveys, limits: self.limits };
        Ok(Prepared::new(accesses.into_iter().collect::<Accesses>(), Read { reader, files }))
    }
}

/// What is asked of one file.
struct Asked {
    path: WorkdirPath,
    hints: Hints,
    lines: Wanted,
    bytes: Option<ByteRange>,
}

impl Asked {
    /// Opens the file if it is a small text that is in memory: others can take time to decode.
    fn text_at_hand(&self, workdir: &Workdir) -> Option<(File, Vec<u8>)> {
        let (file, content) = workdir.open_at_hand(&self.path, BYTES_AT_HAND)?;
        let is_notebook = self.path.as_str().to_ascii_lowercase().ends_with(".ipynb");
        let is_decoded = is_notebook || content.starts_with(b"%PDF") || content.starts_with(b"GIF8");
        let is_text = !content.contains(&0) && std::str::from_utf8(&content).is_ok();
        (is_text && !is_decoded).then_some((file, content))
    }
}

struct Read {
    reader: Reader,
    files: Vec<Asked>,
}

#[async_trait]
impl Action for Read {
    async fn run(mut self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        self.reader.limits = self.reader.limits.within(cx.output_bytes());
        let room = Room::of(self.reader.limits, cx.output_lines());
        // Going to another thread and back costs several times as much as to read what is in memory.
        if let [asked] = &self.files[..]
            && let Some(text) = asked.text_at_hand(&self.reader.workdir)
        {
            return self.reader.answer_text(text, asked, room, cx.cancellation()).map(Answer::into_output);
        }
        for asked in &self.files {
            asked.hints.asked_by(&cx);
        }
        blocking(&cx, move |stop| self.read(room, stop)).await
    }
}

impl Read {
    fn read(&self, room: Room, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        if let [asked] = &self.files[..] {
            return self.reader.answer(asked, room, stop).map(Answer::into_output);
        }
        let mut content: Vec<Content> = Vec::new();
        let mut text = String::new();
        let mut details = Vec::new();
        let mut failed = None;
        for (index, asked) in self.files.iter().enumerate() {
            let room = room.of_next(self.files.len() - index, &text);
            if index > 0 {
                text.push_str("\n\n");
            }
            match self.reader.answer(asked, room, stop) {
                Ok(answer) => {
                    text.push_str(&answer.text);
                    content.extend(answer.image);
                    details.push(answer.details);
                }
                Err(error) => {
                    text.push_str(&of_file(&asked.path, &error));
                    details.push(json!({ "path": asked.path.as_str(), "error": error.message() }));
                    failed = Some(error);
                }
            }
        }
        let all_failed = details.iter().all(|each| each.get("error").is_some());
        match failed {
            Some(error) if all_failed => Err(ToolError::new(error.kind(), text).with_source(error)),
            _ => {
                content.insert(0, Content::text(text));
                Ok(ToolOutput::new(content).with_details(json!({ "files": details })))
            }
        }
    }
}
