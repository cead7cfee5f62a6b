use expect_test::{Expect, expect};
use haft_core::{
    Blob, CallId, Content, Digest, Event, Message, Origin, Repair, ReplyStatus, Schema, ToolCall, ToolName,
    ToolOutput, ToolReply, ToolSpec, Usage,
};
use serde::de::DeserializeOwned;
use std::fmt::{Debug, Write as _};

/// Reads each text as a `T` and shows what became of it.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check<T: DeserializeOwned + Debug>(texts: &[&str], expected: Expect) {
    let mut lines = String::new();
    for text in texts {
        match serde_json::from_str::<T>(text) {
            Ok(value) => writeln!(lines, "{value:?}"),
            Err(error) => writeln!(lines, "error: {error}"),
        }
        .unwrap();
    }
    expected.assert_eq(&lines);
}

#[test]
fn fills_in_what_may_be_missing() {
    check::<ToolCall>(
        &[r#"{"id":"c1","name":"n"}"#],
        expect![[r#"
            ToolCall { id: CallId("c1"), name: "n", input: Null }
        "#]],
    );
    check::<ToolOutput>(
        &[r#"{"content":[]}"#],
        expect![[r#"
            ToolOutput { content: [], structured: None, details: Null, child_run: None }
        "#]],
    );
    check::<ToolReply>(
        &[r#"{"call_id":"c","name":"n","output":{"content":[]},"status":"ok","duration_us":0}"#],
        expect![[r#"
            ToolReply { call_id: CallId("c"), name: "n", output: ToolOutput { content: [], structured: None, details: Null, child_run: None }, status: Ok, duration: 0ns, truncation: None, repairs: [] }
        "#]],
    );
    check::<Usage>(
        &["{}", r#"{"output":4}"#],
        expect![[r#"
            Usage { input: 0, output: 0, cache_read: 0, cache_write: 0 }
            Usage { input: 0, output: 4, cache_read: 0, cache_write: 0 }
        "#]],
    );
    check::<ToolSpec>(
        &[r#"{"name":"n","description":"","input_schema":{}}"#],
        expect![[r#"
            ToolSpec { name: ToolName("n"), title: None, description: "", input_schema: Schema(Object {"type": String("object")}), output_schema: None, hints: ToolHints { read_only: false, destructive: false, idempotent: false, open_world: false, streaming: false }, origin: Host, exposure: Direct, explicit: false }
        "#]],
    );
}

#[test]
fn tells_null_from_nothing() {
    check::<Repair>(
        &[r#"{"pointer":"","from":1,"note":"n"}"#, r#"{"pointer":"","from":1,"to":null,"note":"n"}"#],
        expect![[r#"
            Repair { pointer: "", from: Number(1), to: None, note: "n" }
            Repair { pointer: "", from: Number(1), to: Some(Null), note: "n" }
        "#]],
    );
    check::<ToolOutput>(
        &[r#"{"content":[],"structured":null}"#],
        expect![[r#"
            ToolOutput { content: [], structured: Some(Null), details: Null, child_run: None }
        "#]],
    );
}

#[test]
fn refuses_text_that_is_no_name_id_or_digest() {
    check::<ToolName>(
        &[r#""""#, r#""read file""#, r#"7"#],
        expect![[r#"
            error: a tool name cannot be empty
            error: the tool name "read file" holds ' '; use letters, digits, `_` and `-` only
            error: invalid type: integer `7`, expected a string at line 1 column 1
        "#]],
    );
    check::<CallId>(
        &[r#""""#, r#""a\u0000""#, r#"null"#],
        expect![[r#"
            error: an identifier cannot be empty
            error: an identifier cannot hold the control character '\0'
            error: invalid type: null, expected a string at line 1 column 4
        "#]],
    );
    check::<Digest>(
        &[r#""""#, r#""12""#],
        expect![[r#"
            error: a digest is written as 64 hexadecimal digits
            error: a digest is written as 64 hexadecimal digits
        "#]],
    );
}

#[test]
fn refuses_what_is_not_base64() {
    check::<Blob>(
        &[r#""/9g""#, r#""_9g=""#, r#""/9 g=""#, r#""=""#, r#""ü""#, "[1,2]"],
        expect![[r#"
            error: binary content is written as standard base64 with padding
            error: binary content is written as standard base64 with padding
            error: binary content is written as standard base64 with padding
            error: binary content is written as standard base64 with padding
            error: binary content is written as standard base64 with padding
            error: invalid type: sequence, expected a string at line 1 column 0
        "#]],
    );
    check::<Content>(
        &[r#"{"type":"image","data":"%","mime_type":"image/png"}"#],
        expect![[r#"
            error: binary content is written as standard base64 with padding
        "#]],
    );
}

#[test]
fn refuses_what_it_does_not_know() {
    check::<Content>(
        &[r#"{"type":"video"}"#, r#"{"text":"a"}"#, r#"{"type":"text"}"#, r#""text""#],
        expect![[r#"
            error: unknown variant `video`, expected one of `text`, `json`, `image`, `audio`, `resource`, `resource_link` at line 1 column 15
            error: missing field `type` at line 1 column 12
            error: missing field `text`
            error: invalid type: string "text", expected internally tagged enum Content at line 1 column 6
        "#]],
    );
    check::<Message>(
        &[r#"{"role":"system"}"#, r#"{"role":"user"}"#],
        expect![[r#"
            error: unknown variant `system`, expected one of `user`, `assistant`, `tool` at line 1 column 16
            error: missing field `content`
        "#]],
    );
    check::<ReplyStatus>(
        &[r#""error""#, r#"{"error":"odd"}"#, r#"{"ok":1}"#, r#""fine""#],
        expect![[r#"
            error: invalid type: unit variant, expected newtype variant
            error: unknown variant `odd`, expected one of `unknown_tool`, `invalid_input`, `not_found`, `unavailable`, `unauthenticated`, `failed`, `panicked` at line 1 column 14
            error: invalid type: integer `1`, expected unit at line 1 column 7
            error: unknown variant `fine`, expected one of `ok`, `error`, `denied`, `cancelled`, `timed_out`, `skipped` at line 1 column 6
        "#]],
    );
    check::<Event>(
        &[
            r#"{"sequence":0,"at_ms":0,"run":"r"}"#,
            r#"{"sequence":0,"at_ms":0,"run":"r","event":"exploded"}"#,
            r#"{"sequence":-1,"at_ms":0,"run":"r","event":"turn_started","turn":1}"#,
            r#"{"sequence":0,"at_ms":0,"run":"r","event":"turn_started","turn":4294967296}"#,
        ],
        expect![[r#"
            error: missing field `event` at line 1 column 34
            error: unknown variant `exploded`, expected one of `run_started`, `run_ended`, `turn_started`, `text_delta`, `reasoning_delta`, `call_delta`, `turn_finished`, `turn_discarded`, `model_retried`, `budget_spent`, `steered`, `looping`, `compacted`, `compaction_failed`, `paused`, `unpaused`, `started`, `decided`, `approval_requested`, `waits_below`, `question_asked`, `updated`, `progressed`, `retried`, `finished`, `abandoned_ended`, `tools_changed`, `tools_over_budget`, `source_failed` at line 1 column 53
            error: invalid value: integer `-1`, expected u64 at line 1 column 14
            error: invalid value: integer `4294967296`, expected u32 at line 1 column 75
        "#]],
    );
    check::<Origin>(
        &[r#"{"kind":"mcp","server":"s"}"#],
        expect![[r#"
            error: missing field `tool`
        "#]],
    );
    check::<Schema>(
        &["[]", r#"{"type":"string"}"#],
        expect![[r#"
            error: a schema must be a JSON object, not an array
            error: the top level of a schema must have the type `object`, not "string"
        "#]],
    );
}
