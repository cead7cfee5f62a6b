use super::answer::page;
use super::message;
use crate::server::catalog::{Pages, ServedTools};
use bytes::Bytes;
use rmcp::model::{ErrorData, PaginatedRequestParams, Tool};
use std::sync::OnceLock;

/// Is the list of the tools of one snapshot, made once for all who ask.
pub(super) struct ToolList {
    pages: Pages<Tool>,
    /// Each page as it is written, without the brackets around it.
    written: Pages<Bytes>,
}

impl ToolList {
    pub(super) fn of(tools: &ServedTools) -> Self {
        let pages = tools.pages().map(message::tool);
        let written = pages.whole(|page| {
            // Tools are made of texts and JSON, which can always be written.
            let text = serde_json::to_vec(page).unwrap_or_else(|_| b"[]".to_vec());
            let inside = 1..text.len() - 1;
            Bytes::from(text).slice(inside)
        });
        Self { pages, written }
    }

    /// Finds a tool in the list.
    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        self.pages.find(|tool| (*tool.name).cmp(name))
    }

    /// Takes the page that a client asks for; where a written one is taken, it is put there, and the list is empty.
    pub(super) fn page(
        &self,
        request: Option<&PaginatedRequestParams>,
        room: Option<&OnceLock<Bytes>>,
    ) -> Result<(Vec<Tool>, Option<String>), ErrorData> {
        let Some(room) = room else { return page(&self.pages, request) };
        let (written, next) = page(&self.written, request)?;
        for page in written {
            // There is one request, and one answer to it.
            let _ = room.set(page);
        }
        Ok((Vec::new(), next))
    }
}
