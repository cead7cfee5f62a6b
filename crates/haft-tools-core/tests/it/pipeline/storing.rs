use crate::fixture::{Probe, anything, call, outline, registry, replies, reply, scope};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{CallId, Content, OutputId, ToolOutput, ToolReply};
use haft_tools_core::ToolExecutor as _;
use haft_tools_core::{
    Batch, CallScope, Limits, LocalExecutor, LocalOutputs, OutputChunk, OutputError, OutputStore, ReadOutput,
    Redactor,
};
use serde_json::json;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Answers with an output through an executor that stores what is cut.
async fn call_with(limits: Limits, outputs: Arc<dyn OutputStore>, output: ToolOutput) -> ToolReply {
    let probe = Probe::new("t").run(move |_, _| std::future::ready(Ok(output.clone())));
    let tools = registry([probe]).with(ReadOutput::new(Arc::clone(&outputs))).unwrap();
    let executor = LocalExecutor::builder(tools).policy(anything()).limits(limits).outputs(outputs).build();
    reply(&executor, "t", json!({})).await
}

fn in_memory() -> Arc<dyn OutputStore> {
    Arc::new(LocalOutputs::in_memory())
}

async fn check(limits: Limits, output: ToolOutput, expect: Expect) {
    let outputs = in_memory();
    let reply = call_with(limits, Arc::clone(&outputs), output).await;
    let mut shown = format!("{}\n---\n", outline(&reply).replace('\r', "\\r"));
    for number in 1..9 {
        let Some(whole) = whole(&*outputs, &format!("o{number}")).await else { break };
        writeln!(shown, "o{number}: {whole:?}").unwrap();
    }
    expect.assert_eq(&format!("{shown}{:?}", reply.truncation));
}

async fn whole(outputs: &dyn OutputStore, output: &str) -> Option<String> {
    let chunk = outputs.read(&scope(), &output.parse().unwrap(), 0..u64::MAX).await.ok()?;
    Some(String::from_utf8(chunk.bytes.into()).unwrap())
}

fn small() -> Limits {
    Limits { output_bytes: 30, output_lines: 6, line_bytes: 20, data_bytes: 60, ..Limits::default() }
}

#[tokio::test]
async fn what_is_cut_is_kept_whole() {
    check(
        small(),
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n".into(),
        expect![[r#"
        ok
        1
        2
        3
        4
        [… 6 bytes, 3 lines cut here: `read_output` gives them, with output "o1" and offset 5 …]
        8
        9

        ---
        o1: "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
        Some(Truncation { total_bytes: 18, kept_bytes: 12, output: Some(OutputId("o1")) })"#]],
    )
    .await;
    check(
        small(),
        "short".into(),
        expect![[r#"
        ok
        short
        ---
        None"#]],
    )
    .await;
    let parts =
        vec![Content::text("one"), Content::text(""), Content::text("two\n"), Content::text("x".repeat(30))];
    check(
        small(),
        ToolOutput::new(parts),
        expect![[r#"
        ok
        one

        two

        xxxxxxxxxxxxx
        [… 7 bytes, 1 line cut here: `read_output` gives them, with output "o1" and offset 4 …]
        xxxxxxxxxx
        ---
        o1: "one\n\ntwo\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        Some(Truncation { total_bytes: 37, kept_bytes: 30, output: Some(OutputId("o1")) })"#]],
    )
    .await;
    check(
        small(),
        ToolOutput::new(vec![Content::json(json!({ "a": [1, 2], "b": "cdefghijklmno" }))]),
        expect![[r#"
        ok
        {
          "a": [
            1,
        [… 25 bytes, 3 lines cut here: `read_output` gives them, with output "o1" and offset 4 …]
        ijklmno"
        }
        ---
        o1: "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": \"cdefghijklmno\"\n}"
        Some(Truncation { total_bytes: 53, kept_bytes: 28, output: Some(OutputId("o1")) })"#]],
    )
    .await;
}

#[tokio::test]
async fn a_line_that_is_too_long_is_cut_within() {
    let limits = Limits { output_bytes: 1_000, ..small() };
    let text = format!("a\n{}{}\r\nb", "é".repeat(30), "ü".repeat(30));
    check(
        limits,
        text.as_str().into(),
        expect![[r#"
            ok
            a
            éééééé[… 104 bytes of this line cut here …]üü\r
            b
            [lines over 20 bytes are cut within: `read_output` gives them, with output "o1"]
            ---
            o1: "a\nééééééééééééééééééééééééééééééüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü\r\nb"
            Some(Truncation { total_bytes: 125, kept_bytes: 21, output: Some(OutputId("o1")) })"#]],
    )
    .await;
}

#[tokio::test]
async fn a_result_as_data_that_is_too_much_is_left_out_and_kept() {
    let output = || ToolOutput::text("text").with_structured(json!({ "long": "x".repeat(60) }));
    check(small(), output().with_details(json!({ "kept": true })), expect![[r#"
        ok
        text
        [the result as data, 76 bytes, is left out: a reply has at most 60; `read_output` gives it, with output "o1"]
        ---
        o1: "{\n  \"long\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"\n}"
        Some(Truncation { total_bytes: 80, kept_bytes: 4, output: Some(OutputId("o1")) })"#]]).await;
    let value = json!({ "long": "x".repeat(60) });
    let reply = call_with(small(), in_memory(), ToolOutput::json(value.clone()).with_details(value)).await;
    expect![[r#"
        ok
        {
          "long": "xxxxxxx
        [… 46 bytes, 1 line cut here: `read_output` gives them, with output "o1" and offset 2 …]
        xxxxxxx"
        }
        None {"left_out":{"bytes":71,"most_bytes":60}}"#]]
    .assert_eq(&format!("{}\n{:?} {}", outline(&reply), reply.output.structured, reply.output.details));
}

#[tokio::test]
async fn media_that_are_too_many_or_too_large_are_left_out() {
    let limits = Limits { media_bytes: 10, ..Limits::default() };
    let image = |bytes: usize| Content::image(vec![0; bytes], "image/png");
    let parts = vec![image(6), image(5), image(4), Content::audio(vec![0; 9], "audio/\u{202e}x".repeat(99))];
    check(limits.clone(), ToolOutput::new(parts), expect![[r#"
        ok
        [image image/png, 6 bytes]
        [image image/png, 4 bytes]
        [left out and not kept: image image/png of 5 bytes, audio audio/\u{202e}xaudio/\u{202e}xaudio/\u{202e}xaudio/\u{202e}x of 9 bytes; a reply has at most 100 such parts with 10 bytes of media and 32768 bytes of addresses, so ask for fewer or smaller ones]
        ---
        Some(Truncation { total_bytes: 14, kept_bytes: 0, output: None })"#]]).await;
    let document = Content::Resource {
        uri: "u".repeat(33_000),
        mime_type: None,
        text: Some("its text".to_owned()),
        data: None,
    };
    check(limits, ToolOutput::new(vec![document]), expect![[r#"
        ok
        its text
        [left out and not kept: document of 33000 bytes; a reply has at most 100 such parts with 10 bytes of media and 32768 bytes of addresses, so ask for fewer or smaller ones]
        ---
        Some(Truncation { total_bytes: 33008, kept_bytes: 8, output: None })"#]]).await;
    let links = (0..10_000).map(|_| Content::ResourceLink {
        uri: "x:y".to_owned(),
        name: "n".to_owned(),
        mime_type: None,
        size: None,
    });
    let reply = call_with(Limits::default(), in_memory(), ToolOutput::new(links.collect())).await;
    assert_eq!(reply.output.content.len(), 101);
    expect!["[left out and not kept: link of 4 bytes, link of 4 bytes, link of 4 bytes and 9897 more; a reply has at most 100 such parts with 5242880 bytes of media and 32768 bytes of addresses, so ask for fewer or smaller ones]"].assert_eq(reply.output.content[100].as_text().unwrap());
}

/// Fails in a way.
struct Broken(&'static str);

#[async_trait]
impl OutputStore for Broken {
    async fn store(&self, _: &CallScope, _: &CallId, text: String) -> Result<OutputId, OutputError> {
        match self.0 {
            "panics" => panic!("the store is broken"),
            "hangs" => std::future::pending().await,
            _ => Err(OutputError::NoRoom { bytes: text.len() as u64, most: 0 }),
        }
    }

    async fn read(
        &self,
        _: &CallScope,
        output: &OutputId,
        _: Range<u64>,
    ) -> Result<OutputChunk, OutputError> {
        Err(OutputError::Unknown { output: output.clone() })
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_costs_only_what_was_cut() {
    for way in ["refuses", "panics", "hangs"] {
        let reply = call_with(small(), Arc::new(Broken(way)), "1\n2\n3\n4\n5\n6\n7\n8\n9\n".into()).await;
        assert_eq!(
            outline(&reply),
            "ok\n1\n2\n3\n4\n[… 6 bytes, 3 lines cut here, and they could not be kept: ask for less at once to see them …]\n8\n9\n",
            "{way}"
        );
        assert_eq!(reply.truncation.unwrap().output, None);
    }
}

#[tokio::test]
async fn a_store_that_hangs_does_not_hold_up_a_call_that_is_cancelled() {
    let token = CancellationToken::new();
    let cancels = token.clone();
    let probe = Probe::new("t").run(move |_, _| {
        cancels.cancel();
        std::future::ready(Ok("1\n2\n3\n4\n5\n6\n7\n8\n9\n".into()))
    });
    let executor = LocalExecutor::builder(registry([probe]))
        .policy(anything())
        .limits(small())
        .outputs(Arc::new(Broken("hangs")))
        .build();
    let batch = Batch::new(scope(), vec![call("c1", "t", json!({}))]).cancelled_by(token);
    let reply = executor.execute_batch(batch).await.into_replies().unwrap().remove(0);
    assert!(outline(&reply).contains("3 lines cut here, and they could not be kept"), "{}", outline(&reply));
}

#[tokio::test]
async fn without_the_tool_the_model_is_not_sent_to_it() {
    let probe = Probe::new("t").says("1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let tools = registry([probe]);
    let executor =
        LocalExecutor::builder(tools).policy(anything()).limits(small()).outputs(in_memory()).build();
    expect![[r#"
        ok
        1
        2
        3
        4
        [… 6 bytes, 3 lines cut here and kept as the output o1: ask for less at once to see them …]
        8
        9
    "#]]
    .assert_eq(&outline(&reply(&executor, "t", json!({})).await));
}

#[tokio::test]
async fn what_the_tool_gives_that_reads_outputs_is_not_stored_again() {
    let outputs = in_memory();
    let tools = registry([Probe::new("t").says(&"line\n".repeat(9))])
        .with(ReadOutput::new(Arc::clone(&outputs)))
        .unwrap();
    let executor = LocalExecutor::builder(tools)
        .policy(anything())
        .limits(small())
        .outputs(Arc::clone(&outputs))
        .build();
    reply(&executor, "t", json!({})).await;
    reply(&executor, "read_output", json!({ "output": "o1" })).await;
    assert_eq!((whole(&*outputs, "o1").await.is_some(), whole(&*outputs, "o2").await), (true, None));
}

#[tokio::test(start_paused = true)]
async fn a_huge_text_is_kept_and_cut() {
    let directory = tempfile::tempdir().unwrap();
    let line = format!("{}\n", "0123456789".repeat(6));
    let text = line.repeat((64 << 20) / line.len());
    let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::spilling_into(directory.path()));
    let reply = call_with(Limits::default(), Arc::clone(&outputs), text.as_str().into()).await;
    let shown = reply.output.to_text();
    assert!(shown.len() < 33 * 1024, "{}", shown.len());
    let note = shown.lines().find(|line| line.starts_with('[')).unwrap();
    expect![[r#"[… 67076088 bytes, 1099608 lines cut here: `read_output` gives them, with output "o1" and offset 359 …]"#]].assert_eq(note);
    let output = reply.truncation.unwrap().output.unwrap();
    let chunk = outputs.read(&scope(), &output, 0..61).await.unwrap();
    assert_eq!((chunk.total_bytes, &chunk.bytes[..]), (text.len() as u64, line.as_bytes()));
}

#[tokio::test]
async fn secrets_are_neither_shown_nor_stored() {
    let (outputs, redactor) = (in_memory(), Redactor::new());
    redactor.add("hunter2").unwrap();
    let split = vec![Content::text("1\n2\n3 hun"), Content::text("ter2\n4\n5\n6\n7 hunter2\n8\n9\n")];
    let probe = Probe::new("t").schema(json!({ "properties": { "n": { "type": "integer" } } }));
    let probe = probe.run(move |_, _| std::future::ready(Ok(ToolOutput::new(split.clone()))));
    let fails = Probe::new("fails").declare(|_| Err(haft_core::ToolError::failed("wrong key hunter2")));
    let executor = LocalExecutor::builder(registry([probe, fails]))
        .policy(anything())
        .limits(small())
        .outputs(Arc::clone(&outputs))
        .redactor(redactor)
        .build();
    let calls = vec![
        call("c1", "t", json!({ "n": "5" })),
        call("c2", "fails", json!({})),
        call("c3", "hunter2", json!({})),
    ];
    let replies = replies(&executor, calls).await;
    expect![[r#"
        ok
        1
        2
        3 [redacted]

        [… 19 bytes, 4 lines cut here and kept as the output o1: ask for less at once to see them …]
        8
        9

        [the arguments were changed: /n: took a string as the value it spells ("5" → 5)]
        ---
        error: failed
        wrong key [redacted]
        ---
        error: unknown tool
        there is no tool `[r
        [… 30 bytes, 1 line cut here and kept as the output o2: ask for less at once to see them …]
        s` and `t`"#]]
    .assert_eq(&replies.iter().map(outline).collect::<Vec<_>>().join("\n---\n"));
    expect![[r#"
        1
        2
        3 [redacted]

        4
        5
        6
        7 [redacted]
        8
        9
    "#]]
    .assert_eq(&whole(&*outputs, "o1").await.unwrap());
}

#[tokio::test]
async fn what_others_wrote_is_shown_as_it_is() {
    let text = "name\u{202e}txt.exe \u{1b}[2J \u{200b}\u{e0041}\n\tok 👩\u{200d}🚀";
    let output = ToolOutput::new(vec![Content::text(text), Content::json(json!({ "k\u{200b}": [text] }))])
        .with_structured(json!({ "s": "\u{200b}" }))
        .with_details(json!({ "host": "\u{200b}" }));
    let mcp = haft_core::Origin::Mcp { server: "s".into(), tool: "t".into() };
    let probe = |name: &str| {
        let output = output.clone();
        Probe::new(name).run(move |_, _| std::future::ready(Ok(output.clone())))
    };
    let foreign = probe("foreign").spec(|spec| spec.with_origin(mcp));
    let executor = LocalExecutor::builder(registry([probe("own"), foreign])).policy(anything()).build();
    assert_eq!(reply(&executor, "own", json!({})).await.output, output);
    let reply = reply(&executor, "foreign", json!({})).await;
    expect![[r#"
        ok
        name\u{202e}txt.exe \u{1b}[2J \u{200b}\u{e0041}
        	ok 👩‍🚀
        {"k\\u{200b}":["name\\u{202e}txt.exe \\u{1b}[2J \\u{200b}\\u{e0041}\n\tok 👩‍🚀"]}
        Some(Object {"s": String("\\u{200b}")})
        Object {"host": String("\u{200b}")}"#]]
    .assert_eq(&format!("{}\n{:?}\n{:?}", outline(&reply), reply.output.structured, reply.output.details));
}
