#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use super::output;
use crate::Era;
use crate::client::fake::{FakeServer, call, executor, one, replies, text_result, tool};
use crate::client::listing::{Listing, Reading, Unjudged};
use crate::client::session::Fault;
use crate::client::trust::Verdict;
use expect_test::{Expect, expect};
use haft_core::Content;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Calls a tool that is answered like this, through an executor; its output has to fit the schema, if there is one.
async fn answered(answer: Result<Value, Fault>, schema: Option<Value>) -> haft_core::ToolReply {
    let mut listed = tool("a");
    if let Some(schema) = schema {
        listed["outputSchema"] = schema;
    }
    let fake = FakeServer::new(Era::Modern, json!([listed]), move |_| std::future::ready(answer.clone()));
    let servers = one(&fake);
    let executor = executor(&servers).await.build();
    replies(&executor, vec![("s__a", json!({}))]).await.remove(0)
}

/// Prints how a call ended that is answered so: its status, each part of the content, and the data.
async fn check_all(answer: Value, schema: Option<Value>, expect: Expect) {
    let reply = answered(Ok(answer), schema).await;
    let mut outline = format!("{}\n", reply.status);
    for part in &reply.output.content {
        let _ = writeln!(outline, "{part:?}");
    }
    if let Some(structured) = &reply.output.structured {
        let _ = writeln!(outline, "data {structured}");
    }
    expect.assert_eq(&outline);
}

async fn check(answer: Value, expect: Expect) {
    check_all(answer, None, expect).await;
}

#[tokio::test]
async fn blocks_of_every_kind_are_typed() {
    check(
        json!({ "content": [
            { "type": "text", "text": "hello", "annotations": { "audience": ["user"] }, "_meta": {} },
            { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" },
            { "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "file:///a", "mimeType": "text/plain", "text": "of a" } },
            { "type": "resource", "resource": { "uri": "file:///b", "blob": "AAE=" } },
            { "type": "resource_link", "uri": "file:///c", "name": "c", "title": "C", "mimeType": "text/x", "size": 5 },
            { "type": "resource_link", "uri": "file:///d" },
        ] }),
        expect![[r#"
            ok
            Text { text: "hello" }
            Image { data: Blob(8 bytes), mime_type: "image/png" }
            Audio { data: Blob(4 bytes), mime_type: "audio/wav" }
            Resource { uri: "file:///a", mime_type: Some("text/plain"), text: Some("of a"), data: None }
            Resource { uri: "file:///b", mime_type: None, text: None, data: Some(Blob(2 bytes)) }
            ResourceLink { uri: "file:///c", name: "C", mime_type: Some("text/x"), size: Some(5) }
            ResourceLink { uri: "file:///d", name: "file:///d", mime_type: None, size: None }
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_block_that_cannot_be_used_costs_no_other_and_is_told() {
    check(
        json!({ "content": [
            { "type": "text", "text": "kept" },
            { "type": "hologram\u{202e}", "data": 1 },
            { "text": "no type" },
            5,
            { "type": "text" },
            { "type": "image", "data": "%%", "mimeType": "image/png" },
            { "type": "image", "data": "AAE=" },
            { "type": "resource", "resource": { "uri": "file:///a" } },
            { "type": "resource" },
            { "type": "resource_link" },
        ] }),
        expect![[r#"
            ok
            Text { text: "kept" }
            Text { text: "[a part `hologram\\u{202e}` was left out: its kind is not known here]" }
            Text { text: "[a part was left out: it does not say what it is]" }
            Text { text: "[a part was left out: it is not a block]" }
            Text { text: "[a part `text` was left out: it has no text]" }
            Text { text: "[a part `image` was left out: its data is not written as base64]" }
            Text { text: "[a part `image` was left out: it has no media type]" }
            Text { text: "[a part `resource` was left out: its document has neither text nor data]" }
            Text { text: "[a part `resource` was left out: it has no document]" }
            Text { text: "[a part `resource_link` was left out: it has no address]" }
        "#]],
    )
    .await;
    check(
        json!({ "content": "text" }),
        expect![[r#"
        ok
        Text { text: "[what was answered was left out: it is not a list of blocks]" }
    "#]],
    )
    .await;
    check(
        json!({}),
        expect![[r#"
        ok
    "#]],
    )
    .await;
    check(
        json!([]),
        expect![[r#"
        error: failed
        Text { text: "the server answered `s__a` with no result; go on without it" }
    "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_said_as_data_and_as_text_is_told_once() {
    let mirrored = |text: &str, data: Value| json!({ "content": [{ "type": "text", "text": text }], "structuredContent": data });
    check(
        mirrored("{ \"n\": 1,\n \"b\": [true] }", json!({ "b": [true], "n": 1 })),
        expect![[r#"
        ok
        Json { value: Object {"b": Array [Bool(true)], "n": Number(1)} }
        data {"b":[true],"n":1}
    "#]],
    )
    .await;
    check(
        mirrored("There is one.", json!({ "n": 1 })),
        expect![[r#"
        ok
        Text { text: "There is one." }
        Json { value: Object {"n": Number(1)} }
        data {"n":1}
    "#]],
    )
    .await;
    // What is no object is put into one by some.
    check(
        mirrored("plain", json!({ "result": "plain" })),
        expect![[r#"
        ok
        Json { value: Object {"result": String("plain")} }
        data {"result":"plain"}
    "#]],
    )
    .await;
    check(
        mirrored("5", json!({ "result": 5 })),
        expect![[r#"
        ok
        Json { value: Object {"result": Number(5)} }
        data {"result":5}
    "#]],
    )
    .await;
    check(
        json!({ "structuredContent": { "n": 1 } }),
        expect![[r#"
        ok
        Json { value: Object {"n": Number(1)} }
        data {"n":1}
    "#]],
    )
    .await;
    check(
        json!({ "content": [{ "type": "text", "text": "{}" }, { "type": "text", "text": "{}" }], "structuredContent": {} }),
        expect![[r#"
            ok
            Json { value: Object {} }
            data {}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn data_has_to_be_what_the_tool_says_it_gives_unless_it_failed() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let with = |data: Value| json!({ "content": [], "structuredContent": data });
    check_all(
        with(json!({ "n": 1 })),
        Some(schema.clone()),
        expect![[r#"
        ok
        Json { value: Object {"n": Number(1)} }
        data {"n":1}
    "#]],
    )
    .await;
    check_all(with(json!({ "n": "one\u{1b}" })), Some(schema.clone()), expect![[r#"
        error: failed
        Text { text: "the server answered `s__a` with data that is not what the tool says it gives: at `/n`: \"one\\u{1b}\" is not an integer; it was done, so do not repeat it; go on without its result" }
    "#]]).await;
    check_all(
        with(Value::Null),
        Some(schema.clone()),
        expect![[r#"
        ok
    "#]],
    )
    .await;
    check_all(
        text_result("no data"),
        Some(schema.clone()),
        expect![[r#"
        ok
        Text { text: "no data" }
    "#]],
    )
    .await;
    let failed = json!({
        "isError": true,
        "content": [{ "type": "text", "text": "no such thing" }],
        "structuredContent": { "n": "wrong" },
    });
    check_all(
        failed,
        Some(schema),
        expect![[r#"
        error: failed
        Text { text: "no such thing" }
    "#]],
    )
    .await;
    // Any schema can be given for the output.
    check_all(
        with(json!([1, 2])),
        Some(json!({ "type": "array", "items": { "type": "integer" } })),
        expect![[r#"
            ok
            Json { value: Array [Number(1), Number(2)] }
            data [1,2]
        "#]],
    )
    .await;
    check_all(
        with(json!(["1"])),
        Some(json!({ "type": "array", "items": { "type": "integer" } })),
        expect![[r#"
            error: failed
            Text { text: "the server answered `s__a` with data that is not what the tool says it gives: at `/0`: \"1\" is not an integer; it was done, so do not repeat it; go on without its result" }
        "#]],
    )
    .await;
    // One that refers to itself is followed as far as the data goes.
    let list = json!({ "properties": { "next": { "$ref": "#" } }, "additionalProperties": false });
    check_all(with(json!({ "next": { "next": { "x": 1 } } })), Some(list), expect![[r#"
        error: failed
        Text { text: "the server answered `s__a` with data that is not what the tool says it gives: at `/next/next`: unknown property `x`; it takes `next`; it was done, so do not repeat it; go on without its result" }
    "#]]).await;
}

#[tokio::test]
async fn what_a_tool_says_of_its_failure_is_told_bounded_and_visible() {
    let failed = |content: Value| json!({ "isError": true, "content": content });
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    check(
        failed(text("no\u{200b} such file\u{1b}[2J")),
        expect![[r#"
        error: failed
        Text { text: "no\\u{200b} such file\\u{1b}[2J" }
    "#]],
    )
    .await;
    check(
        failed(json!([])),
        expect![[r#"
        error: failed
        Text { text: "`s__a` failed and did not say why; try something else" }
    "#]],
    )
    .await;
    check(
        json!({ "isError": true, "structuredContent": { "code": 7 } }),
        expect![[r#"
        error: failed
        Text { text: "{\"code\":7}" }
    "#]],
    )
    .await;
    let reply = answered(Ok(failed(text(&"e".repeat(1 << 20)))), None).await;
    let Content::Text { text } = &reply.output.content[0] else { panic!("{reply:?}") };
    assert!(text.ends_with("[and 1032192 bytes more]") && text.len() < 20_000, "{}", text.len());
}

async fn check_fault(fault: Fault, expect: Expect) {
    let reply = answered(Err(fault), None).await;
    expect.assert_eq(&format!("{}\n{}", reply.status, reply.output.to_text()));
}

#[tokio::test]
async fn errors_of_the_protocol_are_told_as_what_they_are() {
    let refused = |code, message: &str, data| Fault::Refused { code, message: message.to_owned(), data };
    check_fault(refused(-32602, "`n` must be\u{202e} positive", None), expect![[r#"
        error: invalid input
        the server does not take these arguments of `s__a`: `n` must be\u{202e} positive; correct them and call the tool again"#]]).await;
    check_fault(
        refused(-32601, "Method not found", None),
        expect![[r#"
        error: not found
        the server `s` does not know `s__a`: Method not found; nothing was done, go on without it"#]],
    )
    .await;
    check_fault(
        refused(-32603, "it broke", None),
        expect![[r#"
        error: failed
        the server refused `s__a`: it broke (code -32603); see what has been done, and go on without it"#]],
    )
    .await;
    let long = answered(Err(refused(-32603, &"long\n".repeat(10_000), None)), None).await.output.to_text();
    let end = "[and 45904 bytes more] (code -32603); see what has been done, and go on without it";
    assert!(long.ends_with(end) && long.len() < 4_300, "{long}");
    let page = json!({ "elicitations": [{ "mode": "url", "url": "https://pay.example.org/?a=1" }] });
    check_fault(
        refused(-32042, "Pay first", Some(page)),
        expect![[r#"
            error: unauthenticated
            the server `s` wants the user to go to an address before `s__a` can be called: Pay first"#]],
    )
    .await;
    check_fault(Fault::Oversize { bytes: 17 << 20, most: 16 << 20 }, expect![[r#"
        error: failed
        what `s__a` answered has 17825792 bytes, more than the 16777216 that are taken; it was done, and to see what it gives, ask for less at once"#]]).await;
    check_fault(Fault::Broken("at /secret/path: what is this?".to_owned()), expect![[r#"
        error: failed
        what the server `s` answered to `s__a` cannot be used; see what has been done, and go on without it"#]]).await;
    check_fault(
        Fault::Unauthorized { url: Some("https://auth.example.org/".to_owned()) },
        expect![[r#"
        error: unauthenticated
        the server `s` of `s__a` needs a login first; nothing was done, ask the user to log in, then call it again"#]],
    )
    .await;
}

#[tokio::test]
async fn a_large_result_goes_where_all_large_outputs_go() {
    let text = "0123456789abcde\n".repeat(1 << 16);
    let fake =
        FakeServer::new(Era::Modern, json!([tool("a")]), move |_| std::future::ready(Ok(text_result(&text))));
    let servers = one(&fake);
    let outputs = std::sync::Arc::new(haft_tools_core::LocalOutputs::in_memory());
    let executor = executor(&servers).await.outputs(outputs).build();
    let reply = replies(&executor, vec![("s__a", json!({}))]).await.remove(0);
    let truncation = reply.truncation.expect("it is cut");
    assert_eq!((truncation.total_bytes, truncation.output.is_some()), (1 << 20, true));
    assert!(call(&executor, "s__a", json!({})).await.len() < 40_000);
}

proptest! {
    /// Whatever a server answers, it becomes an output or an error without a panic.
    #[test]
    fn anything_can_be_answered(result in results(), schema in prop::option::of(results())) {
        let mut listed = tool("a");
        listed["outputSchema"] = schema.unwrap_or_default();
        let server = "s".parse().unwrap();
        let listing = Unjudged::of(&server, Reading { items: vec![listed], ..Reading::default() }, &Listing::default());
        let listing = listing.judged(vec![Verdict::Trusted]);
        if let Err(error) = output(result, &listing.tools[0]) {
            prop_assert!(!error.message().is_empty());
        }
    }
}

fn results() -> impl Strategy<Value = Value> {
    let words = ["text", "image", "resource", "resource_link", "AAE=", "{}", "object", "#", "\u{202e}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..300).prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
    ];
    let keys = [
        "content",
        "structuredContent",
        "isError",
        "type",
        "text",
        "data",
        "mimeType",
        "resource",
        "uri",
        "blob",
        "name",
        "size",
        "result",
        "$ref",
        "properties",
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        let key = prop::sample::select(keys.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
