use super::AgentFileError;
use haft_core::Visible;
use std::borrow::Cow;

/// The largest front matter that is read, in bytes.
const MOST_FRONT_BYTES: usize = 64 * 1024;

/// Holds the two parts of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    /// What stands between the two lines `---`, from line 2 on.
    pub(super) front: &'a str,
    /// What stands below them, without the blank lines around it.
    pub(super) body: &'a str,
}

/// Takes away a byte order mark, and has every line end in `\n`.
pub(super) fn normalized(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() }
}

/// Divides a text at the lines `---`.
pub(super) fn split<'a>(text: &'a str, file: &str) -> Result<Parts<'a>, AgentFileError> {
    let is_mark = |line: &str| line.trim_end() == "---";
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if !is_mark(first) {
        return Err(AgentFileError::NoFrontMatter { file: file.to_owned() });
    }
    let mut end = 0;
    let mark = rest.split_inclusive('\n').find(|line| {
        let is_end = is_mark(line);
        end += if is_end { 0 } else { line.len() };
        is_end
    });
    let Some(mark) = mark else { return Err(AgentFileError::Unterminated { file: file.to_owned() }) };
    let front = &rest[..end];
    readable(front, file)?;
    Ok(Parts { front, body: rest[end + mark.len()..].trim() })
}

/// Refuses what people cannot see: a line that only a parser takes for one could hold a key that nobody reads.
fn readable(front: &str, file: &str) -> Result<(), AgentFileError> {
    let refuse = |line: usize, reason: String| AgentFileError::Syntax { file: file.to_owned(), line, reason };
    if front.len() > MOST_FRONT_BYTES {
        let reason = format!(
            "it has more than {MOST_FRONT_BYTES} bytes; what the agent is told stands below the second line `---`"
        );
        return Err(refuse(2, reason));
    }
    for (place, line) in front.split('\n').enumerate() {
        let hidden = line.chars().find(|character| {
            let is_break = matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
            is_break || (character.is_control() && *character != '\t')
        });
        if let Some(hidden) = hidden {
            let shown = Visible::line(&hidden.to_string()).to_string();
            return Err(refuse(place + 2, format!("it has the invisible character `{shown}`; remove it")));
        }
    }
    Ok(())
}

/// Finds the line of a key of the front matter, 1-based in the file.
pub(super) fn line_of(front: &str, key: &str) -> usize {
    let is_key = |line: &str| {
        let rest = match line.strip_prefix(['"', '\'']) {
            Some(quoted) => quoted.strip_prefix(key).and_then(|rest| rest.strip_prefix(['"', '\''])),
            None => line.strip_prefix(key),
        };
        rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    front.split('\n').position(is_key).map_or(2, |place| place + 2)
}
