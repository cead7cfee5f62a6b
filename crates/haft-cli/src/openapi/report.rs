use super::open::Opened;
use haft::openapi::{EncodeError, Operation, Problem, Severity};
use haft::{Tool, estimate_tokens};
use serde_json::{Value, json};
use std::sync::Arc;

/// Says what becomes of a document.
pub(super) struct Report<'d> {
    pub(super) title: &'d str,
    pub(super) tools: Vec<ToolReport>,
    /// How many operations could be called and are not chosen.
    pub(super) unchosen: usize,
    pub(super) skipped: Vec<&'d Problem>,
    pub(super) notes: Vec<&'d Problem>,
}

/// Says what becomes of an operation.
pub(super) struct ToolReport {
    tool: Arc<dyn Tool>,
    pub(super) operation: Operation,
    pub(super) tokens: u64,
    /// Whether its schema left something open for want of room.
    pub(super) is_shortened: bool,
    pub(super) notes: Vec<Problem>,
    /// Why it cannot be called, although it is a tool.
    pub(super) no_server: Option<String>,
}

impl<'d> Report<'d> {
    pub(super) fn of(opened: &'d Opened) -> Self {
        let document = &opened.document;
        let tools: Vec<ToolReport> =
            pairs(opened).map(|(tool, operation)| ToolReport::of(tool, operation)).collect();
        let (skipped, notes): (Vec<_>, Vec<_>) =
            document.problems().iter().partition(|problem| problem.severity() == Severity::Skipped);
        let unchosen = document.len() - tools.len();
        Self { title: document.title(), tools, unchosen, skipped, notes }
    }

    pub(super) fn tokens(&self) -> u64 {
        self.tools.iter().map(|tool| tool.tokens).sum()
    }

    /// Tells whether any operation can be called.
    pub(super) fn is_usable(&self) -> bool {
        self.tools.iter().any(|tool| tool.no_server.is_none())
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "title": self.title,
            "tokens": self.tokens(),
            "tools": self.tools.iter().map(ToolReport::as_json).collect::<Vec<_>>(),
            "not_chosen": self.unchosen,
            "skipped": self.skipped.iter().map(|problem| told(problem)).collect::<Vec<_>>(),
            "notes": self.notes.iter().map(|problem| told(problem)).collect::<Vec<_>>(),
        })
    }
}

/// Gives the tools of a document, each with its operation: both are in the order of the operations' names.
pub(super) fn pairs(opened: &Opened) -> impl Iterator<Item = (Arc<dyn Tool>, Operation)> {
    opened.tools.tools().into_iter().zip(opened.tools.operations().iter().cloned())
}

impl ToolReport {
    fn of(tool: Arc<dyn Tool>, operation: Operation) -> Self {
        let schema = operation.input_schema();
        let no_server = match operation.encode(&json!({})) {
            Err(EncodeError::Server(why)) => Some(why),
            _ => None,
        };
        Self {
            tokens: estimate_tokens(tool.spec()),
            is_shortened: schema.is_shortened(),
            notes: schema.notes().to_vec(),
            no_server,
            tool,
            operation,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.tool.spec().name().as_str()
    }

    fn as_json(&self) -> Value {
        json!({
            "name": self.name(),
            "operation": place(&self.operation),
            "id": self.operation.id(),
            "tokens": self.tokens,
            "shortened": self.is_shortened,
            "no_server": self.no_server,
            "notes": self.notes.iter().map(told).collect::<Vec<_>>(),
        })
    }
}

/// Writes what tells an operation from all others.
pub(super) fn place(operation: &Operation) -> String {
    format!("{} {}", operation.method(), operation.path())
}

fn told(problem: &Problem) -> Value {
    json!({ "operation": problem.operation(), "pointer": problem.pointer(), "message": problem.message() })
}
