//! What `#[haft::tool]` makes of a function: what the model is told, what it may say, and what it is answered with.

mod names;

use expect_test::{Expect, expect};
use haft::core::{Content, ToolOutput};
use haft::{
    Access, AccessMode, Accesses, Batch, CallContext, CallScope, LocalExecutor, Policy, Resource, Rule,
    Scheme, Tool, ToolCall, ToolError, ToolExecutor as _, ToolRegistry, ToolReply,
};
use haft_testkit::laid_out;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const NOTE: Scheme = Scheme::new("note");

/// Tells what becomes of a call where all tools are allowed.
async fn check(tool: impl Tool, input: Value, expected: Expect) {
    check_decided(tool, Policy::new().allow(Rule::tools("*".parse().unwrap())), input, expected).await;
}

/// Tells what becomes of a call under a policy, where there is nobody to ask.
async fn check_decided(tool: impl Tool, policy: Policy, input: Value, expected: Expect) {
    let reply = replied(tool, policy, input).await;
    expected.assert_eq(&format!("{}: {}", reply.status, reply.output.to_text()));
}

async fn replied(tool: impl Tool, policy: Policy, input: Value) -> ToolReply {
    let name = tool.spec().name().to_string();
    let executor = LocalExecutor::builder(ToolRegistry::new().with(tool).unwrap()).policy(policy).build();
    let call = ToolCall::new("c1".parse().unwrap(), name, input);
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()).with_agent("tester"), vec![call]);
    executor.execute_batch(batch).await.into_replies().unwrap().remove(0)
}

/// Tells all that a specification says.
fn check_spec(tool: &impl Tool, expected: &Expect) {
    expected.assert_eq(&laid_out(tool.spec()));
}

/// Counts the words of a text.
///
/// A word is what "stands" between blanks:
///   - a letter,
///   - or more.
///
/// # Errors
///
/// Never.
#[haft::tool(accesses = none)]
async fn count_words(
    /// The text to count.
    text: String,
    /// Only words of at least
    /// this many letters.
    #[default(1)]
    #[schemars(range(min = 1, max = 64))]
    min_letters: usize,
    /// Only words that begin so.
    #[default("")]
    prefix: String,
    /// What to call the number.
    label: Option<String>,
) -> Result<String, ToolError> {
    let is_counted = |word: &&str| word.len() >= min_letters && word.starts_with(&prefix);
    let count = text.split_whitespace().filter(is_counted).count();
    Ok(format!("{}{count}", label.unwrap_or_default()))
}

#[test]
fn documentation_is_the_description_and_arguments_are_the_schema() {
    check_spec(
        &count_words_tool(),
        &expect![[r#"
            {
              "description": "Counts the words of a text.\n\nA word is what \"stands\" between blanks:\n  - a letter,\n  - or more.",
              "explicit": false,
              "exposure": "direct",
              "hints": {"destructive": false, "idempotent": false, "open_world": false, "read_only": false, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "label": {"description": "What to call the number.", "type": ["string", "null"]},
                  "min_letters": {
                    "default": 1,
                    "description": "Only words of at least\nthis many letters.",
                    "format": "uint",
                    "maximum": 64,
                    "minimum": 1,
                    "type": "integer"
                  },
                  "prefix": {"default": "", "description": "Only words that begin so.", "type": "string"},
                  "text": {"description": "The text to count.", "type": "string"}
                },
                "required": ["text"],
                "type": "object"
              },
              "name": "count_words",
              "origin": {"kind": "host"}
            }"#]],
    );
}

#[tokio::test]
async fn what_is_left_out_is_the_default() {
    check(count_words_tool(), json!({ "text": "a haft is a handle" }), expect!["ok: 5"]).await;
    let input = json!({ "text": "a haft is a handle", "min_letters": 2, "prefix": "ha", "label": "n=" });
    check(count_words_tool(), input, expect!["ok: n=2"]).await;
}

#[tokio::test]
async fn what_does_not_fit_the_schema_is_told_to_the_model() {
    check(
        count_words_tool(),
        json!({ "text": "a", "min_letters": 0 }),
        expect![[r"
        error: invalid input: the arguments do not fit `count_words`:
        - at `/min_letters`: 0 is less than the minimum of 1
        correct them and call the tool again"]],
    )
    .await;
    check(
        count_words_tool(),
        json!({ "txt": "a" }),
        expect![[r"
        error: invalid input: the arguments do not fit `count_words`:
        - at the top: unknown property `txt`; did you mean `text`?
        - at the top: the property `text` is missing
        correct them and call the tool again"]],
    )
    .await;
}

#[tokio::test]
async fn the_function_stays_a_function() {
    assert_eq!(count_words("a b".into(), 1, String::new(), None).await.unwrap(), "2");
}

/// A tool with everything that can be said of one.
#[haft::tool(
    name = "all-of_it",
    title = "All of it",
    description = concat!("Says ", "everything."),
    accesses = Accesses::none(),
    read_only,
    idempotent,
    open_world,
    streaming,
    explicit,
    exposure = deferred
)]
async fn everything() {}

#[test]
fn options_are_what_the_specification_says() {
    check_spec(
        &everything_tool(),
        &expect![[r#"
            {
              "description": "Says everything.",
              "explicit": true,
              "exposure": "deferred",
              "hints": {"destructive": false, "idempotent": true, "open_world": true, "read_only": true, "streaming": true},
              "input_schema": {"additionalProperties": false, "type": "object"},
              "name": "all-of_it",
              "origin": {"kind": "host"},
              "title": "All of it"
            }"#]],
    );
}

#[haft::tool(accesses = none, destructive, exposure = hidden)]
#[doc = include_str!("tool_attribute/described.md")]
async fn described_elsewhere(
    #[schemars(description = "What to do.")] what: String,
    #[doc = "How often, from 1;\nonce by default."]
    #[serde(rename = "times", default)]
    often: u8,
) -> String {
    what.repeat(often.into())
}

#[tokio::test]
async fn descriptions_may_come_from_elsewhere() {
    check_spec(
        &described_elsewhere_tool(),
        &expect![[r#"
            {
              "description": "Repeats \"what\" it is told.\n\nAs often as it is told.",
              "explicit": false,
              "exposure": "hidden",
              "hints": {"destructive": true, "idempotent": false, "open_world": false, "read_only": false, "streaming": false},
              "input_schema": {
                "additionalProperties": false,
                "properties": {
                  "times": {
                    "default": 0,
                    "description": "How often, from 1;\nonce by default.",
                    "format": "uint8",
                    "maximum": 255,
                    "minimum": 0,
                    "type": "integer"
                  },
                  "what": {"description": "What to do.", "type": "string"}
                },
                "required": ["what"],
                "type": "object"
              },
              "name": "described_elsewhere",
              "origin": {"kind": "host"}
            }"#]],
    );
    check(described_elsewhere_tool(), json!({ "what": "ab", "times": 2 }), expect!["ok: abab"]).await;
}

/// Reads a note.
#[haft::tool(accesses = note(AccessMode::Read, title)?)]
async fn read_note(
    #[state] notes: &BTreeMap<String, String>,
    /// The title of the note.
    title: String,
    #[state] reads: Arc<AtomicUsize>,
    cx: &CallContext,
) -> Result<String, NoteError> {
    reads.fetch_add(1, Ordering::Relaxed);
    let note = notes.get(&title).ok_or(NoteError::Unknown(title))?;
    Ok(format!("{} for {}", note, cx.scope().agent().unwrap_or_default()))
}

fn note(mode: AccessMode, title: &str) -> Result<Access, ToolError> {
    if title.is_empty() {
        return Err(ToolError::invalid_input("a note has a title; give one"));
    }
    Ok(Access::new(mode, Resource::exact(NOTE, title)))
}

enum NoteError {
    Unknown(String),
}

impl From<NoteError> for ToolError {
    fn from(error: NoteError) -> Self {
        let NoteError::Unknown(title) = error;
        Self::not_found(format!("there is no note `{title}`; write it first"))
    }
}

fn notes() -> BTreeMap<String, String> {
    BTreeMap::from([("plan".into(), "sow".into()), ("secret".into(), "gold".into())])
}

fn reads(title: &str) -> Rule {
    Rule::access(AccessMode::Read, Resource::exact(NOTE, title))
}

#[tokio::test]
async fn state_is_given_when_the_tool_is_made_and_is_no_argument() {
    let reads = Arc::new(AtomicUsize::new(0));
    let tool = || read_note_tool(notes(), Arc::clone(&reads));
    check(tool(), json!({ "title": "plan" }), expect!["ok: sow for tester"]).await;
    check(
        tool(),
        json!({ "title": "past" }),
        expect!["error: not found: there is no note `past`; write it first"],
    )
    .await;
    check(
        tool(),
        json!({ "title": "plan", "notes": {} }),
        expect![[r"
        error: invalid input: the arguments do not fit `read_note`:
        - at the top: unknown property `notes`; it takes `title`
        correct them and call the tool again"]],
    )
    .await;
    assert_eq!(reads.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn what_was_declared_is_decided_before_anything_runs() {
    let count = Arc::new(AtomicUsize::new(0));
    let tool = || read_note_tool(notes(), Arc::clone(&count));
    let policy = || Policy::new().allow(reads("plan")).deny(reads("secret"));
    check_decided(tool(), policy(), json!({ "title": "plan" }), expect!["ok: sow for tester"]).await;
    assert_eq!(count.swap(0, Ordering::Relaxed), 1);
    check_decided(tool(), policy(), json!({ "title": "secret" }), expect!["denied: `read_note` is not permitted to do this (read note:secret: deny by the rule read(note:secret)); do not try it again, find another way or say what you would need"]).await;
    check_decided(tool(), policy(), json!({ "title": "other" }), expect!["denied: this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"]).await;
    check_decided(
        tool(),
        policy(),
        json!({ "title": "" }),
        expect!["error: invalid input: a note has a title; give one"],
    )
    .await;
    assert_eq!(count.load(Ordering::Relaxed), 0);
}

/// Moves a note.
#[haft::tool(accesses = [
    Access::write(Resource::exact(NOTE, from.as_str())),
    Access::write(Resource::exact(NOTE, to.as_str())).with_detail(format!("for {:?}", scope.agent())),
])]
async fn move_note(
    /// The note to move.
    from: String,
    /// Where to move it.
    to: String,
    #[context] call: Running,
) -> Result<Moved, ToolError> {
    Ok(Moved { by: call.tool_name().to_owned(), paths: vec![from, to] })
}

type Running = CallContext;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Moved {
    by: String,
    paths: Vec<String>,
}

#[tokio::test]
async fn an_expression_of_the_arguments_and_the_scope_declares_what_is_touched() {
    let scope = CallScope::new("run-1".parse().unwrap()).with_agent("tester");
    let prepared = move_note_tool().prepare(&json!({ "from": "a", "to": "b" }), &scope).unwrap();
    let accesses: Vec<String> =
        prepared.accesses().iter().map(|access| format!("{access} {:?}", access.detail())).collect();
    assert_eq!(accesses, ["write note:a None", "write note:b Some(\"for Some(\\\"tester\\\")\")"]);
}

#[tokio::test]
async fn an_object_has_a_schema_and_is_data() {
    let tool = move_note_tool();
    expect![[r#"{"properties":{"by":{"type":"string"},"paths":{"items":{"type":"string"},"type":"array"}},"required":["by","paths"],"type":"object"}"#]].assert_eq(&tool.spec().output_schema().unwrap().as_value().to_string());
    let policy = Policy::new().allow(Rule::access(AccessMode::Write, Resource::subtree(NOTE, "")));
    let reply = replied(tool, policy, json!({ "from": "a", "to": "b" })).await;
    assert_eq!(reply.output.structured, Some(json!({ "by": "move_note", "paths": ["a", "b"] })));
}

/// Draws.
#[haft::tool(accesses = none)]
async fn draw(
    /// Whether there is nothing to draw with.
    broken: bool,
) -> Result<ToolOutput, ToolError> {
    if broken {
        return Err(ToolError::failed("there is no ink; draw nothing"));
    }
    Ok(ToolOutput::new(vec![Content::text("a line"), Content::text("a dot")])
        .with_details(json!({ "ink": 2 })))
}

/// Draws a dot.
#[haft::tool(accesses = none)]
async fn dot() -> ToolOutput {
    ".".into()
}

#[tokio::test]
async fn an_output_that_the_tool_made_stays_as_it_is() {
    assert!(draw_tool().spec().output_schema().is_none());
    let reply = replied(
        draw_tool(),
        Policy::new().allow(Rule::tools("draw".parse().unwrap())),
        json!({ "broken": false }),
    )
    .await;
    assert_eq!((reply.output.content.len(), &reply.output.details), (2, &json!({ "ink": 2 })));
    check(draw_tool(), json!({ "broken": true }), expect!["error: failed: there is no ink; draw nothing"])
        .await;
    check(dot_tool(), json!({}), expect!["ok: ."]).await;
}

#[tokio::test]
async fn an_explicit_tool_is_outside_wildcards() {
    check(everything_tool(), json!({}), expect!["denied: this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need"]).await;
    let policy = Policy::new().allow(Rule::tools("all-of_it".parse().unwrap()));
    check_decided(everything_tool(), policy, json!({}), expect!["ok: null"]).await;
}

mod nested {
    /// Is as visible as its function.
    #[haft::tool(accesses = none)]
    pub(super) async fn within(
        /// What is said.
        said: super::Said,
    ) -> u32 {
        said.often
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Said {
    /// How often.
    often: u32,
}

#[tokio::test]
async fn types_are_found_where_the_function_stands() {
    check(nested::within_tool(), json!({ "said": { "often": 3 } }), expect!["ok: 3"]).await;
}

#[tokio::test]
async fn a_function_within_a_function_can_be_a_tool() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Local {
        /// A number.
        number: u8,
    }

    /// Doubles.
    #[haft::tool(accesses = none)]
    async fn double(
        /// What to double.
        what: Local,
    ) -> u8 {
        what.number * 2
    }

    check(double_tool(), json!({ "what": { "number": 4 } }), expect!["ok: 8"]).await;
}

/// Is there where its condition holds.
#[haft::tool(accesses = none)]
#[cfg(any())]
async fn conditional(
    /// Of a type that is there no more than the tool.
    what: Absent,
) {
}

/// Is on its way out.
#[haft::tool(accesses = none)]
#[deprecated = "use another"]
async fn outgoing() {}

#[tokio::test]
async fn what_is_said_of_the_function_holds_for_what_makes_the_tool() {
    #[expect(deprecated, reason = "the tool is as outgoing as its function")]
    let tool = outgoing_tool();
    assert_eq!(format!("{tool:?}").get(..17), Some("ToolFn { spec: To"));
}
