//! What a model is told of what files define, and what the host is.

use super::Request;
use super::outlined::Outlined;
use crate::page::End;
use crate::scan::Rest;
use crate::wording::{counted, push_line};
use haft_core::ToolOutput;
use serde_json::{Value, json};

/// Writes the symbols, with what was left out and what to do next.
pub(super) fn output(request: &Request, outlined: &Outlined<'_>, rest: Option<Rest>) -> ToolOutput {
    let mut text = outlined.page.text.clone();
    let out_of_time =
        rest.map(|rest| format!("{}{}", rest.in_words(), narrower(request))).unwrap_or_default();
    if outlined.only.is_some() || outlined.shown > 0 || rest.is_none() {
        push_line(&mut text, &summary(request, outlined, rest));
    }
    if let Some((_, _, Some(line))) = outlined.only {
        push_line(
            &mut text,
            &format!("syntax error at line {line}: what is around it may be missing or wrong"),
        );
    }
    push_line(&mut text, &outlined.tally.sentence());
    push_line(&mut text, &out_of_time);
    if outlined.page.cut {
        push_line(&mut text, "long signatures are cut, shown by `…`");
    }
    ToolOutput::text(text.trim_start_matches('\n').to_owned()).with_details(json!({
        "symbols": outlined.shown,
        "files": outlined.details,
        "total": outlined.total,
        "has_more": outlined.has_more,
        "searched": outlined.tally.searched,
        "without_symbols": outlined.tally.empty,
        "skipped": outlined.tally.details(),
        "cut": outlined.page.cut,
        "stopped": match outlined.end {
            End::Done => Value::Null,
            End::Limit => json!("limit"),
            End::Full => json!("full"),
        },
        "out_of_time": rest.map(Rest::details),
    }))
}

fn narrower(request: &Request) -> &'static str {
    if request.is_one_file() { "; search its text with `grep`" } else { "; narrow `path`, `type` or `glob`" }
}

fn summary(request: &Request, outlined: &Outlined<'_>, rest: Option<Rest>) -> String {
    let Outlined { shown, total, end, .. } = *outlined;
    let place = match outlined.only {
        Some((lines, language, _)) => format!("{} of {language}", counted(lines as u64, "line")),
        None => counted(outlined.files, "file"),
    };
    let empty = match outlined.tally.empty {
        0 => String::new(),
        files => format!("; {} without symbols", counted(files, "file")),
    };
    if total == 0 {
        return match outlined.only {
            Some(_) => format!("no symbols in {place}; search its text with `grep`"),
            None if request.is_one_file() => "it cannot be outlined; search its text with `grep`".to_owned(),
            None if outlined.tally.searched == 0 => {
                "no file can be outlined: check `path`, `type` and `glob`".to_owned()
            }
            None => format!("no symbols in {}", counted(outlined.tally.searched, "file")),
        };
    }
    let at_least = if outlined.has_more || rest.is_some() { "at least " } else { "" };
    let all = format!("{at_least}{}", counted(total, "symbol"));
    if shown == 0 {
        return format!("nothing behind the first {}: there are {all} in all{empty}", request.offset);
    }
    if request.offset == 0 && end == End::Done {
        return format!("{} in {place}{empty}", counted(shown, "symbol"));
    }
    let which = match shown {
        1 => format!("number {}", request.offset + 1),
        _ => format!("{} to {}", request.offset + 1, request.offset + shown),
    };
    let count = format!("{which} of {all}, in {place}{empty}");
    let narrow = match (outlined.only, request.depth) {
        (Some(_), 1) => "",
        (Some(_), _) => ", or set `depth` to 1",
        (None, _) => ", or narrow `path`, `type` or `glob`",
    };
    let next = format!("for the next set `offset` to {}", request.offset + shown);
    match end {
        End::Done => count,
        End::Limit if request.limit < 1000 => {
            format!("{count}; stopped at `limit`: {next}, raise `limit`{narrow}")
        }
        End::Limit => format!("{count}; stopped at `limit`: {next}{narrow}"),
        End::Full => format!("{count}; stopped because the output is full: {next}{narrow}"),
    }
}
