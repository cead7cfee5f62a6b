//! What a model is told of a search, and what the host is.

use super::Request;
use super::input::Mode;
use super::search::Findings;
use super::visit::Tally;
use crate::page::End;
use crate::scan::Rest;
use crate::start::Start;
use crate::wording::{Quoted, counted, not_searched, not_walked, push_line};
use haft_core::ToolOutput;
use haft_workdir::WorkdirPath;
use serde_json::{Value, json};

/// Writes what was found, with what was left out and what to do next.
pub(super) fn output(request: &Request, findings: &Findings) -> ToolOutput {
    let text = if findings.files.is_empty() && findings.end == End::Done {
        nothing(request, findings)
    } else {
        let mut text = format!("{}\n{}", findings.text, summary(request, findings));
        push_line(&mut text, &findings.tally.sentence(request));
        push_line(&mut text, &out_of_time(request, findings));
        if findings.cut {
            push_line(&mut text, "long lines and matches are cut, shown by `…`");
        }
        text
    };
    ToolOutput::text(text).with_details(details(findings))
}

/// Says what there was no time for; empty where there was for all.
fn out_of_time(request: &Request, findings: &Findings) -> String {
    let next = if request.is_one_file() { "narrow `pattern`" } else { "narrow `path`, `type` or `glob`" };
    findings.rest.map(|rest| format!("{}; {next}", rest.in_words())).unwrap_or_default()
}

fn summary(request: &Request, findings: &Findings) -> String {
    let files = counted(findings.files.len() as u64, "file");
    let offset = request.offset;
    // What is counted by `limit` and `offset`.
    let (given, noun) = match request.mode {
        Mode::Content => (findings.shown, "match"),
        Mode::Files | Mode::Count => (findings.files.len() as u64, "file"),
    };
    if offset == 0 && findings.end == End::Done {
        return match request.mode {
            Mode::Content | Mode::Count => format!("{} in {files}", counted(findings.shown, "match")),
            Mode::Files => format!("{files} with matches"),
        };
    }
    let which = match (offset, given) {
        (0, _) => given.to_string(),
        (_, 1) => format!("number {}", offset + 1),
        _ => format!("{} to {}", offset + 1, offset + given),
    };
    let at_least = if findings.has_more || findings.rest.is_some() { "at least " } else { "" };
    let count = match request.mode {
        Mode::Content => format!("{which} of {at_least}{}, in {files}", counted(findings.total, noun)),
        Mode::Files | Mode::Count => {
            format!("{which} of {at_least}{} with matches", counted(findings.total, noun))
        }
    };
    let narrow =
        if request.is_one_file() { "narrow `pattern`" } else { "narrow `pattern`, `path` or `glob`" };
    let next = format!("for the next set `offset` to {}", offset + given);
    match findings.end {
        End::Done => count,
        End::Limit if request.limit < 1000 => {
            format!("{count}; stopped at `limit`: {next}, raise `limit`, or {narrow}")
        }
        End::Limit => format!("{count}; stopped at `limit`: {next}, or {narrow}"),
        End::Full => {
            let smaller = match request.mode {
                Mode::Content if request.before + request.after > 0 => {
                    ", ask for less context, or set `mode` to `files`"
                }
                Mode::Content => ", or set `mode` to `files` or `count`",
                Mode::Files | Mode::Count => "",
            };
            format!("{count}; stopped because the output is full: {next}, {narrow}{smaller}")
        }
    }
}

fn nothing(request: &Request, findings: &Findings) -> String {
    if findings.total > 0 {
        let noun = if request.mode == Mode::Content { "match" } else { "file" };
        let total = counted(findings.total, noun);
        let mut text = format!("nothing behind the first {}: there are {total} in all", request.offset);
        push_line(&mut text, &findings.tally.sentence(request));
        push_line(&mut text, &out_of_time(request, findings));
        return text;
    }
    let pattern = Quoted(request.pattern.text());
    let searched = counted(findings.tally.searched, "file");
    let mut place = match request.starts.as_slice() {
        [Start::File(path)] => Quoted(path.as_str()).to_string(),
        [Start::Directory(path)] if path.is_root() && !path.is_absolute() => searched,
        [Start::Directory(path)] => format!("{searched} below {}", Quoted(path.as_str())),
        _ => format!("{searched} of `paths`"),
    };
    if !request.is_one_file() {
        place.push_str(&request.filter.in_words());
    }
    let mut text = format!("no match for {pattern} in {place}");
    push_line(&mut text, &findings.tally.sentence(request));
    push_line(&mut text, &out_of_time(request, findings));
    if findings.rest.is_none() {
        push_line(&mut text, &next_step(request, findings));
    }
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
    if findings.tally.searched == 0 && request.is_one_file() {
        return "it cannot be searched as text; use another tool to look into it".to_owned();
    }
    if findings.tally.searched == 0 && request.filter.glob.is_some() {
        return "no file was searched: check `glob`, which is matched below `path`".to_owned();
    }
    if findings.tally.searched == 0 && request.filter.types.is_some() {
        return "no file was searched: check `type` and `path`".to_owned();
    }
    if findings.tally.searched == 0 {
        return "no file was searched: check `path`".to_owned();
    }
    if !options.literal && pattern.contains("\\|") {
        return "`\\|` stands for the character `|`: write `|` between alternatives".to_owned();
    }
    if request.pattern.tells_case_apart() {
        return "upper and lower case were told apart: set `case` to `insensitive`, or use a shorter pattern"
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
        matches!(self.starts.as_slice(), [Start::File(_)])
    }
}

impl Tally {
    /// Says what was not searched; empty where that is nothing.
    fn sentence(&self, request: &Request) -> String {
        let most = match request.pattern.effort().piece {
            mebibytes if mebibytes >= 1 << 20 => format!("{} MiB", mebibytes >> 20),
            kibibytes => format!("{} KiB", kibibytes >> 10),
        };
        let too_large = if request.pattern.options().multiline {
            format!(" over {most}, too large for `multiline`")
        } else {
            format!(" from a line over {most} on")
        };
        let files = [
            (self.binary, "binary file", ""),
            (self.too_large, "file", &*too_large),
            (self.unreadable_files, "file", " that cannot be read"),
        ];
        not_searched(&[&files[..], &not_walked(self.skipped)].concat())
    }
}

fn details(findings: &Findings) -> Value {
    let Findings { shown, files, total, has_more, tally, cut, end, rest, .. } = findings;
    let per_file =
        |(path, matches): &(WorkdirPath, u64)| json!({ "path": path.as_str(), "matches": matches });
    json!({
        "matches": shown,
        "files": files.iter().map(per_file).collect::<Vec<_>>(),
        "total": total,
        "has_more": has_more,
        "searched": tally.searched,
        "skipped": {
            "hidden": tally.skipped.hidden,
            "ignored": tally.skipped.ignored,
            "binary": tally.binary,
            "too_large": tally.too_large,
            "unreadable_files": tally.unreadable_files,
            "unreadable_directories": tally.skipped.unreadable,
            "not_unicode": tally.skipped.not_unicode,
            "denied": tally.skipped.held_back,
        },
        "cut": cut,
        "stopped": match end {
            End::Done => Value::Null,
            End::Limit => json!("limit"),
            End::Full => json!("full"),
        },
        "out_of_time": rest.map(Rest::details),
    })
}
