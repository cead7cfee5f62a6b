use super::{SessionTurn, TurnProblem, wire};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The most bytes of a session file.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Says why something is not a session.
///
/// ```
/// use haft_model::{Session, SessionError};
///
/// let error = Session::parse("\n\n", "empty.jsonl").unwrap_err();
/// assert!(matches!(error, SessionError::Empty { .. }));
/// assert!(error.to_string().starts_with("empty.jsonl has no turns"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The file cannot be read.
    #[error("cannot read the session `{name}`")]
    Read {
        /// The file.
        name: String,
        /// The cause.
        source: io::Error,
    },
    /// The file is larger than 64 MiB.
    #[error("the session `{name}` is larger than {} MiB; split it", MAX_BYTES / (1024 * 1024))]
    TooLarge {
        /// The file.
        name: String,
    },
    /// The file is not text.
    #[error("{name} line {line}: the text is not UTF-8; each line is one model turn as a JSON object")]
    NotText {
        /// What the session is called.
        name: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// A line is not a turn.
    #[error("{name} line {line}, column {column}: {problem}; each line is one model turn as a JSON object")]
    Line {
        /// What the session is called.
        name: String,
        /// The line, counted from 1.
        line: usize,
        /// Where in the line, in characters, counted from 1.
        column: usize,
        /// What is wrong there, and what was expected.
        problem: String,
    },
    /// A turn does not fit those before it, or itself.
    #[error("{name} line {line}: {problem}")]
    Turn {
        /// What the session is called.
        name: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        problem: TurnProblem,
    },
    /// There is no turn.
    #[error("{name} has no turns; write each model turn as a JSON object on a line of its own")]
    Empty {
        /// What the session is called.
        name: String,
    },
}

/// Reads the text of a session file.
pub(super) fn text(path: &Path, name: &str) -> Result<String, SessionError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|source| SessionError::Read { name: name.to_owned(), source })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(SessionError::TooLarge { name: name.to_owned() });
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.split(|byte| *byte == b'\n').count();
        SessionError::NotText { name: name.to_owned(), line }
    })
}

/// Reads the turns of a session and the lines they are on.
pub(super) fn turns(text: &str, name: &str) -> Result<(Vec<SessionTurn>, Vec<usize>), SessionError> {
    let mut turns = Vec::new();
    let mut lines = Vec::new();
    // Some editors start a file with a byte order mark, which is no part of its first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let turn = wire::parse(line).map_err(|error| SessionError::Line {
            name: name.to_owned(),
            line: number,
            column: column(line, error.column()),
            problem: without_position(&error),
        })?;
        turns.push(turn);
        lines.push(number);
    }
    Ok((turns, lines))
}

/// Turns a column in bytes into one in characters.
fn column(line: &str, bytes: usize) -> usize {
    let end = line.floor_char_boundary(bytes.saturating_sub(1));
    1 + line[..end].chars().count()
}

/// Cuts off the position, which speaks of one line as if it were a document.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).map_or(text.clone(), str::to_owned)
}
