use super::{IN_PLACE_BYTES, attachments, clean, data, depth, fits, is_untrusted, text};
use crate::executor::Frame;
use crate::{Limits, Redactor, rewrite};
use haft_core::{Content, EventKind, Progress, ToolOutput, Visible};

/// How many bytes of a text that says how far a call has got are told: more than fits on a screen's line.
const MOST_PROGRESS: usize = 1024;

/// Bounds what a call tells before it is done, and writes out what cannot be seen in it, at a price that is bounded too.
///
/// What is cut was without secrets before, so that none is told in part; the others are replaced where all events are.
pub(crate) fn shape_news(frame: &Frame, tool: &str, kind: &mut EventKind) {
    let shared = &frame.shared;
    let entry = frame.registry().entry(tool);
    let is_untrusted = entry.is_some_and(|entry| is_untrusted(entry.spec.origin()));
    match kind {
        EventKind::Updated { output } => {
            let limits = entry.map_or(&shared.limits, |entry| shared.limits_of(entry));
            // How an update is split into lines is no matter.
            let limits = Limits { output_lines: usize::MAX, line_bytes: usize::MAX, ..limits.clone() };
            if !fits(output, &limits) {
                cut(output, &limits, &shared.redactor);
            }
            if is_untrusted {
                clean(output, &shared.redactor, true);
            }
        }
        EventKind::Progressed { progress: Progress { message: Some(message), .. } } => {
            if message.len() > MOST_PROGRESS {
                let head = message[..message.floor_char_boundary(MOST_PROGRESS)].to_owned();
                // What could be the beginning of a secret is held back, and goes with the rest.
                *message = shared.redactor.stream().push(head) + "…";
            }
            if is_untrusted {
                *message = Visible::line(&shared.redactor.redact(message)).to_string();
            }
        }
        _ => {}
    }
}

/// Cuts an update to what a reply may have: of texts and JSON, as one text, the end, which is the newest.
fn cut(output: &mut ToolOutput, limits: &Limits, redactor: &Redactor) {
    data::cut(output, limits);
    depth::flatten(output);
    attachments::cut(&mut output.content, limits);
    if text::fits(&output.content, limits) {
        return;
    }
    let mut whole = String::new();
    for part in &output.content {
        match part {
            Content::Json { value } if data::json_bytes(value, IN_PLACE_BYTES).is_some() => {
                whole.push_str(&value.to_string());
            }
            Content::Json { .. } => whole.push_str("[JSON that is too large to be shown]"),
            part => whole.push_str(rewrite::words(part).unwrap_or_default()),
        }
    }
    let tail = redactor.redact_tail(&whole, limits.output_bytes);
    output.content.retain(|part| !matches!(part, Content::Json { .. }) && rewrite::words(part).is_none());
    output.content.insert(0, Content::text(format!("[… of {} bytes the end …]\n{tail}", whole.len())));
}
