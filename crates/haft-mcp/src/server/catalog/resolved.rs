use super::meta_tools::MetaTool;
use super::serve_mode::ServeMode;
use super::served_tools::ServedTools;
use haft_core::{CallId, ErrorKind, ReplyStatus, ToolOutput, ToolReply};
use haft_tools_core::{listed, nearest};
use serde_json::Value;
use std::sync::Arc;

/// The most tools that are named where none is near.
const MOST_NAMED: usize = 20;

/// Says what a call of a client's stands for.
#[derive(Debug, PartialEq)]
pub(crate) enum Resolved {
    /// A call of the tool of this name in the registry, to be permitted, validated and recorded as that.
    Call { name: String, input: Value },
    /// Nothing that runs: it is answered with this.
    Reply(Box<ToolReply>),
}

impl ServedTools {
    /// Says what a call of a served name stands for; nothing that is not served can be reached by any name.
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub(crate) async fn resolve(self: &Arc<Self>, id: &CallId, name: &str, input: Value) -> Resolved {
        if *self.mode() == ServeMode::Search
            && let Some(tool) = MetaTool::named(name)
        {
            return tool.resolve(self, id, input).await;
        }
        match self.own_name(name) {
            Some(own) => Resolved::Call { name: own.to_string(), input },
            None => self.unknown(id, name),
        }
    }

    /// Answers a call of what is not served with what may have been meant.
    pub(super) fn unknown(&self, id: &CallId, name: &str) -> Resolved {
        refuse(id, name, ErrorKind::UnknownTool, self.missing(name))
    }

    /// Says that there is no such tool, and what there is.
    pub(super) fn missing(&self, name: &str) -> String {
        let wrong = match haft_tools_core::one_line(name, 80) {
            shown if shown.is_empty() => "the call names no tool".to_owned(),
            shown => format!("there is no tool `{shown}`"),
        };
        let near = nearest(name, self.names());
        if !near.is_empty() {
            return format!("{wrong}; did you mean {}?", listed(near, "or"));
        }
        if *self.mode() == ServeMode::Search {
            return format!("{wrong}; find the tools there are with `{}`", MetaTool::Search.name());
        }
        let names: Vec<&str> =
            self.pages().iter().take(MOST_NAMED + 1).map(|tool| tool.name.as_str()).collect();
        match names.len() {
            0 => format!("{wrong}, and there are no others; answer without tools"),
            1 => format!("{wrong}; the only tool is `{}`", names[0]),
            2..=MOST_NAMED => format!("{wrong}; the tools are {}", listed(names, "and")),
            _ => format!("{wrong}; use one of the tools you were given"),
        }
    }
}

/// Answers a call that stands for nothing that could run.
pub(super) fn refuse(id: &CallId, name: &str, kind: ErrorKind, text: String) -> Resolved {
    let status = ReplyStatus::Error(kind);
    Resolved::Reply(Box::new(ToolReply::new(id.clone(), name, status, ToolOutput::text(text))))
}

/// Answers a call that the server itself knows the answer to.
pub(super) fn answer(id: &CallId, name: &str, output: ToolOutput) -> Resolved {
    Resolved::Reply(Box::new(ToolReply::new(id.clone(), name, ReplyStatus::Ok, output)))
}
