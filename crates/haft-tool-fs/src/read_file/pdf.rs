//! PDF documents, by the text of their pages.

use super::answer::Answer;
use super::parts::Document as Parts;
use super::slice::Wanted;
use crate::blocking::go_on;
use crate::whole::whole;
use haft_core::ToolError;
use haft_workdir::{Workdir, WorkdirPath};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio_util::sync::CancellationToken;

/// How large a document may be, in bytes: it is held in memory.
const FILE_BYTES: u64 = 32 * 1024 * 1024;

/// Answers for a document; nothing for any other file, and why for one that cannot be read.
pub(super) fn answer(
    workdir: &Workdir,
    path: &WorkdirPath,
    head: &[u8],
    wanted: Wanted,
    stop: &CancellationToken,
) -> Option<Result<Answer, ToolError>> {
    if !head.starts_with(b"%PDF-") {
        return None;
    }
    let bytes = whole(workdir, path, FILE_BYTES).ok()?;
    // The library is made for documents that are well formed, and a broken one must not end the call.
    let document = catch_unwind(|| lopdf::Document::load_mem(&bytes)).ok()?.ok()?;
    let pages: Vec<u32> = document.get_pages().into_keys().collect();
    let parts = Parts {
        kind: "a PDF document",
        noun: ("page", "pages"),
        bytes: bytes.len() as u64,
        count: pages.len() as u64,
    };
    let text_of = |number: u64| {
        go_on(stop)?;
        let page =
            usize::try_from(number - 1).ok().and_then(|index| pages.get(index)).copied().unwrap_or_default();
        let text = catch_unwind(AssertUnwindSafe(|| document.extract_text(&[page])));
        let text = text
            .ok()
            .and_then(Result::ok)
            .unwrap_or_else(|| "(the text of this page cannot be read)".to_owned());
        Ok(if text.trim().is_empty() { "(no text: perhaps a picture)".to_owned() } else { text })
    };
    Some(parts.answer(path, wanted, text_of))
}
