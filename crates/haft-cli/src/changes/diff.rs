use super::kept::KeptChanges;
use super::net::{Net, net};
use super::options::DiffOptions;
use super::run::choose;
use crate::exit::Exit;
use crate::paint::{BAD, GOOD, NAME, PLACE, QUIET};
use crate::printed::print_json;
use crate::timeline::visible;
use anstyle::Style;
use anyhow::Result;
use haft::Workdir;
use haft::workdir::{ChangeJournal as _, ChangeSet, ContentDigest, PathState};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;
use std::fmt::Write as _;

/// How many lines stand around a change.
const CONTEXT_LINES: usize = 3;

/// What a run has changed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ChangesOf {
    /// The run.
    run: String,
    /// Whether it was undone.
    undone: bool,
    /// The files that are not as they were.
    files: Vec<ChangedFile>,
}

/// A file that was changed.
#[derive(Serialize, JsonSchema)]
struct ChangedFile {
    /// Where it is.
    path: String,
    /// Where it was.
    was_at: String,
    /// What was there before.
    #[schemars(with = "Value")]
    before: PathState,
    /// What is there after it.
    #[schemars(with = "Value")]
    after: PathState,
    /// The difference, as `diff -u` has it.
    diff: String,
}

/// Shows what a run, a turn or a call has changed, as a unified diff.
pub(crate) fn diff(options: &DiffOptions) -> Result<Exit> {
    let chosen = match choose(&options.which)? {
        Ok(chosen) => chosen,
        Err(listed) => return Ok(listed),
    };
    let is_undone = !chosen.sets.iter().any(ChangeSet::is_in_force);
    let shown = net(chosen.sets.iter().filter(|set| is_undone || set.is_in_force()));
    let contents = Contents { journal: &chosen.journal, workdir: chosen.workdir.as_ref().ok() };
    let files: Vec<(&String, String)> =
        shown.iter().filter_map(|(path, entry)| Some((path, patch(&contents, path, entry)?))).collect();
    if options.which.json {
        let changed = |(path, diff): &(&String, String)| {
            let entry = &shown[*path];
            ChangedFile {
                path: (*path).clone(),
                was_at: entry.was_at.clone(),
                before: entry.before.clone(),
                after: entry.after.clone(),
                diff: diff.clone(),
            }
        };
        let files = files.iter().map(changed).collect();
        print_json(&ChangesOf { run: chosen.run.to_string(), undone: is_undone, files })?;
        return Ok(Exit::Done);
    }
    if is_undone {
        errln!("What the run `{}` changed was undone; this is what it was.", chosen.run);
    }
    for (_, patch) in &files {
        patch.lines().for_each(print);
    }
    if files.is_empty() {
        errln!("The run `{}` has left all files as they were.", chosen.run);
    }
    Ok(Exit::Done)
}

fn print(line: &str) {
    let paint = match line.as_bytes() {
        [b'd', b'i', b'f', b'f', ..] => NAME,
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => QUIET,
        [b'@', ..] => PLACE,
        [b'+', ..] => GOOD,
        [b'-', ..] => BAD,
        _ => Style::new(),
    };
    outln!("{paint}{}{paint:#}", shown_line(line));
}

/// Shows what cannot be seen, but leaves tabs, so that what is printed can be applied.
fn shown_line(line: &str) -> String {
    line.split('\t').map(visible).collect::<Vec<_>>().join("\t")
}

/// Says where contents are found.
pub(super) struct Contents<'c> {
    pub(super) journal: &'c KeptChanges,
    /// The directory in which the changes were made, if it is there.
    pub(super) workdir: Option<&'c Workdir>,
}

/// What is known of a content.
enum Content {
    None,
    Text(String),
    Binary,
    Unknown,
}

/// Writes what became of an entry as git does; nothing for what it does not show.
pub(super) fn patch(contents: &Contents<'_>, path: &str, entry: &Net) -> Option<String> {
    let Net { was_at, before, after } = entry;
    let mut text = format!("diff --git {} {}\n", sided("a", was_at), sided("b", path));
    // Writing to a string cannot fail.
    match (mode(before), mode(after)) {
        (None, None) => {
            return directory_line(was_at, path, before, after).map(|line| format!("{line}\n"));
        }
        (None, Some(mode)) => drop(writeln!(text, "new file mode {mode}")),
        (Some(mode), None) => drop(writeln!(text, "deleted file mode {mode}")),
        (Some(old), Some(new)) if old != new => drop(write!(text, "old mode {old}\nnew mode {new}\n")),
        _ => {}
    }
    if was_at != path && before.is_there() && after.is_there() {
        let _ = write!(text, "rename from {}\nrename to {}\n", quoted(was_at), quoted(path));
    }
    if before.digest().is_some() && before.digest() == after.digest() {
        return Some(text);
    }
    let (old, new) = (contents.find(was_at, before), contents.find(path, after));
    match (old, new) {
        (Content::Unknown, _) | (_, Content::Unknown) => {
            text.push_str("The contents are not kept, so what has changed is not known\n");
        }
        (Content::Binary, _) | (_, Content::Binary) => {
            let _ = writeln!(text, "Binary files {} and {} differ", sided("a", was_at), sided("b", path));
        }
        (old, new) => {
            let names = |is_there: bool, side: &str, path: &str| {
                if is_there { sided(side, path) } else { "/dev/null".to_owned() }
            };
            let (from, to) = (names(before.is_there(), "a", was_at), names(after.is_there(), "b", path));
            let (old, new) = (text_of(old), text_of(new));
            let diff = TextDiff::from_lines(&old, &new);
            let unified = diff.unified_diff().context_radius(CONTEXT_LINES).header(&from, &to).to_string();
            text.push_str(&unified);
        }
    }
    Some(text)
}

/// Writes a path as one of a side; an absolute one as it is below the root of the file system.
fn sided(side: &str, path: &str) -> String {
    quoted(&format!("{side}/{}", path.trim_start_matches('/')))
}

/// Writes a path as git does, in quotes where it has what could pass for another line or end the name.
fn quoted(path: &str) -> String {
    if !path.contains(|character: char| character.is_control() || matches!(character, '"' | '\\')) {
        return path.to_owned();
    }
    let mut quoted = String::from("\"");
    for character in path.chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a string cannot fail.
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

fn text_of(content: Content) -> String {
    match content {
        Content::Text(text) => text,
        _ => String::new(),
    }
}

/// Says what became of a directory or a link, in a line that is no part of any patch.
fn directory_line(was_at: &str, path: &str, before: &PathState, after: &PathState) -> Option<String> {
    let what = |state: &PathState| match state {
        PathState::Directory { .. } => "directory",
        PathState::Link { .. } => "symbolic link",
        _ => "entry",
    };
    match (before.is_there(), after.is_there()) {
        // Files show the directories that they are in.
        (false, true) if matches!(after, PathState::Directory { .. }) => None,
        (false, true) => Some(format!("new {} {}", what(after), quoted(path))),
        (true, false) => Some(format!("deleted {} {}", what(before), quoted(was_at))),
        (true, true) if was_at != path => {
            Some(format!("moved {} {} to {}", what(after), quoted(was_at), quoted(path)))
        }
        _ => None,
    }
}

/// Writes the mode of a file as git does.
fn mode(state: &PathState) -> Option<&'static str> {
    match state {
        PathState::File { mode, .. } => {
            Some(if mode.is_some_and(|mode| mode & 0o100 != 0) { "100755" } else { "100644" })
        }
        _ => None,
    }
}

impl Contents<'_> {
    /// Finds a content in the journal, or in the file if it still holds it.
    fn find(&self, path: &str, state: &PathState) -> Content {
        let PathState::File { digest, bytes, .. } = state else { return Content::None };
        let Some(digest) = digest else { return Content::Unknown };
        let found = self.journal.content(*digest).ok().flatten();
        let found = found.or_else(|| {
            let workdir = self.workdir?;
            let read = workdir.read(&workdir.resolve(path).ok()?, *bytes).ok()?;
            (ContentDigest::of_parts(&[&read]) == *digest).then_some(read)
        });
        match found.map(String::from_utf8) {
            None => Content::Unknown,
            Some(Ok(text)) if !text.contains('\0') => Content::Text(text),
            Some(_) => Content::Binary,
        }
    }
}
