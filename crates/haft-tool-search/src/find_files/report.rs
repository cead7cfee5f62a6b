//! What a model is told of a search for files that are like a text, and what the host is.

use super::Request;
use super::search::Findings;
use crate::scan::Rest;
use crate::wording::{OneLine, Quoted, TEXT_BYTES, counted, not_listed, push_line};
use haft_core::ToolOutput;
use serde_json::json;

/// Writes the paths, with what is not shown and what to do next.
pub(super) fn output(request: &Request, findings: &Findings) -> ToolOutput {
    let mut text = String::new();
    let mut shown = 0;
    for path in &findings.paths {
        let line = format!("{}\n", OneLine(path.as_str()));
        if text.len() + line.len() > TEXT_BYTES {
            break;
        }
        text.push_str(&line);
        shown += 1;
    }
    push_line(&mut text, &summary(request, findings, shown));
    push_line(&mut text, &not_listed(findings.skipped));
    push_line(&mut text, &Rest::next_step(findings.rest));
    ToolOutput::text(text.trim_start_matches('\n').to_owned()).with_details(json!({
        "total": findings.total,
        "shown": shown,
        "looked_at": findings.looked_at,
        "with_typos": findings.with_typos,
        "out_of_time": findings.rest.map(Rest::details),
        "skipped": {
            "hidden": findings.skipped.hidden,
            "ignored": findings.skipped.ignored,
            "unreadable_directories": findings.skipped.unreadable,
            "not_unicode": findings.skipped.not_unicode,
            "denied": findings.skipped.held_back,
        },
    }))
}

fn summary(request: &Request, findings: &Findings, shown: u64) -> String {
    let query = Quoted(&request.query.text);
    if findings.total == 0 {
        let among = counted(findings.looked_at, "file");
        return format!(
            "no file is named like {query}, among {among}; use fewer characters, or search the text of files with `grep`"
        );
    }
    let total = counted(findings.total, "file");
    let count = if shown == findings.total {
        total
    } else {
        format!("the best {shown} of {total}: for fewer, write more of the name or set `path`")
    };
    if findings.with_typos {
        format!("{count}; none has all characters of {query}, these are like it")
    } else {
        count
    }
}
