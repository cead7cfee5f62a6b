mod binary;
mod slice;

use crate::blocking::blocking;
use crate::failure::{failure, failure_near, resolve};
use crate::hints::Hints;
use crate::resource;
use crate::words::{Count, Shown, lines, size};
use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input,
};
use haft_workdir::{EntryKind, Error, Workdir, WorkdirPath};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use slice::{Slice, Wanted, read_slice};
use std::fmt::Write as _;
use std::iter;
use tokio_util::sync::CancellationToken;

/// How many bytes of numbered lines a reply has: so much that, with its head and foot, the executor's default bounds of
/// 32 KiB and 2,000 lines never cut it and what is said about how to go on is true.
const SLICE_BYTES: usize = 30 * 1024;

/// How many entries are named when the path is a directory.
const NAMED_ENTRIES: usize = 20;

const DESCRIPTION: &str = "\
Reads a text file of the working directory. Each line is given with its number and a tab in front; neither is part of \
the file. Without `offset` and `limit` the first 2,000 lines are given; a long file is given up to about 30 KiB at a \
time, and the reply says how to go on. Lines over 2,000 bytes are cut and marked.";

/// Reads a slice of a text file: the tool `read_file`.
///
/// The file is read through a fixed buffer, so that memory does not grow with it; a call costs one pass over the file,
/// which counts its lines, and two for an offset from the end. What is not UTF-8 text is refused with its kind, size and
/// first bytes; a directory is refused with its first entries; a path that does not exist with the names near it.
///
/// Declares that it reads exactly the file; if that is missing or a directory, also the directory whose names are shown.
#[derive(Debug)]
pub struct ReadFile {
    spec: ToolSpec,
    workdir: Workdir,
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
}

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
        let spec = ToolSpec::new(ToolName::project("read_file"), DESCRIPTION, input_schema::<Input>())
            .with_title("Read file")
            .with_origin(Origin::Builtin)
            .with_hints(ToolHints { read_only: true, idempotent: true, ..ToolHints::default() });
        Self { spec, workdir }
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let input: Input = parse_input(input)?;
        let path = resolve(&self.workdir, &input.path)?;
        let wanted =
            Wanted { offset: input.offset, lines: input.limit.min(default_lines()), bytes: SLICE_BYTES };
        let hints = Hints::where_no_file(&self.workdir, &path);
        let accesses: Accesses =
            iter::once(Access::read(resource::file(&path))).chain(hints.access()).collect();
        Ok(Prepared::new(accesses, Read { workdir: self.workdir.clone(), path, hints, wanted }))
    }
}

struct Read {
    workdir: Workdir,
    path: WorkdirPath,
    hints: Hints,
    wanted: Wanted,
}

#[async_trait]
impl Action for Read {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        blocking(&cx, move |stop| self.read(stop)).await
    }
}

impl Read {
    fn read(&self, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let file = self.workdir.open_file(&self.path).map_err(|error| match error {
            Error::IsADirectory { path } if self.hints.cover(&path) => directory(&self.workdir, &path),
            other => failure_near(&self.workdir, &self.hints, other),
        })?;
        let slice = read_slice(file, &self.path, self.wanted, stop)?;
        let mut text = head(&self.path, &slice);
        text.push('\n');
        text.push_str(&slice.text);
        foot(&mut text, &slice);
        text.truncate(text.trim_end_matches('\n').len());
        Ok(ToolOutput::text(text).with_details(json!({
            "path": self.path.as_str(),
            "first_line": slice.first,
            "last_line": slice.last,
            "total_lines": slice.total.lines(),
            "bytes": slice.total.bytes,
        })))
    }
}

/// Says what the file is: `src/lib.rs: 120 lines, 3.4 KiB, CRLF line endings, no final newline`.
fn head(path: &WorkdirPath, slice: &Slice) -> String {
    let total = &slice.total;
    let mut head = format!("{}: ", Shown::new(path.as_str()));
    if total.bytes == 0 {
        head.push_str("empty file");
        return head;
    }
    // Writing to a string cannot fail.
    let _ = write!(head, "{}, {}", lines(total.lines()), size(total.bytes));
    if total.crlf > 0 && total.crlf == total.newlines {
        head.push_str(", CRLF line endings");
    } else if total.crlf > 0 {
        let _ = write!(head, ", mixed line endings ({} of them CRLF)", Count(total.crlf));
    }
    if slice.bom {
        head.push_str(", UTF-8 byte order mark");
    }
    if !total.ends_in_newline {
        head.push_str(", no final newline");
    }
    head
}

/// Says which lines were given, where that is not all of them, and how to go on.
fn foot(text: &mut String, slice: &Slice) {
    let total = slice.total.lines();
    let mut note = |words: String| {
        let _ = writeln!(text, "[{words}]");
    };
    if slice.cut_lines {
        note(format!(
            "lines over {} bytes are cut; the rest of one can be read with a command such as `cut -b`",
            Count(slice::LINE_BYTES as u64)
        ));
    }
    if slice.last < slice.first {
        if total > 0 {
            note(format!(
                "there is no line {}: the file ends at line {total}; use an offset from 1 to {total}, or a negative one for \
                 its last lines",
                slice.first
            ));
        }
    } else if slice.last < total {
        note(format!("{}; continue with offset {}", range(slice, total), slice.last + 1));
    } else if slice.first > 1 {
        note(format!("{}, the end of the file", range(slice, total)));
    }
}

fn range(slice: &Slice, total: u64) -> String {
    if slice.first == slice.last {
        return format!("line {} of {}", Count(slice.first), Count(total));
    }
    format!("lines {}–{} of {}", Count(slice.first), Count(slice.last), Count(total))
}

/// Answers for a directory, with what is in it.
fn directory(workdir: &Workdir, path: &WorkdirPath) -> ToolError {
    let entries = match workdir.read_dir(path) {
        Ok(entries) => entries,
        Err(error) => return failure(error),
    };
    let named: Vec<String> = entries
        .iter()
        .take(NAMED_ENTRIES)
        .map(|entry| {
            let slash = if entry.kind() == EntryKind::Directory { "/" } else { "" };
            format!("{}{slash}", Shown::new(entry.name()))
        })
        .collect();
    let more = match entries.len().saturating_sub(NAMED_ENTRIES) {
        0 => String::new(),
        more => format!(" and {} more", Count(more as u64)),
    };
    let path = Shown::new(path.as_str());
    ToolError::invalid_input(if named.is_empty() {
        format!("`{path}` is an empty directory, not a file; use the path of a file")
    } else {
        format!(
            "`{path}` is a directory, not a file; it holds {}{more}; read one of its files, or call list_files for more",
            named.join(", ")
        )
    })
}
