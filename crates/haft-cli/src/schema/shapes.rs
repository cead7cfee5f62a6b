//! Shapes of what is printed of other crates' types; the tests hold them against what is really printed.

#![expect(dead_code, reason = "they stand for what is printed, and are never made")]

use schemars::JsonSchema;
use serde_json::{Map, Value};

/// A call that waits for a person.
#[derive(JsonSchema)]
pub(crate) struct PendingShape {
    /// The version of the form.
    version: u32,
    /// By which it is answered.
    id: String,
    /// What it waits for: `approval`, `authentication` with a `url`, or calls `below`.
    wants: Kind,
    /// The call as the model made it.
    call: CallShape,
    /// Its run.
    run: String,
    /// The agent that makes it, if that has a name.
    agent: Option<String>,
    /// All that it would touch.
    accesses: Value,
    /// What of that nobody has allowed, and why it is asked about.
    unmet: Vec<UnmetShape>,
    /// What a person is shown.
    preview: Kind,
    /// When it was asked about, in milliseconds since the Unix epoch.
    asked_at_ms: u64,
    /// When it can be approved no more.
    expires_at_ms: Option<u64>,
    /// What an answer is bound to: tool, input, accesses and scope.
    digest: String,
}

/// One of several kinds, with what belongs to it.
#[derive(JsonSchema)]
struct Kind {
    /// Which.
    kind: String,
}

/// A decision.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecisionShape {
    /// It may run.
    Allow,
    /// A person is asked.
    Ask,
    /// It may not run.
    Deny,
}

/// What was decided about an access, and why.
#[derive(JsonSchema)]
pub(crate) struct ExplanationShape {
    /// The access, as it is printed; none where the call declares no access.
    access: Option<String>,
    /// What was decided about it.
    decision: DecisionShape,
    /// The rule behind it, if there is one.
    rule: Option<String>,
    /// Where the rule is written, as `file:line`.
    source: Option<String>,
    /// Why, in one sentence.
    reason: String,
    /// What would change it; none where it is allowed.
    change: Option<String>,
}

/// Tokens that a model read and wrote.
#[derive(JsonSchema)]
pub(crate) struct UsageShape {
    /// Tokens of the prompts.
    input: u64,
    /// Tokens that the model wrote.
    output: u64,
    /// Those of the prompts that came from the provider's cache.
    cache_read: Option<u64>,
    /// Those of the prompts that were put into the provider's cache.
    cache_write: Option<u64>,
}

/// Who or what decided about a call.
#[derive(JsonSchema)]
pub(crate) struct DecidedShape {
    /// `rule`, `person`, `grant`, `layer` or `nobody`; what belongs to it stands beside it.
    by: String,
}

/// How much of an output was kept.
#[derive(JsonSchema)]
pub(crate) struct TruncationShape {
    /// Bytes of text that the tool gave.
    total_bytes: u64,
    /// Bytes of text that were kept.
    kept_bytes: u64,
    /// By what the whole is read, if it was stored.
    output: Option<String>,
}

/// A call of a tool.
#[derive(JsonSchema)]
pub(crate) struct CallShape {
    /// Its id in the run.
    id: String,
    /// The tool.
    name: String,
    /// The arguments.
    input: Value,
}

/// An access that is asked about.
#[derive(JsonSchema)]
pub(crate) struct UnmetShape {
    /// What is done to what.
    access: Option<Value>,
    /// Which rule asks, or that none speaks of it.
    reason: String,
    /// The rule that could be remembered.
    grant: Option<String>,
}

/// Something that was answered for more than one call.
#[derive(JsonSchema)]
pub(crate) struct GrantShape {
    /// By which it is revoked.
    id: String,
    /// `allow` or `deny`.
    decision: String,
    /// The rule.
    rule: String,
    /// The agent that it is for, if not for all.
    agent: Option<String>,
    /// For how long, and where.
    place: PlaceShape,
    /// When it was given, in milliseconds since the Unix epoch.
    given_at_ms: u64,
    /// When it ends.
    expires_at_ms: Option<u64>,
}

/// Where a grant holds.
#[derive(JsonSchema)]
struct PlaceShape {
    /// `run`, `session`, `workspace` or `always`.
    term: String,
    /// Which one.
    of: Option<String>,
}

/// What became of a call.
#[derive(JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(super) enum OutcomeShape {
    /// It was answered.
    Replied {
        /// The call.
        call_id: String,
        /// The tool.
        name: String,
        /// What it gave.
        output: OutputShape,
        /// How it ended: a word, or an object with the kind of the error.
        status: Value,
        /// How long it took, in microseconds.
        duration_us: u64,
    },
    /// It waits for a person.
    Pending {
        /// By which it is answered.
        id: String,
        /// Its run, by which it is gone on with.
        run: String,
        /// The call.
        call: CallShape,
        /// What nobody has allowed.
        unmet: Vec<UnmetShape>,
    },
    /// It waits for other calls.
    Held {
        /// The call.
        call: CallShape,
    },
}

/// What a tool gave.
#[derive(JsonSchema)]
pub(super) struct OutputShape {
    /// For the model.
    content: Vec<Value>,
}

/// An event of a run.
#[derive(JsonSchema)]
pub(super) struct EventShape {
    /// Counts the events of a tree of runs, from 0.
    sequence: u64,
    /// When, in milliseconds since the Unix epoch.
    at_ms: u64,
    /// The run.
    run: String,
    /// The run above it, if there is one.
    parent_run: Option<String>,
    /// The call that it is about, if it is about one.
    call: Option<String>,
    /// What happened, such as `text_delta`, `started`, `decided` or `finished`; what belongs to it stands beside it.
    event: String,
}

/// A record of the journal.
#[derive(JsonSchema)]
pub(super) struct RecordShape {
    /// The version of the form.
    version: u32,
    /// `begun`, `waiting` or `ended`.
    record: String,
    /// Counts the records.
    sequence: u64,
    /// When, in milliseconds since the Unix epoch.
    at_ms: u64,
    /// The run.
    run: String,
    /// The run above it.
    parent_run: Option<String>,
    /// The agent, if it has a name.
    agent: Option<String>,
    /// The call.
    call: String,
    /// The name that the model wrote.
    called_as: String,
    /// The tool, if there is one of that name.
    tool: Option<String>,
    /// What it touches.
    accesses: Option<Vec<String>>,
    /// Who let it run, or did not.
    decided: Map<String, Value>,
}

/// A tool, as a model is told of it.
#[derive(JsonSchema)]
pub(super) struct SpecShape {
    /// Its name.
    name: String,
    /// What it does.
    description: String,
    /// The JSON Schema of its arguments.
    input_schema: Map<String, Value>,
    /// Where it comes from.
    origin: Value,
}

/// A run that has changed files.
#[derive(JsonSchema)]
pub(super) struct ChangedRunShape {
    /// The run.
    run: String,
    /// The directory in which it changed something last.
    root: String,
    /// When that was, in milliseconds since the Unix epoch.
    at_ms: u64,
    /// How many changes are in force.
    in_force: u64,
    /// How many were undone.
    undone: u64,
}
