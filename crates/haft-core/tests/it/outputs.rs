use crate::strategies;
use expect_test::expect;
use haft_core::{
    AssistantPart, Content, Decision, ErrorKind, Message, ReplyStatus, ToolCall, ToolError, ToolErrorKind,
    ToolOutput, Usage,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::error::Error;
use std::time::Duration;

#[test]
fn an_output_reads_as_text() {
    let output = ToolOutput::new(vec![
        Content::text("first"),
        Content::json(json!({ "b": [1, "x"] })),
        Content::image(vec![1, 2, 3], "image/png"),
        Content::audio(vec![], "audio/wav"),
        Content::Resource {
            uri: "file:a".into(),
            mime_type: None,
            text: Some("its text".into()),
            data: None,
        },
        Content::Resource { uri: "file:b".into(), mime_type: None, text: None, data: Some(vec![1].into()) },
        Content::ResourceLink { uri: "file:c".into(), name: "c".into(), mime_type: None, size: None },
    ]);
    expect![[r#"
        first
        {"b":[1,"x"]}
        [image image/png, 3 bytes]
        [audio audio/wav, 0 bytes]
        its text
        file:b
        file:c"#]]
    .assert_eq(&output.to_text());
    assert_eq!(output.size_bytes(), 5 + r#"{"b":[1,"x"]}"#.len() + 3 + (6 + 8) + (6 + 1) + (6 + 1));
}

#[test]
fn a_status_reads_as_words() {
    let statuses = [
        ReplyStatus::Ok,
        ReplyStatus::Error(ErrorKind::UnknownTool),
        ReplyStatus::Error(ErrorKind::Panicked),
        ReplyStatus::TimedOut,
    ]
    .map(|status| status.to_string());
    assert_eq!(statuses, ["ok", "error: unknown tool", "error: panicked", "timed out"]);
}

#[test]
fn every_kind_of_error_has_its_status() {
    let kinds = [
        ToolErrorKind::InvalidInput,
        ToolErrorKind::NotFound,
        ToolErrorKind::Denied,
        ToolErrorKind::Cancelled,
        ToolErrorKind::TimedOut,
        ToolErrorKind::Unavailable,
        ToolErrorKind::Unauthenticated,
        ToolErrorKind::Failed,
    ];
    let lines: Vec<_> = kinds
        .iter()
        .map(|kind| {
            let retry = if ToolError::new(*kind, "").can_retry() { ", can be retried" } else { "" };
            format!("{kind:?}: {}{retry}", ReplyStatus::from(*kind))
        })
        .collect();
    expect![[r#"
        InvalidInput: error: invalid input
        NotFound: error: not found
        Denied: denied
        Cancelled: cancelled
        TimedOut: timed out
        Unavailable: error: unavailable, can be retried
        Unauthenticated: error: unauthenticated
        Failed: error: failed
    "#]]
    .assert_eq(&(lines.join("\n") + "\n"));
}

#[test]
fn an_error_keeps_its_two_readers_apart() {
    let error = ToolError::unavailable("the server is down; try again later")
        .with_source(std::io::Error::other("10.0.0.7 refused"))
        .with_retry_after(Duration::from_secs(3));
    assert_eq!(error.to_string(), "the server is down; try again later");
    assert_eq!(error.message(), error.to_string());
    assert_eq!(error.source().unwrap().to_string(), "10.0.0.7 refused");
    assert_eq!((error.can_retry(), error.retry_after()), (true, Some(Duration::from_secs(3))));
    assert!(!ToolError::failed("no").can_retry());
}

#[test]
fn a_message_gives_its_calls_and_its_text() {
    let call =
        |id: &str| AssistantPart::ToolCall { call: ToolCall::new(id.parse().unwrap(), "t", json!({})) };
    let message = Message::Assistant {
        parts: vec![
            AssistantPart::Reasoning { text: "hidden".into(), provider_data: Value::Null },
            AssistantPart::Text { text: "a".into() },
            call("c1"),
            AssistantPart::Text { text: "b".into() },
            call("c2"),
        ],
    };
    assert_eq!(message.assistant_text(), "ab");
    assert_eq!(message.tool_calls().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["c1", "c2"]);
    let user = Message::user("a");
    assert_eq!((user.assistant_text(), user.tool_calls().count()), (String::new(), 0));
}

#[test]
fn usage_adds_up_to_the_end_of_its_range() {
    let most = Usage { input: u64::MAX, output: 1, cache_read: 2, cache_write: 3 };
    let mut sum = most;
    sum += most;
    assert_eq!(sum, Usage { input: u64::MAX, output: 2, cache_read: 4, cache_write: 6 });
    assert_eq!(sum.total(), u64::MAX);
}

#[test]
fn the_strictest_decision_is_the_greatest() {
    let mut decisions = [Decision::Deny, Decision::Allow, Decision::Ask];
    decisions.sort();
    assert_eq!(decisions.map(|decision| decision.to_string()), ["allow", "ask", "deny"]);
}

proptest! {
    /// No output makes its text or its size panic, and its details are in neither.
    #[test]
    fn details_are_for_the_host_alone(output in strategies::tool_output(), details in strategies::json_value()) {
        let changed = output.clone().with_details(details);
        prop_assert_eq!(changed.to_text(), output.to_text());
        prop_assert_eq!(changed.size_bytes(), output.size_bytes());
    }
}
