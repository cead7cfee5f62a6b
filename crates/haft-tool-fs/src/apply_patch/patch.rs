//! What a patch says, whatever grammar it is written in.

mod begin_patch;
mod unified;

/// The changes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FilePatch {
    /// The line of the patch, 1-based, at which they start.
    pub(super) line: usize,
    /// The file as the model names it; of a renamed one the old name.
    pub(super) path: String,
    pub(super) kind: Kind,
    /// Whether anyone may execute it from now on, where the patch says so.
    pub(super) executable: Option<bool>,
}

/// What happens to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is created with this content.
    Add { content: String },
    /// It is removed; where there are hunks, only if they remove all of it.
    Delete { hunks: Vec<Hunk> },
    /// It is changed, renamed, or both.
    Update { hunks: Vec<Hunk>, to: Option<String> },
}

/// One place of a file that changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// The line of the patch, 1-based, at which it starts.
    pub(super) line: usize,
    /// The line of the file at which it says that it starts, 1-based; 0 for an insertion before everything.
    pub(super) at: Option<u64>,
    /// Lines that stand somewhere above it, one after the other.
    pub(super) anchors: Vec<String>,
    pub(super) lines: Vec<HunkLine>,
    /// Whether it is the end of the file.
    pub(super) is_end: bool,
    /// Whether the last line of the old file has no line feed, and that of the new.
    pub(super) unended: (bool, bool),
}

/// One line of a hunk, without what ends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HunkLine {
    Keep(String),
    Remove(String),
    Add(String),
}

impl Hunk {
    /// The lines that it expects in the file.
    pub(super) fn old(&self) -> Vec<&str> {
        let old = self.lines.iter().filter_map(|line| match line {
            HunkLine::Keep(text) | HunkLine::Remove(text) => Some(text.as_str()),
            HunkLine::Add(_) => None,
        });
        old.collect()
    }

    /// The lines that it makes of them.
    pub(super) fn new_lines(&self) -> Vec<&str> {
        let new = self.lines.iter().filter_map(|line| match line {
            HunkLine::Keep(text) | HunkLine::Add(text) => Some(text.as_str()),
            HunkLine::Remove(_) => None,
        });
        new.collect()
    }

    /// Takes a line of the patch by its first character; tells whether it is one of a hunk.
    fn take(&mut self, line: &str) -> bool {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let made = match line.as_bytes().first() {
            // Blanks at the ends of lines get lost, and with them the sign of an empty line.
            None => HunkLine::Keep(String::new()),
            Some(b' ') => HunkLine::Keep(line[1..].to_owned()),
            Some(b'-') => HunkLine::Remove(line[1..].to_owned()),
            Some(b'+') => HunkLine::Add(line[1..].to_owned()),
            Some(b'\\') => {
                match self.lines.last() {
                    Some(HunkLine::Keep(_)) => self.unended = (true, true),
                    Some(HunkLine::Remove(_)) => self.unended.0 = true,
                    Some(HunkLine::Add(_)) => self.unended.1 = true,
                    None => return false,
                }
                return true;
            }
            Some(_) => return false,
        };
        self.lines.push(made);
        true
    }
}

/// Reads a patch, or says in words for the model what is wrong with it.
pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_begin_patch = lines.iter().any(|line| line.trim() == "*** Begin Patch");
    let files = if is_begin_patch { begin_patch::parse(&lines)? } else { unified::parse(&lines)? };
    if files.is_empty() {
        return Err("there is no change in it; give a patch that starts with `*** Begin Patch`, or a unified diff with \
                    `--- a/path` and `+++ b/path` above its hunks"
            .to_owned());
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
