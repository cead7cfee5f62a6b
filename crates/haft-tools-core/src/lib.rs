//! Tools, the registry that holds them, the policy that permits them and the executor that runs them.
//!
//! A [`Tool`] describes itself with a [`ToolSpec`](haft_core::ToolSpec) and turns arguments into a [`Prepared`] call:
//! an [`Action`] together with the [`Accesses`] that running it will need. That declaration is made once and used for
//! everything: the [`Policy`] decides by it, calls that conflict wait for each other by it, a person is shown it, and
//! it is what is recorded. A tool is written in one of three ways: [`tool_fn`] makes one of a function, [`TypedTool`]
//! of a type with typed input and output, and [`Tool`] itself is for tools that resolve something while preparing.
//!
//! A [`ToolRegistry`] holds tools by name and never changes; what looks like a change makes another. A
//! [`LocalExecutor`] takes the calls of one model message as a [`Batch`] and gives every one of them exactly one
//! answer, in their order:
//!
//! ```text
//! call ─▶ resolve ─▶ validate ─▶ prepare ─▶ decide ─▶ approve ─▶ schedule ─▶ run ─▶ shape ─▶ record ─▶ reply
//! ```
//!
//! ```
//! use haft_core::{ReplyStatus, ToolCall, ToolError};
//! use haft_tools_core::{Accesses, Batch, CallContext, CallScope, LocalExecutor, Policy, Rule};
//! use haft_tools_core::{ToolExecutor as _, ToolRegistry, tool_fn};
//! use serde_json::json;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Input {
//!     /// The text to count.
//!     text: String,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let count = tool_fn("count_words", "Counts words.", Accesses::none(), |input: Input, _: CallContext| async move {
//!     Ok::<_, ToolError>(input.text.split_whitespace().count())
//! })?;
//! let executor = LocalExecutor::builder(ToolRegistry::new().with(count)?)
//!     .policy(Policy::new().allow(Rule::tools("count_words".parse()?)))
//!     .build();
//!
//! let call = ToolCall::new("c1".parse()?, "count_words", json!({ "text": "a haft is a handle" }));
//! let outcome = executor.execute_batch(Batch::new(CallScope::new("run-1".parse()?), vec![call])).await;
//! let replies = outcome.into_replies()?;
//! assert_eq!((replies[0].status, replies[0].output.to_text()), (ReplyStatus::Ok, "5".to_owned()));
//! # Ok(())
//! # }
//! ```
//!
//! What a call is answered with is bounded by [`Limits`]. What is cut is kept whole in an [`OutputStore`], from which the
//! model reads it with the tool [`read_output`](ReadOutput); a [`Redactor`] keeps registered secrets out of both.
//!
//! Tools that come and go belong to a [`Catalog`], which merges [`ToolSource`]s and gives one registry for each turn; a
//! [`RunTools`] keeps the list that one run's model is told of, and lets it search for the tools that are too many to list.
//!
//! Nothing here knows a file, a command, a host or a server: those belong to the crates above, which add tools and
//! [`Scheme`]s of their own. What a host itself has to remember and nobody else may know can be kept in [`PrivateFiles`].

#[doc(hidden)]
pub mod __private;
mod access;
mod admission;
mod catalog;
mod clock;
mod context;
mod epoch;
mod events;
mod executor;
mod extensions;
mod input;
mod journal;
mod layer;
mod layer_answer;
mod limits;
mod nearest;
mod new_file;
mod order;
mod outline;
mod output;
mod panicked;
mod permission;
mod preview;
mod private_files;
mod redact;
mod registry;
mod rewrite;
mod run_tools;
mod scope;
mod search;
mod seats;
mod selector;
mod steering;
mod tokens;
mod tool;
mod tool_fn;
mod typed;
mod typed_output;
mod validation;

pub use access::{Access, AccessMode, Accesses, Resource, ResourceError, Scheme};
pub use admission::Widths;
pub use catalog::{
    Catalog, CatalogBuilder, CatalogChange, CatalogError, ChangeSignal, Changes, FixedSource, OfferedTools,
    SourceError, SourceHealth, SourceStatus, ToolSource,
};
pub use context::CallContext;
pub use epoch::{milliseconds, now_ms};
pub use events::{Delivery, EventReader, Events, Observer};
pub use executor::{
    Batch, BatchOutcome, CallOutcome, Cancel, HeldCall, LocalExecutor, LocalExecutorBuilder,
    PendingCallsError, Resumption, ResumptionError, SpanContent, Strategy, ToldCall, ToolExecutor,
};
pub use input::{input_schema, parse_input};
pub use journal::{
    CallJournal, DecidedBy, Journal, JournalEntry, JournalError, JournalReader, JournalRecord, JournalSink,
    JsonlJournal, MemoryJournal, PersonAnswer,
};
pub use layer::{Before, Layer, LayerCall, LayerTime};
pub use layer_answer::LayerAnswer;
pub use limits::{Limits, ToolLimits, ToolRetries};
pub use nearest::{listed, nearest};
pub use outline::{one_line, origins, outline};
pub use output::{LocalOutputs, OutputChunk, OutputError, OutputStore, ReadOutput, Retention};
pub use permission::{
    AgentPolicy, AllowAll, Answered, Approval, Approver, Approvers, AskError, AskedQuestion, CallStanding,
    Claim, DenyAll, Explanation, Grant, GrantPlace, GrantStore, GrantTerm, Grants, InvalidAnswerError, Level,
    MemoryGrants, MemoryPending, Mode, ModeError, ModeSwitch, PatternError, PatternSet, PatternSyntax,
    PendingCall, PendingId, PendingStore, Policy, PolicyLayer, Question, QuestionKind, QuestionOutcome, Rule,
    RuleError, RuleLanguage, RuleSource, Rules, RunAbove, StoreError, Unmet, Verdict, Wants,
    answering_within, approver_fn, request_mode,
};
pub use preview::Preview;
pub use private_files::{PrivateFileError, PrivateFiles, PrivateLock};
pub use redact::{RedactedStream, Redactor, SecretError};
pub use registry::{CollisionPolicy, DeclareError, DeclaredCall, RefusedTool, RegistryError, ToolRegistry};
pub use run_tools::{ListBudget, RunTools, RunToolsBuilder};
pub use scope::CallScope;
pub use seats::{Seat, Seated, Seats};
pub use selector::{Selector, SelectorError};
pub use steering::{Steer, Steering};
pub use tokens::estimate_tokens;
pub use tool::{Action, Prepared, Tool};
pub use tool_fn::{DeclareAccesses, ToolFn, tool_fn};
pub use typed::{Typed, TypedTool};
pub use typed_output::{RawOutput, TypedOutput};
pub use validation::{CompileSchemaError, CompiledSchema, InvalidValueError};
