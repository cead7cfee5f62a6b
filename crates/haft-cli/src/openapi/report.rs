use super::open::Opened;
use haft::Tool;
use haft::openapi::{EncodeError, OpenApiProblem, Operation, Severity};
use haft::tools_core::estimate_tokens;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;

/// Says what becomes of a document.
pub(super) struct Report<'d> {
    pub(super) title: &'d str,
    pub(super) tools: Vec<ToolReport>,
    /// How many operations could be called and are not chosen.
    pub(super) unchosen: usize,
    pub(super) skipped: Vec<&'d OpenApiProblem>,
    pub(super) notes: Vec<&'d OpenApiProblem>,
}

/// Says what becomes of an operation.
pub(super) struct ToolReport {
    tool: Arc<dyn Tool>,
    pub(super) operation: Operation,
    pub(super) tokens: u64,
    /// Whether its schema left something open for want of room.
    pub(super) is_shortened: bool,
    pub(super) notes: Vec<OpenApiProblem>,
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

    /// Gives it as it is printed for programs.
    pub(super) fn told(&self) -> CheckedDocument {
        CheckedDocument {
            title: self.title.to_owned(),
            tokens: self.tokens(),
            tools: self.tools.iter().map(ToolReport::told).collect(),
            not_chosen: self.unchosen,
            skipped: self.skipped.iter().map(|problem| DocumentProblem::of(problem)).collect(),
            notes: self.notes.iter().map(|problem| DocumentProblem::of(problem)).collect(),
        }
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

    fn told(&self) -> DocumentTool {
        DocumentTool {
            name: self.name().to_owned(),
            operation: place(&self.operation),
            id: self.operation.id().map(str::to_owned),
            tokens: self.tokens,
            shortened: self.is_shortened,
            no_server: self.no_server.clone(),
            notes: self.notes.iter().map(DocumentProblem::of).collect(),
        }
    }
}

/// Writes what tells an operation from all others.
pub(super) fn place(operation: &Operation) -> String {
    format!("{} {}", operation.method(), operation.path())
}

/// What becomes of an OpenAPI document.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CheckedDocument {
    /// What it calls itself.
    title: String,
    /// About how many tokens all its tools take in a prompt.
    tokens: u64,
    /// The operations that are tools.
    tools: Vec<DocumentTool>,
    /// How many operations could be called and are not chosen.
    not_chosen: usize,
    /// The operations that cannot be called, and why.
    skipped: Vec<DocumentProblem>,
    /// What else is odd.
    notes: Vec<DocumentProblem>,
}

/// A tool that is made of an operation.
#[derive(Serialize, JsonSchema)]
struct DocumentTool {
    /// The tool.
    name: String,
    /// The operation, by its method and path.
    operation: String,
    /// The `operationId`, if it has one.
    id: Option<String>,
    /// About how many tokens it takes in a prompt.
    tokens: u64,
    /// Whether its schema leaves something open for want of room.
    shortened: bool,
    /// Why it cannot be called although it is a tool; `null` where it can.
    no_server: Option<String>,
    /// What is odd about its schema.
    notes: Vec<DocumentProblem>,
}

/// Something that is wrong or odd in a document.
#[derive(Serialize, JsonSchema)]
struct DocumentProblem {
    /// The operation; `null` where it is about the document.
    operation: Option<String>,
    /// Where it stands, as a JSON pointer; empty where that is not known.
    pointer: String,
    /// What it is, for people.
    message: String,
}

impl DocumentProblem {
    fn of(problem: &OpenApiProblem) -> Self {
        Self {
            operation: problem.operation().map(str::to_owned),
            pointer: problem.pointer().to_owned(),
            message: problem.message().to_owned(),
        }
    }
}
