//! What commands print with `--json`, as JSON Schema: the interface that programs read haft by.

#[cfg(test)]
mod page;
mod shapes;
#[cfg(test)]
mod tests;

pub(crate) use shapes::{
    DecidedShape, DecisionShape, ExplanationShape, GrantShape, PendingShape, TruncationShape, UsageShape,
};

use crate::approvals::{AnsweredCall, WaitingCall};
use crate::changes::{ChangesOf, Undoing};
use crate::chat::ChatEvent;
use crate::config::{CheckedConfig, ShownConfig};
use crate::doctor::DoctorReport;
use crate::exit::{Exit, UsageError};
use crate::grants::{GrantLine, Revoked};
use crate::import::Imported;
use crate::init::InitReport;
use crate::mcp::{ListedServers, RejectedTool, ServerLog, ServerReport, WaitingTool};
use crate::openapi::{CheckedDocument, ListedDocuments};
use crate::policy::{CheckedFile, Decided, TestedPolicy};
use crate::report::Report;
use crate::resume::{Dropped, KeptRun};
use crate::timeline::Summary;
use crate::worker::WorkerStage;
use anyhow::Result;
use clap::Args;
use schemars::{JsonSchema, Schema, schema_for};
use shapes::{ChangedRunShape, EventShape, OutcomeShape, RecordShape, SpecShape};

#[derive(Debug, Args)]
pub(crate) struct SchemaOptions {
    /// The command, as in `approvals list`; without it, those are listed that have one
    #[arg(value_name = "COMMAND", allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}

/// Is what a command prints with `--json`.
struct Output {
    /// The command, with what tells this output from another of its.
    command: &'static str,
    says: &'static str,
    schema: fn() -> Schema,
}

/// A line that a run prints: an event of it, or the summary behind the last.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it stands for what is printed, and is never made")]
enum RunLine {
    Summary(Summary),
    Event(EventShape),
}

/// A line that a chat prints: one of its own, an event of its run, or the summary behind each message.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it stands for what is printed, and is never made")]
enum ChatLine {
    Chat(ChatEvent),
    Summary(Summary),
    Event(EventShape),
}

/// What a run that is gone on with prints: each line of it, or of a single call what became of it.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it stands for what is printed, and is never made")]
enum ResumedLine {
    Call(OutcomeShape),
    Summary(Summary),
    Event(EventShape),
}

/// What has a schema, by the names of the commands.
const OUTPUTS: &[Output] = &[
    Output { command: "agent", says: "each line, with a prompt", schema: || schema_for!(RunLine) },
    Output { command: "agent --chat", says: "each line, without a prompt", schema: || schema_for!(ChatLine) },
    Output { command: "approvals approve", says: "the whole", schema: || schema_for!(AnsweredCall) },
    Output { command: "approvals deny", says: "the whole", schema: || schema_for!(AnsweredCall) },
    Output { command: "approvals edit", says: "the whole", schema: || schema_for!(AnsweredCall) },
    Output { command: "approvals list", says: "the whole", schema: || schema_for!(Vec<WaitingCall>) },
    Output { command: "approvals show", says: "the whole", schema: || schema_for!(WaitingCall) },
    Output { command: "call", says: "the whole", schema: || schema_for!(OutcomeShape) },
    Output { command: "config check", says: "the whole", schema: || schema_for!(CheckedConfig) },
    Output { command: "config show", says: "the whole", schema: || schema_for!(ShownConfig) },
    Output { command: "diff", says: "the whole, of a run", schema: || schema_for!(ChangesOf) },
    Output { command: "doctor", says: "the whole", schema: || schema_for!(DoctorReport) },
    Output { command: "grants list", says: "the whole", schema: || schema_for!(Vec<GrantLine>) },
    Output { command: "grants revoke", says: "the whole", schema: || schema_for!(Revoked) },
    Output { command: "import", says: "the whole", schema: || schema_for!(Imported) },
    Output { command: "init", says: "the whole", schema: || schema_for!(InitReport) },
    Output { command: "journal", says: "the whole", schema: || schema_for!(Vec<RecordShape>) },
    Output { command: "mcp accept", says: "the whole", schema: || schema_for!(Vec<WaitingTool>) },
    Output { command: "mcp call", says: "the whole", schema: || schema_for!(OutcomeShape) },
    Output { command: "mcp list", says: "the whole", schema: || schema_for!(ListedServers) },
    Output { command: "mcp logs", says: "the whole", schema: || schema_for!(ServerLog) },
    Output { command: "mcp reject", says: "the whole", schema: || schema_for!(Vec<RejectedTool>) },
    Output { command: "mcp status", says: "the whole", schema: || schema_for!(Vec<ServerReport>) },
    Output { command: "mcp tools", says: "the whole", schema: || schema_for!(Vec<SpecShape>) },
    Output { command: "openapi call", says: "the whole", schema: || schema_for!(OutcomeShape) },
    Output { command: "openapi check", says: "the whole", schema: || schema_for!(CheckedDocument) },
    Output {
        command: "openapi list",
        says: "the whole, without a document",
        schema: || schema_for!(ListedDocuments),
    },
    Output {
        command: "openapi list DOCUMENT",
        says: "the whole, of a document",
        schema: || schema_for!(Vec<SpecShape>),
    },
    Output { command: "policy check", says: "the whole", schema: || schema_for!(Vec<CheckedFile>) },
    Output {
        command: "policy explain",
        says: "the whole; with --stdin, each line",
        schema: || schema_for!(Decided<'static>),
    },
    Output { command: "policy test", says: "the whole", schema: || schema_for!(TestedPolicy) },
    Output { command: "report", says: "the whole", schema: || schema_for!(Report) },
    Output { command: "resume", says: "the whole, without a run", schema: || schema_for!(Vec<KeptRun>) },
    Output { command: "resume --drop", says: "the whole", schema: || schema_for!(Dropped) },
    Output { command: "resume RUN", says: "each line", schema: || schema_for!(ResumedLine) },
    Output { command: "run", says: "each line", schema: || schema_for!(RunLine) },
    Output { command: "tools", says: "the whole", schema: || schema_for!(Vec<SpecShape>) },
    Output { command: "undo", says: "the whole, of a run", schema: || schema_for!(Undoing) },
    Output {
        command: "undo --list",
        says: "the whole, without a run; `diff` alike",
        schema: || schema_for!(Vec<ChangedRunShape>),
    },
    Output { command: "worker", says: "each line", schema: || schema_for!(WorkerStage) },
];

/// Prints the schema of what a command prints, or lists those that there are.
pub(crate) fn schema(options: &SchemaOptions) -> Result<Exit> {
    let named = options.command.join(" ");
    if named.is_empty() {
        let width = OUTPUTS.iter().map(|output| output.command.len()).max().unwrap_or_default();
        for Output { command, says, .. } in OUTPUTS {
            outln!("{command:width$}  {says}");
        }
        return Ok(Exit::Done);
    }
    let named = named.strip_prefix("haft ").unwrap_or(&named);
    let Some(output) = OUTPUTS.iter().find(|output| output.command == named) else {
        let message =
            format!("nothing is said of what `{named}` prints; `haft schema` lists what has a schema");
        return Err(UsageError(message).into());
    };
    outln!("{}", serde_json::to_string_pretty(&(output.schema)())?);
    Ok(Exit::Done)
}
