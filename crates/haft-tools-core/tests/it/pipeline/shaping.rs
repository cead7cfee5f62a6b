use crate::fixture::{Probe, anything, outline, permissive, reply};
use expect_test::{Expect, expect};
use haft_core::{Content, ToolError, ToolOutput, ToolReply, Truncation};
use haft_tools_core::{Limits, LocalExecutor, Selector, ToolLimits, ToolRegistry};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

async fn call_with(most_bytes: usize, output: ToolOutput) -> ToolReply {
    let probe = Probe::new("t").run(move |_, _| std::future::ready(Ok(output.clone())));
    let limits = Limits { output_bytes: most_bytes, ..Limits::default() };
    reply(&permissive([probe]).limits(limits).build(), "t", json!({})).await
}

async fn check(most_bytes: usize, output: ToolOutput, expect: Expect) {
    let reply = call_with(most_bytes, output).await;
    let cut = reply.truncation.map(|Truncation { total_bytes, kept_bytes, .. }| (total_bytes, kept_bytes));
    let parts = reply.output.content.iter().map(|part| format!("{part:?}\n")).collect::<Vec<_>>().concat();
    expect.assert_eq(&format!("{parts}{cut:?}"));
}

#[tokio::test]
async fn an_output_within_its_bound_is_left_alone() {
    check(
        5,
        "12345".into(),
        expect![[r#"
        Text { text: "12345" }
        None"#]],
    )
    .await;
    check(
        0,
        "".into(),
        expect![[r#"
        Text { text: "" }
        None"#]],
    )
    .await;
    check(
        7,
        ToolOutput::new(vec![Content::json(json!({ "a": 1 }))]),
        expect![[r#"
        Json { value: Object {"a": Number(1)} }
        None"#]],
    )
    .await;
}

#[tokio::test]
async fn the_middle_of_a_long_text_is_cut_on_lines() {
    let lines = (1..=40).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat();
    check(90, lines.as_str().into(), expect![[r#"
        Text { text: "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n[… 231 bytes, 29 lines cut here: ask for less at once to see them …]\nline 38\nline 39\nline 40\n" }
        Some((311, 80))"#]]).await;
    check(90, lines.trim_end().into(), expect![[r#"
        Text { text: "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n[… 231 bytes, 29 lines cut here: ask for less at once to see them …]\nline 38\nline 39\nline 40" }
        Some((310, 79))"#]]).await;
}

#[tokio::test]
async fn one_giant_line_is_cut_on_characters() {
    check(
        30,
        "é".repeat(100).as_str().into(),
        expect![[r#"
        Text { text: "éééééééééé\n[… 170 bytes, 1 line cut here: ask for less at once to see them …]\nééééé" }
        Some((200, 30))"#]],
    )
    .await;
    check(31, "👩\u{200d}🚀".repeat(20).as_str().into(), expect![[r#"
        Text { text: "👩\u{200d}🚀👩\u{200d}\n[… 195 bytes, 1 line cut here: ask for less at once to see them …]\n\u{200d}🚀" }
        Some((220, 25))"#]]).await;
    check(
        0,
        "é".into(),
        expect![[r#"
        Text { text: "[… 2 bytes, 1 line cut here: ask for less at once to see them …]\n" }
        Some((2, 0))"#]],
    )
    .await;
    check(
        1,
        "éé".into(),
        expect![[r#"
        Text { text: "[… 4 bytes, 1 line cut here: ask for less at once to see them …]\n" }
        Some((4, 0))"#]],
    )
    .await;
}

#[tokio::test]
async fn json_that_is_cut_becomes_text() {
    let long: Vec<u32> = (0..100).collect();
    check(30, ToolOutput::json(json!(long)), expect![[r#"
        Text { text: "[\n  0,\n  1,\n  2,\n[… 569 bytes, 96 lines cut here: ask for less at once to see them …]\n  99\n]" }
        Some((592, 23))"#]]).await;
}

#[tokio::test]
async fn several_parts_are_bounded_together_and_keep_the_last() {
    let image = || Content::image(vec![0; 1_000], "image/png");
    let parts = vec![
        Content::text("head\n"),
        Content::text("a".repeat(200)),
        image(),
        Content::text("b".repeat(200)),
        Content::text("exit code 1"),
    ];
    check(60, ToolOutput::new(parts), expect![[r#"
        Text { text: "head\n" }
        Text { text: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n[… 365 bytes, 2 lines cut here: ask for less at once to see them …]\n" }
        Image { data: Blob(1000 bytes), mime_type: "image/png" }
        Text { text: "exit code 1" }
        Some((416, 51))"#]]).await;
    let resource = |text: &str| Content::Resource {
        uri: "https://example.org/a/long/address/of/a/document".to_owned(),
        mime_type: None,
        text: Some(text.to_owned()),
        data: None,
    };
    check(10, ToolOutput::new(vec![resource("short")]), expect![[r#"
        Resource { uri: "https://example.org/a/long/address/of/a/document", mime_type: None, text: Some("short"), data: None }
        None"#]]).await;
    check(9, ToolOutput::new(vec![resource("first and last")]), expect![[r#"
        Resource { uri: "https://example.org/a/long/address/of/a/document", mime_type: None, text: Some("first \n[… 5 bytes, 1 line cut here: ask for less at once to see them …]\nast"), data: None }
        Some((14, 9))"#]]).await;
}

#[tokio::test]
async fn many_small_parts_are_not_made_larger_by_cutting_them() {
    let parts: Vec<Content> = (0..10_000).map(|_| Content::text("ab\n")).collect();
    let reply = call_with(60, ToolOutput::new(parts)).await;
    expect![[r#"
        ok
        ab

        ab

        ab

        ab

        ab

        ab

        ab

        ab

        ab

        ab

        ab

        ab

        ab

        [… 29943 bytes, 9981 lines cut here: ask for less at once to see them …]

        ab

        ab

        ab

        ab

        ab

        ab
    "#]]
    .assert_eq(&outline(&reply));
}

#[tokio::test]
async fn what_goes_wrong_is_bounded_too() {
    let limits = Limits { output_bytes: 60, ..Limits::default() };
    let fails =
        Probe::new("fails").run(|_, _| std::future::ready(Err(ToolError::failed("x".repeat(100_000)))));
    let refuses = Probe::new("refuses").declare(|_| Err(ToolError::invalid_input("y".repeat(100_000))));
    let executor = permissive([fails, refuses]).limits(limits).build();
    expect![[r#"
        error: failed
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        [… 99940 bytes, 1 line cut here: ask for less at once to see them …]
        xxxxxxxxxxxxxxxxxxxx"#]]
    .assert_eq(&outline(&reply(&executor, "fails", json!({})).await));
    let answer = reply(&executor, "refuses", json!({})).await;
    expect![[r#"
        error: invalid input
        yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
        [… 99940 bytes, 1 line cut here: ask for less at once to see them …]
        yyyyyyyyyyyyyyyyyyyy"#]]
    .assert_eq(&outline(&answer));
    assert_eq!(answer.truncation.map(|cut| cut.total_bytes), Some(100_000));
}

#[tokio::test]
async fn structured_results_and_details_are_the_hosts_and_stay_whole() {
    let value = json!({ "text": "z".repeat(100) });
    let output = ToolOutput::json(value.clone()).with_details(json!({ "exit": 1 }));
    let reply = call_with(20, output).await;
    assert_eq!((reply.output.structured, reply.output.details), (Some(value), json!({ "exit": 1 })));
}

/// Calls a tool that gives 100 bytes; gives how many it is told that a reply may have, which is how many are kept.
async fn bound(own: Option<usize>, (usual, bounded): (usize, usize), bounds: bool) -> usize {
    let told = Arc::new(AtomicUsize::new(0));
    let into = Arc::clone(&told);
    let probe = Probe::new("t").run(move |_, cx| {
        into.store(cx.output_bytes(), Ordering::Relaxed);
        std::future::ready(Ok(ToolOutput::text("x".repeat(100))))
    });
    let probe = if bounds { probe.bounds_replies() } else { probe };
    let limits = Limits { output_bytes: usual, bounded_output_bytes: bounded, ..Limits::default() };
    // Under whatever name it stands.
    let tools = ToolRegistry::new().with(probe).unwrap().prefixed("p").unwrap();
    let tools = tools.without_repair(&Selector::all());
    let executor = LocalExecutor::builder(tools).policy(anything()).limits(limits);
    let others = ToolLimits { output_lines: Some(7), output_bytes: own, ..ToolLimits::default() };
    let executor = executor.tool_limits("p__t".parse().unwrap(), others).build();
    let reply = reply(&executor, "p__t", json!({})).await;
    let told = told.load(Ordering::Relaxed);
    let kept = usize::try_from(reply.truncation.unwrap().kept_bytes).unwrap();
    assert!((told - 2..=told).contains(&kept), "{kept} of {told}");
    told
}

#[tokio::test]
async fn a_tool_that_bounds_its_replies_has_a_bound_of_its_own_and_is_told_it() {
    assert_eq!(bound(None, (40, 80), false).await, 40);
    assert_eq!(bound(None, (40, 80), true).await, 80);
    assert_eq!(bound(None, (40, 0), true).await, 40);
    assert_eq!(bound(Some(60), (40, 80), true).await, 60);
    assert_eq!(bound(Some(60), (40, 80), false).await, 60);
}
