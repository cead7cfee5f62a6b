//! What a model is told of a search, and what the host is.

use super::Request;
use super::collect::End;
use super::input::Mode;
use super::search::{Findings, Skipped};
use crate::start::Start;
use crate::wording::{Quoted, counted, not_searched, push_line};
use haft_core::ToolOutput;
use haft_workdir::WorkdirPath;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Writes what was found, with what was left out and what to do next.
pub(super) fn output(request: &Request, findings: &Findings) -> ToolOutput {
    let Findings { text, files, .. } = findings;
    let text = if files.is_empty() && findings.end == End::Done {
        nothing(request, findings)
    } else {
        let mut text = format!("{text}\n{}", summary(request, findings));
        push_line(&mut text, &findings.skipped.sentence(request));
        if findings.cut {
            push_line(&mut text, "long lines and matches are cut, shown by `…`");
        }
        text
    };
    ToolOutput::text(text).with_details(details(findings))
}

fn summary(request: &Request, findings: &Findings) -> String {
    let files = counted(findings.files.len() as u64, "file");
    let count = match request.mode {
        Mode::Content | Mode::Count => format!("{} in {files}", counted(findings.matches, "match")),
        Mode::Files => format!("{files} with matches"),
    };
    let narrow =
        if request.is_one_file() { "narrow `pattern`" } else { "narrow `pattern`, `path` or `glob`" };
    match findings.end {
        End::Done => count,
        End::Limit => {
            let next =
                if request.limit < 1000 { format!("{narrow}, or raise `limit`") } else { narrow.to_owned() };
            format!("{count}; stopped at `limit`, there are more: {next}")
        }
        End::Full => {
            let smaller = match request.mode {
                Mode::Content if request.before + request.after > 0 => {
                    ", ask for less context, or set `mode` to `files`"
                }
                Mode::Content => ", or set `mode` to `files` or `count`",
                Mode::Files | Mode::Count => "",
            };
            format!("{count}; stopped because the output is full, there is more: {narrow}{smaller}")
        }
    }
}

fn nothing(request: &Request, findings: &Findings) -> String {
    let pattern = Quoted(request.pattern.text());
    let mut place = match &request.start {
        Start::File(path) => Quoted(path.as_str()).to_string(),
        Start::Directory(path) if path.is_root() && !path.is_absolute() => counted(findings.searched, "file"),
        Start::Directory(path) => {
            format!("{} below {}", counted(findings.searched, "file"), Quoted(path.as_str()))
        }
    };
    if let Some((glob, _)) = request.filter.as_ref().filter(|_| !request.is_one_file()) {
        // Writing to a string cannot fail.
        let _ = write!(place, " that {} takes", Quoted(glob));
    }
    let mut text = format!("no match for {pattern} in {place}");
    push_line(&mut text, &findings.skipped.sentence(request));
    push_line(&mut text, &next_step(request, findings));
    text
}

/// Says what is most likely to help, one thing.
fn next_step(request: &Request, findings: &Findings) -> String {
    let pattern = request.pattern.text();
    let options = request.pattern.options();
    if let Some(left_out) = &findings.overlooked {
        return format!(
            "{} has a match but is left out: set {} to true to search such files",
            Quoted(left_out.path.as_str()),
            left_out.needs
        );
    }
    if findings.searched == 0 && request.is_one_file() {
        return "it cannot be searched as text; use another tool to look into it".to_owned();
    }
    if findings.searched == 0 && request.filter.is_some() {
        return "no file was searched: check `glob`, which is matched below `path`".to_owned();
    }
    if findings.searched == 0 {
        return "no file was searched: check `path`".to_owned();
    }
    if !options.literal && pattern.contains("\\|") {
        return "`\\|` stands for the character `|`: write `|` between alternatives".to_owned();
    }
    if request.pattern.tells_case_apart() {
        return "upper and lower case were told apart: set `ignore_case` to true, or use a shorter pattern"
            .to_owned();
    }
    // A `.` matches itself, too.
    if !options.literal
        && pattern.contains(['(', ')', '[', ']', '{', '}', '*', '+', '?', '|', '^', '$', '\\'])
    {
        return "if its special characters stand for themselves, set `literal` to true; otherwise use a simpler pattern"
            .to_owned();
    }
    if request.is_one_file() {
        "use a shorter pattern, or search a directory"
    } else {
        "use a shorter pattern or another `path`"
    }
    .to_owned()
}

impl Request {
    fn is_one_file(&self) -> bool {
        matches!(self.start, Start::File(_))
    }
}

impl Skipped {
    /// Says what was not searched; empty where that is nothing.
    fn sentence(self, request: &Request) -> String {
        let most = match request.pattern.effort().piece {
            mebibytes if mebibytes >= 1 << 20 => format!("{} MiB", mebibytes >> 20),
            kibibytes => format!("{} KiB", kibibytes >> 10),
        };
        let too_large = if request.pattern.options().multiline {
            format!(" over {most}, too large for `multiline`")
        } else {
            format!(" from a line over {most} on")
        };
        not_searched(&[
            (self.binary, "binary file", ""),
            (self.too_large, "file", &too_large),
            (self.unreadable_files, "file", " that cannot be read"),
            (self.unreadable_directories, "directory", " that cannot be listed"),
            (self.not_unicode, "entry", " with a name that is not UTF-8"),
        ])
    }
}

fn details(findings: &Findings) -> Value {
    let Findings { matches, files, searched, skipped, cut, end, .. } = findings;
    let per_file =
        |(path, matches): &(WorkdirPath, u64)| json!({ "path": path.as_str(), "matches": matches });
    json!({
        "matches": matches,
        "files": files.iter().map(per_file).collect::<Vec<_>>(),
        "searched": searched,
        "skipped": {
            "binary": skipped.binary,
            "too_large": skipped.too_large,
            "unreadable_files": skipped.unreadable_files,
            "unreadable_directories": skipped.unreadable_directories,
            "not_unicode": skipped.not_unicode,
        },
        "cut": cut,
        "stopped": match end {
            End::Done => Value::Null,
            End::Limit => json!("limit"),
            End::Full => json!("full"),
        },
    })
}
