use super::depth::{MOST_LEVELS, is_shallow};
use super::notes::Whereabouts;
use crate::Limits;
use haft_core::{Content, ToolOutput};
use serde_json::{Value, json};
use std::io;

/// Is a result as data, and what is for the host alone, that was left out because it is too much.
pub(super) struct CutData {
    /// The result written as JSON on several lines; nothing if what the model reads has the same.
    whole: Option<String>,
    bytes: u64,
    details_bytes: u64,
    most_bytes: usize,
    /// Whether it is nested too deep.
    is_deep: bool,
}

pub(super) fn fits(output: &ToolOutput, limits: &Limits) -> bool {
    let within = |value: &Value| {
        value.is_null() || is_shallow(value) && json_bytes(value, limits.data_bytes).is_some()
    };
    output.structured.as_ref().is_none_or(within) && within(&output.details)
}

/// Leaves out the result as data, and what is for the host, where they are too much or nested too deep.
///
/// What is for the host is not stored: the model can read what is.
pub(super) fn cut(output: &mut ToolOutput, limits: &Limits) -> Option<CutData> {
    let most_bytes = limits.data_bytes;
    let is_over = |value: &Value| !value.is_null() && json_bytes(value, most_bytes).is_none();
    let mut details_bytes = 0;
    let is_deep = !is_shallow(&output.details);
    if is_deep || is_over(&output.details) {
        details_bytes = json_bytes(&output.details, usize::MAX).unwrap_or_default() as u64;
        tracing::warn!(
            details_bytes,
            most_bytes,
            is_deep,
            "the details of an output are too much and were left out"
        );
        let most =
            if is_deep { json!({ "most_levels": MOST_LEVELS }) } else { json!({ "most_bytes": most_bytes }) };
        output.details = json!({ "left_out": most });
        output.details["left_out"]["bytes"] = json!(details_bytes);
    }
    let is_deep = output.structured.as_ref().is_some_and(|structured| !is_shallow(structured));
    let structured = output.structured.take_if(|structured| is_deep || is_over(structured));
    let is_left_out = structured.is_some();
    let is_read =
        |structured: &Value| matches!(&output.content[..], [Content::Json { value }] if value == structured);
    let whole =
        structured.filter(|structured| !is_read(structured)).map(|structured| format!("{structured:#}"));
    let bytes = whole.as_ref().map_or(0, |whole| whole.len() as u64);
    (is_left_out || details_bytes > 0).then_some(CutData { whole, bytes, details_bytes, most_bytes, is_deep })
}

impl CutData {
    /// Takes what is to be stored.
    pub(super) fn take_whole(&mut self) -> Option<String> {
        self.whole.take()
    }

    /// How many bytes were left out that are not in what the model reads either.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes + self.details_bytes
    }

    /// Says what was left out, unless the model reads the same as text.
    pub(super) fn note(&self, whereabouts: &Whereabouts<'_>) -> Option<String> {
        let next = match whereabouts {
            Whereabouts::Readable { output, tool } => format!("`{tool}` gives it, with output \"{output}\""),
            Whereabouts::Stored(output) => {
                format!("it was kept as the output {output}; ask for less at once to see it")
            }
            Whereabouts::Nowhere => "ask for less at once".to_owned(),
            Whereabouts::Lost => "it could not be kept; ask for less at once".to_owned(),
        };
        let Self { bytes, most_bytes, is_deep, .. } = self;
        (*bytes > 0).then(|| {
            let most =
                if *is_deep { format!("{MOST_LEVELS} levels of nesting") } else { most_bytes.to_string() };
            format!("[the result as data, {bytes} bytes, is left out: a reply has at most {most}; {next}]")
        })
    }
}

/// Counts the bytes of a value written compactly; `None` as soon as there are more than this many.
pub(super) fn json_bytes(value: &Value, most_bytes: usize) -> Option<usize> {
    struct Counter {
        left: usize,
    }
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.left = self.left.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter { left: most_bytes };
    // Nothing but the counter can fail here.
    serde_json::to_writer(&mut counter, value).ok().map(|()| most_bytes - counter.left)
}
