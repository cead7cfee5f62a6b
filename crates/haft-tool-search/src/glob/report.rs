//! What a model is told of a search for names, and what the host is.

use super::Request;
use super::find::{Findings, Near};
use crate::order::Order;
use crate::scan::Rest;
use crate::wording::{OneLine, Quoted, TEXT_BYTES, counted, either, not_listed, push_line};
use haft_core::ToolOutput;
use haft_workdir::Skipped;
use serde_json::json;

/// Writes the paths, with what is not shown and what to do next.
pub(super) fn output(request: &Request, findings: &Findings) -> ToolOutput {
    let mut text = String::new();
    let mut shown = 0;
    for path in &findings.paths {
        let slash = if request.pattern.wants_directories() { "/" } else { "" };
        let line = format!("{}{slash}\n", OneLine(path.as_str()));
        if text.len() + line.len() > TEXT_BYTES {
            break;
        }
        text.push_str(&line);
        shown += 1;
    }
    if findings.total == 0 {
        text.push_str(&nothing(request, findings));
    } else {
        push_line(&mut text, &summary(request, findings, shown));
        push_line(&mut text, &not_listed(findings.skipped));
        push_line(&mut text, &Rest::next_step(findings.rest));
    }
    let Skipped { hidden, ignored, unreadable, not_unicode, held_back, .. } = findings.skipped;
    ToolOutput::text(text).with_details(json!({
        "total": findings.total,
        "shown": shown,
        "looked_at": findings.looked_at,
        "out_of_time": findings.rest.map(Rest::details),
        "skipped": {
            "hidden": hidden,
            "ignored": ignored,
            "unreadable_directories": unreadable,
            "not_unicode": not_unicode,
            "denied": held_back,
        },
    }))
}

fn summary(request: &Request, findings: &Findings, shown: u64) -> String {
    let noun = request.noun();
    let total = match findings.rest {
        None => counted(findings.total, noun),
        Some(_) => format!("at least {}", counted(findings.total, noun)),
    };
    if shown == findings.total {
        return total;
    }
    let which = match request.order {
        Order::Path => "first",
        Order::Modified => "latest",
    };
    let narrow = "narrow `pattern` or `path`";
    let next = if shown < findings.paths.len() as u64 || request.limit >= 1000 {
        narrow.to_owned()
    } else {
        format!("{narrow}, or raise `limit`")
    };
    format!("the {which} {shown} of {total}: to see the others, {next}")
}

fn nothing(request: &Request, findings: &Findings) -> String {
    let place = if request.start.is_root() && !request.start.is_absolute() {
        String::new()
    } else {
        format!(" below {}", Quoted(request.start.as_str()))
    };
    let looked_at = counted(findings.looked_at, "entry");
    let mut text = format!("no {} for {}{place}, among {looked_at}", request.noun(), Quoted(&request.text));
    push_line(&mut text, &not_listed(findings.skipped));
    push_line(&mut text, &Rest::next_step(findings.rest));
    if findings.rest.is_none() {
        push_line(&mut text, &next_step(request, findings));
    }
    text
}

/// Says what is most likely to help, one thing.
fn next_step(request: &Request, findings: &Findings) -> String {
    if let Some(left_out) = &findings.overlooked {
        return format!(
            "{} matches but is left out: set {} to true to find such {}s",
            Quoted(left_out.path.as_str()),
            left_out.needs,
            request.noun()
        );
    }
    let near: Vec<String> = findings
        .near
        .iter()
        .map(|Near { path, is_directory }| if *is_directory { format!("{path}/") } else { path.to_string() })
        .collect();
    if !near.is_empty() {
        return format!("did you mean {}?", either(near.iter().map(String::as_str)));
    }
    let below = request.start.file_name().map(|name| format!("{name}/"));
    if let Some(below) = below.filter(|below| request.text.trim_start_matches("./").contains(below.as_str()))
    {
        return format!("the pattern is matched below `path`: leave out {}", Quoted(&below));
    }
    match request.text.rsplit('/').find(|name| !name.is_empty()) {
        Some(name) if request.text.trim_end_matches('/').contains('/') && name != "**" => {
            format!("use a wider pattern, such as {}", Quoted(&format!("**/{name}")))
        }
        _ => "use a wider pattern such as `*part*`, or search the text of files with `grep`".to_owned(),
    }
}

impl Request {
    fn noun(&self) -> &'static str {
        if self.pattern.wants_directories() { "directory" } else { "file" }
    }
}
