//! What a model is told of where a name is, and what the host is.

use super::Request;
use super::input::Role;
use super::name_pattern::NamePattern;
use super::named::Places;
use crate::page::{End, Fit, Page};
use crate::scan::Rest;
use crate::start::Start;
use crate::wording::{OneLine, Quoted, counted, push_line};
use haft_core::ToolOutput;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Writes the places, definitions first, with what was left out and what to do next.
pub(super) fn output(
    request: &Request,
    pattern: &NamePattern,
    role: Role,
    places: &Places,
    rest: Option<Rest>,
) -> ToolOutput {
    let Places { definitions, references, tally, .. } = places;
    let mut page = Page::default();
    let mut end = End::Done;
    let mut shown = Vec::new();
    let mut files = BTreeSet::new();
    let skip = usize::try_from(request.offset).unwrap_or(usize::MAX);
    let all = definitions.first.iter().chain(&references.first);
    // What could be needed of the definitions was kept, so the first reference comes right behind the last of them.
    for (path, entry) in all.skip(skip) {
        if shown.len() as u64 == request.limit {
            end = End::Limit;
            break;
        }
        if page.push_line(&format!("{}:{}\n", OneLine(path.as_str()), entry.line())) == Fit::Not {
            end = End::Full;
            break;
        }
        page.cut |= entry.shown.cut;
        files.insert(path.as_str());
        let mut details = entry.details();
        details["path"] = json!(path.as_str());
        shown.push(details);
    }
    let total = definitions.total + references.total;
    let number = shown.len() as u64;
    if end == End::Done && number > 0 && request.offset + number < total {
        end = End::Limit;
    }
    let mut text = page.text;
    let counts = Counts { shown: number, files: files.len() as u64, role, end };
    let said = if number > 0 {
        counts.summary(request, places, rest)
    } else if total > 0 {
        format!("nothing behind the first {}: there are {total} places in all", request.offset)
    } else {
        nothing(request, pattern, role, places)
    };
    push_line(&mut text, &said);
    if pattern.is_qualified() {
        let looked_for =
            format!("looked for {} alone: what it belongs to is not compared", Quoted(&pattern.text));
        push_line(&mut text, &looked_for);
    }
    if tally.broken > 0 {
        let broken = counted(tally.broken, "file");
        push_line(
            &mut text,
            &format!("syntax errors in {broken} with such a name: places there may be missing"),
        );
    }
    push_line(&mut text, &tally.sentence());
    if let Some(rest) = rest {
        push_line(&mut text, &format!("{}; narrow `path`, `type` or `glob`", rest.in_words()));
    } else if total == 0 {
        push_line(&mut text, next_step(pattern, role));
    }
    if page.cut {
        push_line(&mut text, "long lines are cut, shown by `…`");
    }
    ToolOutput::text(text.trim_start_matches('\n').to_owned()).with_details(json!({
        "places": shown,
        "definitions": definitions.total,
        "references": references.total,
        "has_more": places.has_more,
        "searched": tally.searched,
        "with_errors": tally.broken,
        "skipped": tally.details(),
        "cut": page.cut,
        "stopped": match end {
            End::Done => Value::Null,
            End::Limit => json!("limit"),
            End::Full => json!("full"),
        },
        "out_of_time": rest.map(Rest::details),
    }))
}

/// What is shown, in numbers.
struct Counts {
    shown: u64,
    files: u64,
    role: Role,
    end: End,
}

impl Counts {
    fn summary(&self, request: &Request, places: &Places, rest: Option<Rest>) -> String {
        let files = counted(self.files, "file");
        let at_least = if places.has_more || rest.is_some() { "at least " } else { "" };
        let mut all = Vec::new();
        if self.role.has_definitions() {
            all.push(counted(places.definitions.total, "definition"));
        }
        if self.role.has_references() {
            all.push(counted(places.references.total, "use"));
        }
        let all = format!("{at_least}{}", all.join(" and "));
        if request.offset == 0 && self.end == End::Done {
            return format!("{all} in {files}");
        }
        let which = match self.shown {
            1 => format!("number {}", request.offset + 1),
            _ => format!("{} to {}", request.offset + 1, request.offset + self.shown),
        };
        let count = format!("{which} of {all}, in {files}");
        let next = format!("for the next set `offset` to {}", request.offset + self.shown);
        match self.end {
            End::Done => count,
            End::Limit if request.limit < 1000 => {
                format!(
                    "{count}; stopped at `limit`: {next}, raise `limit`, or narrow `path`, `type` or `glob`"
                )
            }
            End::Limit => format!("{count}; stopped at `limit`: {next}, or narrow `path`, `type` or `glob`"),
            End::Full => {
                format!(
                    "{count}; stopped because the output is full: {next}, or narrow `path`, `type` or `glob`"
                )
            }
        }
    }
}

fn nothing(request: &Request, pattern: &NamePattern, role: Role, places: &Places) -> String {
    let what = match role {
        Role::Definitions => "definition",
        Role::References => "use",
        Role::Both => "definition or use",
    };
    let searched = counted(places.tally.searched, "file");
    let place = match &request.start {
        Start::File(path) => Quoted(path.as_str()).to_string(),
        Start::Directory(path) if path.is_root() && !path.is_absolute() => searched,
        Start::Directory(path) => format!("{searched} below {}", Quoted(path.as_str())),
    };
    let filter = if request.is_one_file() { String::new() } else { request.filter.in_words() };
    format!("no {what} of {} in {place}{filter}", Quoted(&pattern.text))
}

/// Says what is most likely to help, one thing.
fn next_step(pattern: &NamePattern, role: Role) -> &'static str {
    if !pattern.text.contains('*') {
        return "letter case counts: use a pattern such as `*part*`, or search the text of files with `grep`";
    }
    match role {
        Role::Definitions => {
            "letter case counts: use a shorter pattern, set `role` to `both`, or search the text of files with `grep`"
        }
        Role::References | Role::Both => {
            "letter case counts: use a shorter pattern, or search the text of files with `grep`"
        }
    }
}
