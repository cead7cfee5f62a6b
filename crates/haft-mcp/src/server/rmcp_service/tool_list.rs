use super::answer::page;
use super::message;
use crate::server::catalog::{Pages, ServedTools};
use bytes::Bytes;
#[cfg(feature = "server-http")]
use rmcp::model::JsonObject;
use rmcp::model::{ErrorData, PaginatedRequestParams, Tool};
#[cfg(feature = "server-http")]
use serde_json::Value;
#[cfg(feature = "server-http")]
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Is the list of the tools of one snapshot, made once for all who ask.
pub(super) struct ToolList {
    pages: Pages<Tool>,
    /// Each page as it is written, without the brackets around it.
    written: Pages<Bytes>,
    /// The tools of whose input something stands in headers, too, by name.
    #[cfg(feature = "server-http")]
    headed: BTreeSet<String>,
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
        #[cfg(feature = "server-http")]
        let headed = pages.iter().filter(|tool| stands_in_headers(&tool.input_schema));
        Self {
            #[cfg(feature = "server-http")]
            headed: headed.map(|tool| tool.name.to_string()).collect(),
            pages,
            written,
        }
    }

    /// Finds a tool in the list.
    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        self.pages.find(|tool| (*tool.name).cmp(name))
    }

    /// Tells whether a tool is in the list, and nothing of its input is to stand in the headers of a call.
    #[cfg(feature = "server-http")]
    pub(super) fn has_without_headers(&self, name: &str) -> bool {
        !self.headed.contains(name) && self.find(name).is_some()
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

/// Tells whether anything in a schema could say that an argument stands in a header (SEP-2243).
#[cfg(feature = "server-http")]
fn stands_in_headers(schema: &JsonObject) -> bool {
    fn says_so(value: &Value) -> bool {
        match value {
            Value::Object(object) => stands_in_headers(object),
            Value::Array(items) => items.iter().any(says_so),
            _ => false,
        }
    }
    schema.iter().any(|(key, value)| key == "x-mcp-header" || says_so(value))
}
