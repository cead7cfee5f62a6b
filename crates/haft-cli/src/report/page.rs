//! Writes the page: one file with its own style and script, which may load nothing and run nothing else.

mod packed;
mod room;

use super::data::Report;
pub(crate) use super::data::Text;
use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft::core::Visible;
use packed::packed;
use room::{LEAST_OF_RUN, LEAST_TEXT, MOST_ALL, MOST_OF_RUNS, fit, room};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

const PAGE: &str = include_str!("page/page.html");
/// What the page of a report has in common with one that shows it live: its parts, how they look, and what they do.
pub(crate) const SECTIONS: &str = include_str!("page/sections.html");
pub(crate) const STYLE: &str = include_str!("page/style.css");
pub(crate) const PARTS: [&str; 6] = [
    include_str!("page/base.js"),
    include_str!("page/header.js"),
    include_str!("page/rows.js"),
    include_str!("page/detail.js"),
    include_str!("page/scale.js"),
    include_str!("page/timeline.js"),
];
const START: &str = include_str!("page/start.js");

/// What many calls and turns have in common: a page has each value once.
const OFTEN: [&str; 9] =
    ["called_as", "decided", "error", "model", "origin", "run", "status", "timings", "tool"];

/// Writes the page of a report.
pub(super) fn page(report: &Report) -> Result<String> {
    let mut shown = shown(report)?;
    for name in ["calls", "turns"] {
        if let Some(Value::Array(objects)) = shown.get_mut(name).map(Value::take) {
            shown[name] = packed(objects, &OFTEN);
        }
    }
    let data = escaped(&serde_json::to_string(&shown)?);
    let script = script(START);
    let (style_digest, script_digest) = (digest(STYLE), digest(&script));
    Ok(fill(PAGE, |name| {
        Some(match name {
            "style-digest" => &style_digest,
            "script-digest" => &script_digest,
            "style" => STYLE,
            "script" => &script,
            "sections" => SECTIONS,
            "data" => &data,
            _ => return None,
        })
    }))
}

/// Puts the script of a page together, whose last part is its own.
pub(crate) fn script(own: &str) -> String {
    format!("(() => {{\n{}{own}}})();\n", PARTS.concat())
}

/// Fills the places of a template in one pass: what is put in is not looked at again.
///
/// # Panics
///
/// If the template, which is a part of this program, has a place that is not known.
pub(crate) fn fill<'a>(template: &str, of: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut parts = template.split("{{");
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        page.push_str(of(name).expect("every place of the template is known"));
        page.push_str(rest);
    }
    page
}

/// Writes what the page's own rules let run: exactly this text.
pub(crate) fn digest(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

/// Writes JSON so that no part of it can end the element that it stands in.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Makes of a report what the page shows: long texts cut, arguments as text, and all that cannot be seen written out.
pub(super) fn shown(report: &Report) -> Result<Value> {
    let texts: Vec<[String; 3]> = report
        .calls
        .iter()
        .map(|call| {
            let input = call.input.as_ref().map(serde_json::to_string_pretty).transpose()?;
            let diff = call.diff.as_ref().map(|diff| diff.text.clone());
            Ok([input, call.output.clone(), diff].map(Option::unwrap_or_default))
        })
        .collect::<Result<_>>()?;
    let room_of_call = room(&texts.iter().flatten().map(String::len), MOST_ALL, LEAST_TEXT);
    let of_runs = report.runs.iter().flat_map(|run| [&run.task, &run.said, &run.reason]).flatten();
    let room_of_run = room(&of_runs.map(String::len), MOST_OF_RUNS, LEAST_OF_RUN);
    let mut page = serde_json::to_value(report)?;
    let empty = &mut Vec::new();
    for run in page["runs"].as_array_mut().unwrap_or(empty) {
        for name in ["task", "said", "reason"] {
            if let Some(text) = run[name].as_str() {
                run[name] = json!(Text::cut(text, room_of_run).text);
            }
        }
    }
    for (call, texts) in page["calls"].as_array_mut().unwrap_or(empty).iter_mut().zip(texts) {
        let Value::Object(call) = call else { continue };
        let [input, output, diff] = texts.map(|text| Text::cut(&text, room_of_call));
        put(call, "input", &input);
        put(call, "output", &output);
        let from = call.get("diff").map(|diff| diff["from"].clone());
        put(call, "diff", &diff);
        if let Some(from) = from {
            call["diff"]["from"] = from;
        }
    }
    make_visible(&mut page);
    fit(&mut page, &report.run);
    Ok(page)
}

/// Puts a text where the report has one.
fn put(call: &mut Map<String, Value>, name: &str, text: &Text) {
    if let Some(place) = call.get_mut(name) {
        *place = json!(text);
    }
}

/// Writes out what cannot be seen in every text, so that nothing is shown otherwise than it is.
pub(crate) fn make_visible(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let std::borrow::Cow::Owned(shown) = Visible::new(text).to_cow() {
                *text = shown;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(make_visible),
        Value::Object(members) => members.values_mut().for_each(make_visible),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
