//! The grammar of `*** Begin Patch`.

use super::{FilePatch, Hunk, Kind};

const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";
const END: &str = "*** End Patch";

pub(super) fn parse(lines: &[&str]) -> Result<Vec<FilePatch>, String> {
    let mut at = lines.iter().position(|line| line.trim() == "*** Begin Patch").map_or(0, |begin| begin + 1);
    let mut files = Vec::new();
    loop {
        let Some(line) = lines.get(at).map(|line| line.trim_end()) else {
            return Err(format!("it does not end with `{END}`, so it may be cut off; give it whole"));
        };
        let number = at + 1;
        at += 1;
        let file = |path: &str, kind| FilePatch {
            line: number,
            path: path.trim().to_owned(),
            kind,
            executable: None,
        };
        if line == END {
            return Ok(files);
        } else if let Some(path) = line.strip_prefix(ADD) {
            let (content, next) = added(lines, at)?;
            files.push(file(path, Kind::Add { content }));
            at = next;
        } else if let Some(path) = line.strip_prefix(DELETE) {
            files.push(file(path, Kind::Delete { hunks: Vec::new() }));
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            let to = lines.get(at).and_then(|line| line.strip_prefix(MOVE)).map(|to| to.trim().to_owned());
            at += usize::from(to.is_some());
            let (hunks, next) = hunks(lines, at)?;
            if hunks.is_empty() && to.is_none() {
                return Err(format!(
                    "the file at line {number} has no hunk; give its lines with ` `, `-` or `+` in front"
                ));
            }
            files.push(file(path, Kind::Update { hunks, to }));
            at = next;
        } else if !line.is_empty() {
            return Err(unexpected(number, line));
        }
    }
}

fn unexpected(number: usize, line: &str) -> String {
    let line: String = line.chars().take(80).collect();
    format!(
        "line {number}, `{line}`, is none of `{ADD}path`, `{UPDATE}path`, `{DELETE}path`, and no line of a hunk, which starts with a blank, \
         `-`, `+` or `@@`"
    )
}

/// Takes the content of a new file.
fn added(lines: &[&str], mut at: usize) -> Result<(String, usize), String> {
    let mut content = String::new();
    while let Some(line) = lines.get(at) {
        match line.strip_prefix('+') {
            Some(line) => {
                content.push_str(line.strip_suffix('\r').unwrap_or(line));
                content.push('\n');
            }
            None if line.starts_with("*** ") => break,
            None if line.trim().is_empty() => {}
            None => {
                return Err(format!(
                    "line {} of the patch is in a new file and does not start with `+`; start each of its lines so",
                    at + 1
                ));
            }
        }
        at += 1;
    }
    Ok((content, at))
}

fn hunks(lines: &[&str], mut at: usize) -> Result<(Vec<Hunk>, usize), String> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut hunk = Hunk { line: at + 1, ..Hunk::default() };
    while let Some(line) = lines.get(at) {
        let trimmed = line.trim_end();
        if trimmed == END_OF_FILE {
            hunk.is_end = true;
        } else if trimmed.starts_with("*** ") {
            break;
        } else if let Some(anchor) = line.strip_prefix("@@") {
            if !hunk.lines.is_empty() {
                hunks.push(hunk);
                hunk = Hunk::default();
            }
            if hunk.anchors.is_empty() {
                hunk.line = at + 1;
            }
            let anchor = anchor.trim().trim_end_matches("@@").trim();
            if !anchor.is_empty() {
                hunk.anchors.push(anchor.to_owned());
            }
        } else if !hunk.take(line) {
            return Err(unexpected(at + 1, line));
        }
        at += 1;
    }
    // A blank line before the next file is not one of the hunk.
    if hunk.lines.last().is_some_and(|line| *line == super::HunkLine::Keep(String::new()))
        && lines.get(at.wrapping_sub(1)).is_some_and(|line| line.is_empty())
    {
        hunk.lines.pop();
    }
    if !hunk.lines.is_empty() {
        hunks.push(hunk);
    }
    Ok((hunks, at))
}
