use super::answer::Answer;
use super::slice::Wanted;
use crate::words::{Count, Shown, counted, size};
use haft_core::ToolError;
use haft_workdir::WorkdirPath;
use serde_json::json;
use std::fmt::Write as _;

/// A document that is read by pages, cells or the like.
pub(super) struct Document {
    /// What it is, with an article: `a PDF document`.
    pub(super) kind: &'static str,
    /// What one of its parts is called, and more than one.
    pub(super) noun: (&'static str, &'static str),
    pub(super) bytes: u64,
    pub(super) count: u64,
}

impl Document {
    /// Answers with the wanted parts, as many as fit; the text of each is made when it is its turn.
    pub(super) fn answer(
        &self,
        path: &WorkdirPath,
        wanted: Wanted,
        mut text_of: impl FnMut(u64) -> Result<String, ToolError>,
    ) -> Result<Answer, ToolError> {
        let (one, many) = self.noun;
        let first = match u64::try_from(wanted.offset) {
            Ok(offset) => offset.max(1),
            Err(_) => self.count.saturating_sub(wanted.offset.unsigned_abs()) + 1,
        };
        let mut text = format!(
            "{}: {}, {} of {}",
            Shown::new(path.as_str()),
            size(self.bytes),
            self.kind,
            counted(self.count, one, many)
        );
        if first > self.count {
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\n[there is no {one} {}; use an offset from 1 to {}]",
                Count(first),
                Count(self.count)
            );
        }
        let mut body = 0;
        let mut last = first.saturating_sub(1);
        for number in first..=self.count {
            if number - first >= wanted.lines {
                break;
            }
            let part = text_of(number)?;
            let part = part.trim_end();
            let room = wanted.bytes.saturating_sub(body);
            if part.len() > room && number > first {
                break;
            }
            let shown = &part[..part.floor_char_boundary(room)];
            let _ = write!(text, "\n--- {one} {number}\n{shown}");
            if shown.len() < part.len() {
                let _ = write!(text, "… [{} more in this {one}]", size((part.len() - shown.len()) as u64));
            }
            body += shown.len();
            last = number;
        }
        if last >= first && last < self.count {
            let shown = if first == last {
                format!("{one} {}", Count(first))
            } else {
                format!("{many} {}–{}", Count(first), Count(last))
            };
            let _ = write!(text, "\n[{shown} of {}; continue with offset {}]", Count(self.count), last + 1);
        }
        let details = json!({ "path": path.as_str(), "bytes": self.bytes, "parts": self.count, "first": first, "last": last });
        Ok(Answer { text, image: None, details })
    }
}
