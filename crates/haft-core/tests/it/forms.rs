use expect_test::{Expect, expect};
use haft_core::{
    AssistantPart, Blob, BudgetKind, CallId, Content, Decision, Digest, ErrorKind, Event, EventKind,
    Exposure, Message, Origin, Progress, Repair, ReplyStatus, RunId, Schema, StopReason, ToolCall,
    ToolErrorKind, ToolHints, ToolName, ToolOutput, ToolReply, ToolSpec, Truncation, Usage,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::time::Duration;

/// Writes each value as a line of JSON, which must read as the value again.
#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check<T>(values: impl IntoIterator<Item = T>, expected: Expect)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let mut lines = String::new();
    for value in values {
        let line = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<T>(&line).unwrap(), value);
        lines += &line;
        lines.push('\n');
    }
    expected.assert_eq(&lines);
}

fn call_id(text: &str) -> CallId {
    text.parse().unwrap()
}

fn run_id(text: &str) -> RunId {
    text.parse().unwrap()
}

fn blob() -> Blob {
    Blob::from(vec![0xff, 0xd8, 0x00])
}

fn reply() -> ToolReply {
    let output = ToolOutput::text("fn main() {}").with_details(json!({ "lines": 1 }));
    let mut reply = ToolReply::new(call_id("c1"), "read_file", ReplyStatus::Ok, output);
    reply.duration = Duration::from_micros(1_500);
    reply.truncation = Some(Truncation::new(20_000, 12));
    reply.repairs = vec![
        Repair::new("/limit", json!("5"), Some(json!(5)), "read the number in the text"),
        Repair::new("/offset", Value::Null, None, "left out null"),
        Repair::new("/mode", json!("null"), Some(Value::Null), "read the null in the text"),
    ];
    reply
}

fn every_content() -> Vec<Content> {
    vec![
        Content::text("hello"),
        Content::json(json!({ "a": [1, 2.5, null] })),
        Content::image(blob(), "image/jpeg"),
        Content::audio(blob(), "audio/wav"),
        Content::Resource { uri: "file:a".into(), mime_type: None, text: None, data: None },
        Content::Resource {
            uri: "file:a".into(),
            mime_type: Some("text/plain".into()),
            text: Some("a".into()),
            data: Some(blob()),
        },
        Content::ResourceLink { uri: "file:b".into(), name: "b".into(), mime_type: None, size: None },
        Content::ResourceLink {
            uri: "file:b".into(),
            name: "b".into(),
            mime_type: Some("text/plain".into()),
            size: Some(u64::MAX),
        },
    ]
}

#[test]
fn ids_names_blobs_and_digests_are_strings() {
    check(
        [call_id("toolu_01"), call_id("ü \u{2028}")],
        expect![[r#"
            "toolu_01"
            "ü  "
        "#]],
    );
    check(
        [run_id("run-7")],
        expect![[r#"
            "run-7"
        "#]],
    );
    check(
        ["read_file".parse::<ToolName>().unwrap()],
        expect![[r#"
            "read_file"
        "#]],
    );
    check(
        [Blob::default(), blob()],
        expect![[r#"
            ""
            "/9gA"
        "#]],
    );
    check(
        [Digest::of(&json!({ "path": "a" }))],
        expect![[r#"
            "e62b11efe660f3c42f087ce4470a6989242eb54dffebcc80668e54f8bdf4f1bf"
        "#]],
    );
}

#[test]
fn calls() {
    check(
        [
            ToolCall::new(call_id("c1"), "read_file", json!({ "path": "a" })),
            ToolCall::new(call_id("c2"), "no such tool", Value::Null),
            ToolCall::new(call_id("c3"), "", json!("{\"path\": ")),
        ],
        expect![[r#"
            {"id":"c1","name":"read_file","input":{"path":"a"}}
            {"id":"c2","name":"no such tool","input":null}
            {"id":"c3","name":"","input":"{\"path\": "}
        "#]],
    );
}

#[test]
fn content() {
    check(
        every_content(),
        expect![[r#"
            {"type":"text","text":"hello"}
            {"type":"json","value":{"a":[1,2.5,null]}}
            {"type":"image","data":"/9gA","mime_type":"image/jpeg"}
            {"type":"audio","data":"/9gA","mime_type":"audio/wav"}
            {"type":"resource","uri":"file:a"}
            {"type":"resource","uri":"file:a","mime_type":"text/plain","text":"a","data":"/9gA"}
            {"type":"resource_link","uri":"file:b","name":"b"}
            {"type":"resource_link","uri":"file:b","name":"b","mime_type":"text/plain","size":18446744073709551615}
        "#]],
    );
}

#[test]
fn outputs() {
    check(
        [
            ToolOutput::default(),
            ToolOutput::text("done"),
            ToolOutput::json(json!({ "count": 3 })),
            ToolOutput::json(Value::Null),
            ToolOutput::text("done")
                .with_structured(json!([]))
                .with_details(json!({ "exit_code": 0 }))
                .with_child_run(run_id("run-8")),
        ],
        expect![[r#"
            {"content":[]}
            {"content":[{"type":"text","text":"done"}]}
            {"content":[{"type":"json","value":{"count":3}}],"structured":{"count":3}}
            {"content":[{"type":"json","value":null}],"structured":null}
            {"content":[{"type":"text","text":"done"}],"structured":[],"details":{"exit_code":0},"child_run":"run-8"}
        "#]],
    );
}

#[test]
fn replies() {
    check(
        [ToolReply::new(call_id("c1"), "bash", ReplyStatus::Denied, ToolOutput::text("no")), reply()],
        expect![[r#"
            {"call_id":"c1","name":"bash","output":{"content":[{"type":"text","text":"no"}]},"status":"denied","duration_us":0}
            {"call_id":"c1","name":"read_file","output":{"content":[{"type":"text","text":"fn main() {}"}],"details":{"lines":1}},"status":"ok","duration_us":1500,"truncation":{"total_bytes":20000,"kept_bytes":12},"repairs":[{"pointer":"/limit","from":"5","to":5,"note":"read the number in the text"},{"pointer":"/offset","from":null,"note":"left out null"},{"pointer":"/mode","from":"null","to":null,"note":"read the null in the text"}]}
        "#]],
    );
    check(
        [Truncation::new(9, 5), Truncation::new(9, 5).with_output(Some("o1".parse().unwrap()))],
        expect![[r#"
            {"total_bytes":9,"kept_bytes":5}
            {"total_bytes":9,"kept_bytes":5,"output":"o1"}
        "#]],
    );
}

#[test]
fn durations_are_whole_microseconds() {
    let form = |duration| {
        let mut reply = ToolReply::new(call_id("c"), "t", ReplyStatus::Ok, ToolOutput::default());
        reply.duration = duration;
        serde_json::to_value(reply).unwrap()["duration_us"].clone()
    };
    assert_eq!(form(Duration::from_nanos(1_999)), json!(1));
    assert_eq!(form(Duration::MAX), json!(u64::MAX));
}

#[test]
fn statuses() {
    let errors = [
        ErrorKind::UnknownTool,
        ErrorKind::InvalidInput,
        ErrorKind::NotFound,
        ErrorKind::Unavailable,
        ErrorKind::Failed,
        ErrorKind::Panicked,
    ];
    let others = [
        ReplyStatus::Ok,
        ReplyStatus::Denied,
        ReplyStatus::Cancelled,
        ReplyStatus::TimedOut,
        ReplyStatus::Skipped,
    ];
    check(
        others.into_iter().chain(errors.map(ReplyStatus::Error)),
        expect![[r#"
            "ok"
            "denied"
            "cancelled"
            "timed_out"
            "skipped"
            {"error":"unknown_tool"}
            {"error":"invalid_input"}
            {"error":"not_found"}
            {"error":"unavailable"}
            {"error":"failed"}
            {"error":"panicked"}
        "#]],
    );
    check(
        [
            ToolErrorKind::InvalidInput,
            ToolErrorKind::NotFound,
            ToolErrorKind::Denied,
            ToolErrorKind::Cancelled,
            ToolErrorKind::TimedOut,
            ToolErrorKind::Unavailable,
            ToolErrorKind::Unauthenticated,
            ToolErrorKind::Failed,
        ],
        expect![[r#"
            "invalid_input"
            "not_found"
            "denied"
            "cancelled"
            "timed_out"
            "unavailable"
            "unauthenticated"
            "failed"
        "#]],
    );
}

#[test]
fn messages() {
    check(
        [
            Message::user("Why?"),
            Message::User { content: vec![] },
            Message::Assistant {
                parts: vec![
                    AssistantPart::Reasoning { text: "Hm.".into(), provider_data: Value::Null },
                    AssistantPart::Reasoning {
                        text: String::new(),
                        provider_data: json!({ "signature": "s" }),
                    },
                    AssistantPart::Text { text: "Because.".into() },
                    AssistantPart::ToolCall { call: ToolCall::new(call_id("c1"), "bash", json!({})) },
                ],
            },
            Message::Tool {
                replies: vec![ToolReply::new(call_id("c1"), "bash", ReplyStatus::Ok, ToolOutput::default())],
            },
        ],
        expect![[r#"
            {"role":"user","content":[{"type":"text","text":"Why?"}]}
            {"role":"user","content":[]}
            {"role":"assistant","parts":[{"type":"reasoning","text":"Hm."},{"type":"reasoning","text":"","provider_data":{"signature":"s"}},{"type":"text","text":"Because."},{"type":"tool_call","call":{"id":"c1","name":"bash","input":{}}}]}
            {"role":"tool","replies":[{"call_id":"c1","name":"bash","output":{"content":[]},"status":"ok","duration_us":0}]}
        "#]],
    );
}

#[test]
fn events_are_flat() {
    let event = |kind| Event::new(7, 1_700_000_000_123, run_id("run-1"), kind);
    let of_call = |kind| event(kind).with_parent_run(Some(run_id("run-0"))).with_call(call_id("c1"));
    check(
        [
            event(EventKind::RunStarted { agent: "explorer".into(), background: true }),
            event(EventKind::RunEnded { agent: "explorer".into(), end: "done".into(), detail: None }),
            event(EventKind::TurnStarted { turn: 1 }),
            event(EventKind::TextDelta { text: "Hi".into() }),
            event(EventKind::ReasoningDelta { text: "Hm".into() }),
            event(EventKind::CallDelta {
                id: "c1".parse().unwrap(),
                name: "bash".into(),
                arguments: "{\"com".into(),
            }),
            event(EventKind::TurnFinished { turn: 1, stop: StopReason::EndTurn, usage: Usage::default() }),
            event(EventKind::TurnDiscarded { turn: 2, reason: "it broke off".into(), again: true }),
            event(EventKind::BudgetSpent { which: BudgetKind::WallTime }),
            event(EventKind::Steered { text: "Stop that.".into(), now: true }),
            event(EventKind::Looping { name: "bash".into(), times: 3 }),
            event(EventKind::Compacted { messages: 12, tokens: 4000 }),
            event(EventKind::CompactionFailed { reason: "no room".into() }),
            event(EventKind::Paused),
            event(EventKind::Unpaused),
            of_call(EventKind::Started { name: "bash".into(), input: json!({ "command": "ls" }) }),
            of_call(EventKind::Decided { decision: Decision::Ask, reason: "no rule".into() }),
            of_call(EventKind::ApprovalRequested {
                accesses: vec!["exec:ls".into()],
                preview: "$ ls".into(),
            }),
            of_call(EventKind::WaitsBelow { calls: 2 }),
            of_call(EventKind::Updated { output: ToolOutput::text("half") }),
            of_call(EventKind::Progressed { progress: Progress::from(0.5) }),
            of_call(EventKind::Finished { reply: Box::new(reply()) }),
            event(EventKind::ToolsChanged {
                added: vec!["a".parse().unwrap()],
                removed: Vec::new(),
                changed: vec!["b".parse().unwrap()],
            }),
            event(EventKind::ToolsOverBudget { tokens: 12_000, budget: 10_000, tools: 40 }),
            event(EventKind::SourceFailed { source: "github".into(), reason: "it panicked".into() }),
        ],
        expect![[r#"
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"run_started","agent":"explorer","background":true}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"run_ended","agent":"explorer","end":"done"}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"turn_started","turn":1}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"text_delta","text":"Hi"}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"reasoning_delta","text":"Hm"}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"call_delta","id":"c1","name":"bash","arguments":"{\"com"}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"turn_finished","turn":1,"stop":"end_turn","usage":{"input":0,"output":0}}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"turn_discarded","turn":2,"reason":"it broke off","again":true}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"budget_spent","which":"wall_time"}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"steered","text":"Stop that.","now":true}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"looping","name":"bash","times":3}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"compacted","messages":12,"tokens":4000}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"compaction_failed","reason":"no room"}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"paused"}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"unpaused"}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","parent_run":"run-0","call":"c1","event":"started","name":"bash","input":{"command":"ls"}}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","parent_run":"run-0","call":"c1","event":"decided","decision":"ask","reason":"no rule"}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","parent_run":"run-0","call":"c1","event":"approval_requested","accesses":["exec:ls"],"preview":"$ ls"}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","parent_run":"run-0","call":"c1","event":"waits_below","calls":2}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","parent_run":"run-0","call":"c1","event":"updated","output":{"content":[{"type":"text","text":"half"}]}}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","parent_run":"run-0","call":"c1","event":"progressed","progress":{"fraction":0.5}}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","parent_run":"run-0","call":"c1","event":"finished","reply":{"call_id":"c1","name":"read_file","output":{"content":[{"type":"text","text":"fn main() {}"}],"details":{"lines":1}},"status":"ok","duration_us":1500,"truncation":{"total_bytes":20000,"kept_bytes":12},"repairs":[{"pointer":"/limit","from":"5","to":5,"note":"read the number in the text"},{"pointer":"/offset","from":null,"note":"left out null"},{"pointer":"/mode","from":"null","to":null,"note":"read the null in the text"}]}}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"tools_changed","added":["a"],"removed":[],"changed":["b"]}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"tools_over_budget","tokens":12000,"budget":10000,"tools":40}
            {"sequence":7,"at_ms":1700000000123,"run":"run-1","event":"source_failed","source":"github","reason":"it panicked"}
        "#]],
    );
}

#[test]
fn progress() {
    check(
        [
            Progress::default(),
            Progress::from("reading"),
            Progress::from(1.0 / 3.0),
            Progress::from(7.0),
            Progress::from(f64::NEG_INFINITY),
            Progress::from(f64::NAN),
        ],
        expect![[r#"
            {}
            {"message":"reading"}
            {"fraction":0.3333333333333333}
            {"fraction":1.0}
            {"fraction":0.0}
            {}
        "#]],
    );
}

#[test]
fn specs() {
    let plain = ToolSpec::new("now".parse().unwrap(), "Tells the time.", Schema::empty());
    let full = plain
        .clone()
        .with_title("Clock")
        .with_output_schema(Schema::new(json!({ "type": "object" })).unwrap())
        .with_hints(ToolHints { read_only: true, streaming: true, ..ToolHints::default() })
        .with_origin(Origin::Mcp { server: "clock".into(), tool: "what time".into() })
        .with_exposure(Exposure::Deferred)
        .explicit_only();
    check(
        [plain, full],
        expect![[r#"
            {"name":"now","description":"Tells the time.","input_schema":{"additionalProperties":false,"properties":{},"type":"object"},"hints":{"read_only":false,"destructive":false,"idempotent":false,"open_world":false,"streaming":false},"origin":{"kind":"host"},"exposure":"direct","explicit":false}
            {"name":"now","title":"Clock","description":"Tells the time.","input_schema":{"additionalProperties":false,"properties":{},"type":"object"},"output_schema":{"type":"object"},"hints":{"read_only":true,"destructive":false,"idempotent":false,"open_world":false,"streaming":true},"origin":{"kind":"mcp","server":"clock","tool":"what time"},"exposure":"deferred","explicit":true}
        "#]],
    );
}

#[test]
fn origins() {
    check(
        [
            Origin::Builtin,
            Origin::Host,
            Origin::Mcp { server: "github".into(), tool: "create issue".into() },
            Origin::OpenApi { document: "shop".into(), operation: "GET /items/{id}".into() },
            Origin::Agent { name: "explorer".into() },
        ],
        expect![[r#"
            {"kind":"builtin"}
            {"kind":"host"}
            {"kind":"mcp","server":"github","tool":"create issue"}
            {"kind":"open_api","document":"shop","operation":"GET /items/{id}"}
            {"kind":"agent","name":"explorer"}
        "#]],
    );
}

#[test]
fn the_small_ones() {
    check(
        [Decision::Allow, Decision::Ask, Decision::Deny],
        expect![[r#"
            "allow"
            "ask"
            "deny"
        "#]],
    );
    check(
        [Exposure::Direct, Exposure::Deferred, Exposure::Hidden],
        expect![[r#"
            "direct"
            "deferred"
            "hidden"
        "#]],
    );
    check(
        [StopReason::EndTurn, StopReason::ToolCalls, StopReason::MaxTokens, StopReason::Refused],
        expect![[r#"
            "end_turn"
            "tool_calls"
            "max_tokens"
            "refused"
        "#]],
    );
    check(
        [Usage::default(), Usage { input: 1, output: 2, cache_read: 3, cache_write: u64::MAX }],
        expect![[r#"
            {"input":0,"output":0}
            {"input":1,"output":2,"cache_read":3,"cache_write":18446744073709551615}
        "#]],
    );
    check(
        [Schema::empty(), Schema::new(json!({ "$defs": {} })).unwrap()],
        expect![[r#"
            {"additionalProperties":false,"properties":{},"type":"object"}
            {"$defs":{},"type":"object"}
        "#]],
    );
}
