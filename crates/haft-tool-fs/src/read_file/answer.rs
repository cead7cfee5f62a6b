use super::binary::describe;
use super::bytes::read_bytes;
use super::decoders;
use super::limits::Room;
use super::slice::{Content, LINE_BYTES, Slice, read_slice};
use super::survey::Surveys;
use super::{Asked, ByteRange, ReadLimits};
use crate::encoding::TextEncoding;
use crate::failure::{failure, failure_near};
use crate::lines::LineEnd;
use crate::list_files::list_entries;
use crate::words::{Count, Shown, lines, size};
use haft_core::{ToolError, ToolOutput};
use haft_workdir::{Error, Workdir, WorkdirPath};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::iter;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Reads files for the tool.
pub(super) struct Reader {
    pub(super) workdir: Workdir,
    pub(super) surveys: Arc<Surveys>,
    pub(super) limits: ReadLimits,
}

/// What is said about one file.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) image: Option<haft_core::Content>,
    pub(super) details: Value,
}

impl Answer {
    /// Gives it as all that a call answers.
    pub(super) fn into_output(self) -> ToolOutput {
        let content = iter::once(haft_core::Content::text(self.text)).chain(self.image).collect();
        ToolOutput::new(content).with_details(self.details)
    }
}

impl Reader {
    /// Answers for one file, with so much of it as there is room for.
    pub(super) fn answer(
        &self,
        asked: &Asked,
        room: Room,
        stop: &CancellationToken,
    ) -> Result<Answer, ToolError> {
        let path = &asked.path;
        let file = match self.workdir.open_file(path) {
            Ok(file) => file,
            Err(error) => {
                if let Error::IsADirectory { path } = &error
                    && asked.hints.cover(path)
                    && let Some(cx) = asked.hints.asked()
                {
                    let text = list_entries(&self.workdir, path, cx, stop)?;
                    let details = json!({ "path": path.as_str(), "directory": true });
                    return Ok(Answer { text, image: None, details });
                }
                return Err(failure_near(&self.workdir, &asked.hints, error));
            }
        };
        if let Some(range) = asked.bytes {
            return answer_bytes(file, path, range, room);
        }
        let wanted = asked.lines.within(room);
        let head = start_of(&file, path)?;
        if let Some(answer) = decoders::document(&self.workdir, path, &head, wanted, stop) {
            return answer;
        }
        let content = read_slice(file, path, wanted, &self.surveys, stop)?;
        Ok(self.answer_slice(path, content))
    }

    /// Answers for a text that is open and has been read whole.
    pub(super) fn answer_text(
        &self,
        (file, content): (File, Vec<u8>),
        asked: &Asked,
        room: Room,
        stop: &CancellationToken,
    ) -> Result<Answer, ToolError> {
        if let Some(range) = asked.bytes {
            return answer_bytes(file, &asked.path, range, room);
        }
        let content = read_slice(content, &asked.path, asked.lines.within(room), &self.surveys, stop)?;
        Ok(self.answer_slice(&asked.path, content))
    }

    fn answer_slice(&self, path: &WorkdirPath, content: Content) -> Answer {
        match content {
            Content::Text(slice) => of_slice(path, &slice),
            Content::Data { size, head } => {
                let mut text = describe(path, size, &head);
                match decoders::image(&self.workdir, path, &head, self.limits) {
                    Some(Ok(answer)) => return answer,
                    Some(Err(why)) => {
                        // Writing to a string cannot fail.
                        let _ = write!(text, "\n[{why}]");
                    }
                    None => {}
                }
                Answer { text, image: None, details: json!({ "path": path.as_str(), "bytes": size }) }
            }
        }
    }
}

fn answer_bytes(file: File, path: &WorkdirPath, range: ByteRange, room: Room) -> Result<Answer, ToolError> {
    let (text, details) = read_bytes(file, path, range.start..range.end.max(range.start), room)?;
    Ok(Answer { text, image: None, details })
}

/// Reads the bytes by which kinds of files are told apart.
fn start_of(file: &File, path: &WorkdirPath) -> Result<[u8; 8], ToolError> {
    let mut head = [0; 8];
    match file.read_at(&mut head, 0) {
        Ok(_) => Ok(head),
        Err(source) => Err(failure(Error::Io { action: "read", path: path.clone(), source })),
    }
}

fn of_slice(path: &WorkdirPath, slice: &Slice) -> Answer {
    let mut text = head(path, slice);
    text.push('\n');
    text.push_str(&slice.text);
    foot(&mut text, slice);
    text.truncate(text.trim_end_matches('\n').len());
    let details = json!({
        "path": path.as_str(),
        "first_line": slice.first,
        "last_line": slice.last,
        "total_lines": slice.total.lines(),
        "bytes": slice.size,
        "encoding": slice.encoding.name(),
    });
    Answer { text, image: None, details }
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
    let _ = write!(head, "{}, {}", lines(total.lines()), size(slice.size));
    match slice.encoding {
        TextEncoding::Utf8 { strays: true, .. } => {
            head.push_str(", UTF-8 with bytes that are not, shown as \u{fffd}");
        }
        TextEncoding::Utf8 { .. } => {}
        other => {
            let _ = write!(head, ", {}", other.name());
        }
    }
    if !slice.encoding.mark().is_empty() {
        head.push_str(", byte order mark");
    }
    if total.line_end == LineEnd::Return {
        head.push_str(", CR line endings");
    } else if total.crlf > 0 && total.crlf == total.newlines {
        head.push_str(", CRLF line endings");
    } else if total.crlf > 0 {
        let _ = write!(head, ", mixed line endings ({} of them CRLF)", Count(total.crlf));
    }
    if let Some(words) = slice.indent.words() {
        let _ = write!(head, ", {words}");
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
            "lines over {} bytes are cut; the rest of one can be read with `byte_range`",
            Count(LINE_BYTES as u64)
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
