//! Jupyter notebooks, by their cells.

use super::answer::Answer;
use super::parts::Document;
use super::slice::Wanted;
use crate::whole::whole;
use haft_core::ToolError;
use haft_workdir::{Workdir, WorkdirPath};
use serde_json::Value;
use std::fmt::Write as _;

/// How large a notebook may be, in bytes: it is held in memory.
const FILE_BYTES: u64 = 16 * 1024 * 1024;

/// How many bytes of the outputs of a cell are shown.
const OUTPUT_BYTES: usize = 2_000;

/// Answers for a notebook; nothing for any other file, and for one that is too large or broken, which is read as text.
pub(super) fn answer(
    workdir: &Workdir,
    path: &WorkdirPath,
    wanted: Wanted,
) -> Option<Result<Answer, ToolError>> {
    let name = path.file_name()?;
    if !name.to_ascii_lowercase().ends_with(".ipynb") {
        return None;
    }
    let bytes = whole(workdir, path, FILE_BYTES).ok()?;
    let notebook: Value = serde_json::from_slice(&bytes).ok()?;
    let cells = notebook.get("cells")?.as_array()?;
    let document = Document {
        kind: "a notebook",
        noun: ("cell", "cells"),
        bytes: bytes.len() as u64,
        count: cells.len() as u64,
    };
    let text_of = |number: u64| {
        let cell = usize::try_from(number - 1).ok().and_then(|index| cells.get(index));
        Ok(cell.map(text).unwrap_or_default())
    };
    Some(document.answer(path, wanted, text_of))
}

/// Writes a cell: its kind, its source, and what it has put out.
fn text(cell: &Value) -> String {
    let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("cell");
    let mut text = format!("({kind})\n{}", joined(cell.get("source")));
    let mut output = String::new();
    for each in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
        if !output.is_empty() && !output.ends_with('\n') {
            output.push('\n');
        }
        output.push_str(&output_text(each));
    }
    if !output.is_empty() {
        let shown = &output[..output.floor_char_boundary(OUTPUT_BYTES)];
        let more = if shown.len() < output.len() { "…" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "\n(output)\n{shown}{more}");
    }
    text
}

fn output_text(output: &Value) -> String {
    if let Some(text) = output.get("text") {
        return joined(Some(text));
    }
    if let Some(error) = output.get("ename").and_then(Value::as_str) {
        return format!("{error}: {}", output.get("evalue").and_then(Value::as_str).unwrap_or_default());
    }
    let Some(data) = output.get("data").and_then(Value::as_object) else { return String::new() };
    match data.get("text/plain") {
        Some(text) => joined(Some(text)),
        None => format!("[{}]", data.keys().cloned().collect::<Vec<_>>().join(", ")),
    }
}

/// Puts together a text that is one string or a list of lines.
fn joined(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}
