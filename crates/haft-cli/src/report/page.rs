//! Writes the page: one file with its own style and script, which may load nothing and run nothing else.

use super::data::{Report, Text};
use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use haft::Visible;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = concat!(
    "(() => {\n",
    include_str!("page/base.js"),
    include_str!("page/header.js"),
    include_str!("page/rows.js"),
    include_str!("page/detail.js"),
    include_str!("page/scale.js"),
    include_str!("page/timeline.js"),
    include_str!("page/start.js"),
    "})();\n"
);

/// The most bytes of one text, and of all arguments, outputs and diffs together; in a large run each has less room.
const MOST_TEXT: usize = 64 * 1024;
const MOST_ALL: usize = 16 * 1024 * 1024;
const LEAST_TEXT: usize = 1024;

/// Writes the page of a report.
pub(super) fn page(report: &Report) -> Result<String> {
    let data = escaped(&serde_json::to_string(&shown(report)?)?);
    let (style_digest, script_digest) = (digest(STYLE), digest(SCRIPT));
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    // One pass: what is put in is not looked at again.
    let mut parts = PAGE.split("{{");
    page.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        page.push_str(match name {
            "style-digest" => &style_digest,
            "script-digest" => &script_digest,
            "style" => STYLE,
            "script" => SCRIPT,
            "data" => &data,
            unknown => anyhow::bail!("the template of the page has an unknown place `{unknown}`"),
        });
        page.push_str(rest);
    }
    Ok(page)
}

/// Writes what the page's own rules let run: exactly this text.
fn digest(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

/// Writes JSON so that no part of it can end the element that it stands in.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

/// Makes of a report what the page shows: long texts cut, arguments as text, and all that cannot be seen written out.
fn shown(report: &Report) -> Result<Value> {
    let texts: Vec<[String; 3]> = report
        .calls
        .iter()
        .map(|call| {
            let input = call.input.as_ref().map(serde_json::to_string_pretty).transpose()?;
            let diff = call.diff.as_ref().map(|diff| diff.text.clone());
            Ok([input, call.output.clone(), diff].map(Option::unwrap_or_default))
        })
        .collect::<Result<_>>()?;
    let room = room(&texts.iter().flatten().map(String::len));
    let mut page = serde_json::to_value(report)?;
    let empty = &mut Vec::new();
    for run in page["runs"].as_array_mut().unwrap_or(empty) {
        for name in ["task", "said", "reason"] {
            if let Some(text) = run[name].as_str() {
                run[name] = json!(Text::cut(text, MOST_TEXT).text);
            }
        }
    }
    for (call, texts) in page["calls"].as_array_mut().unwrap_or(empty).iter_mut().zip(texts) {
        let Value::Object(call) = call else { continue };
        let [input, output, diff] = texts.map(|text| Text::cut(&text, room));
        put(call, "input", &input);
        put(call, "output", &output);
        let from = call.get("diff").map(|diff| diff["from"].clone());
        put(call, "diff", &diff);
        if let Some(from) = from {
            call["diff"]["from"] = from;
        }
    }
    make_visible(&mut page);
    Ok(page)
}

/// Puts a text where the report has one.
fn put(call: &mut Map<String, Value>, name: &str, text: &Text) {
    if let Some(place) = call.get_mut(name) {
        *place = json!(text);
    }
}

/// Finds how long a text may be so that all of them have room.
fn room(lengths: &(impl Iterator<Item = usize> + Clone)) -> usize {
    let mut room = MOST_TEXT;
    while room > LEAST_TEXT && lengths.clone().map(|length| length.min(room)).sum::<usize>() > MOST_ALL {
        room /= 2;
    }
    room
}

/// Writes out what cannot be seen in every text, so that nothing is shown otherwise than it is.
fn make_visible(value: &mut Value) {
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
