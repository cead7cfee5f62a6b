use crate::fixture::{Probe, call, outline, outlines, permissive, replies, reply, work, works, write};
use expect_test::expect;
use futures_util::future::join_all;
use haft_core::ToolCall;
use haft_tools_core::{CallContext, LocalExecutor, LocalExecutorBuilder, Selector, Strategy, Widths};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

fn tool(name: &str, width: usize) -> (Selector, usize) {
    (name.parse().unwrap(), width)
}

fn widths(tools: impl IntoIterator<Item = (Selector, usize)>) -> Widths {
    Widths { tools: tools.into_iter().collect(), ..Widths::default() }
}

fn one() -> Widths {
    Widths { read: 1, connect: 1, write: 1, execute: 1, opaque: 1, tools: vec![tool("*", 1)] }
}

/// Says how many milliseconds calls took that all end well.
async fn time(executor: &LocalExecutor, calls: Vec<ToolCall>) -> u128 {
    let started = Instant::now();
    let replies = replies(executor, calls).await;
    assert!(replies.iter().all(|reply| reply.status.is_ok()), "{}", outlines(&replies));
    started.elapsed().as_millis()
}

fn working(widths: &Widths) -> LocalExecutorBuilder {
    permissive([work(), named("other")]).widths(widths)
}

/// Is another tool that takes 10 ms.
fn named(name: &str) -> Probe {
    Probe::new(name).run(|_, _| async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok("done".into())
    })
}

fn some(name: &str, count: usize) -> Vec<ToolCall> {
    (0..count).map(|place| call(&format!("{name}-{place}"), name, json!({}))).collect()
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_tool_are_bounded_besides_their_class() {
    assert_eq!(time(&working(&widths([])).build(), some("work", 6)).await, 10);
    assert_eq!(time(&working(&widths([tool("work", 2)])).build(), some("work", 6)).await, 30);
    assert_eq!(time(&working(&widths([tool("work", 2)])).build(), some("other", 6)).await, 10);
    // Each tool on its own, and by the first selector that concerns it.
    let each = working(&widths([tool("other", 3), tool("*", 2)])).build();
    assert_eq!(time(&each, [some("work", 6), some("other", 6)].concat()).await, 30);
    assert_eq!(time(&each, some("other", 6)).await, 20);
    // Whichever of both is narrower.
    let narrow = Widths { read: 1, ..widths([tool("work", 3)]) };
    assert_eq!(time(&working(&narrow).build(), some("work", 6)).await, 60);
    let writes = works((0..6).map(|file| json!({ "write": format!("file:{file}") })));
    assert_eq!(time(&working(&widths([tool("work", 3)])).build(), writes).await, 20);
    // No room at all would be no tool.
    assert_eq!(time(&working(&widths([tool("work", 0)])).build(), some("work", 2)).await, 20);
    assert_eq!(time(&working(&widths([tool("work", usize::MAX)])).build(), some("work", 2)).await, 10);
    let parallel = working(&widths([tool("work", 2)])).strategy(Strategy::Parallel).build();
    assert_eq!(time(&parallel, some("work", 6)).await, 30);
}

#[tokio::test(start_paused = true)]
async fn the_room_of_a_tool_is_shared_by_batches_and_the_tree() {
    let root = working(&widths([tool("work", 2)])).build();
    let child = working(&Widths::default()).in_tree_of(&root).build();
    let started = Instant::now();
    tokio::join!(time(&root, some("work", 2)), time(&root, some("work", 2)), time(&child, some("work", 2)));
    assert_eq!(started.elapsed().as_millis(), 30);
    // Other tools of its class go on meanwhile.
    let started = Instant::now();
    let (_, other) = tokio::join!(time(&root, some("work", 20)), time(&root, some("other", 2)));
    assert_eq!((started.elapsed().as_millis(), other), (100, 10));
}

/// Is a tool that makes so many calls of itself at once, so deep, and touches a file meanwhile.
fn tree() -> Probe {
    Probe::new("tree")
        .declare(|input| {
            Ok(if input["writes"] == true {
                write("file:a").into()
            } else {
                Vec::new().into_iter().collect()
            })
        })
        .run(|input: Value, cx: CallContext| async move {
            let (depth, width) = (input["depth"].as_u64().unwrap(), input["width"].as_u64().unwrap());
            tokio::task::yield_now().await;
            if depth == 0 {
                return Ok("leaf".into());
            }
            let cx = &cx;
            let calls = (0..width).map(|place| {
                let mut below = input.clone();
                below["depth"] = (depth - 1).into();
                async move { cx.call(call(&format!("d{depth}-{place}"), "tree", below)).await }
            });
            let replies = join_all(calls).await;
            let texts: Vec<String> = replies.iter().map(|reply| reply.output.to_text()).collect();
            Ok(format!("[{}]", texts.join(" ")).into())
        })
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_calls_itself_does_not_wait_for_itself() {
    let executor = permissive([tree()]).widths(&one()).build();
    let check = async |input: Value| {
        let ended = tokio::time::timeout(Duration::from_mins(1), reply(&executor, "tree", input)).await;
        outline(&ended.expect("it does not hang"))
    };
    expect![[r#"
        ok
        [[[leaf]]]"#]]
    .assert_eq(&check(json!({ "depth": 3, "width": 1 })).await);
    expect![[r#"
        ok
        [[[leaf leaf] [leaf leaf]] [[leaf leaf] [leaf leaf]]]"#]]
    .assert_eq(&check(json!({ "depth": 3, "width": 2 })).await);
    expect![[r#"
        ok
        [[[leaf leaf] [leaf leaf]] [[leaf leaf] [leaf leaf]]]"#]]
    .assert_eq(&check(json!({ "depth": 3, "width": 2, "writes": true })).await);
    let calls = (0..4)
        .map(|place| call(&format!("c{place}"), "tree", json!({ "depth": 3, "width": 2, "writes": true })));
    let several = tokio::time::timeout(Duration::from_mins(1), replies(&executor, calls.collect())).await;
    assert!(several.expect("they do not hang").iter().all(|reply| reply.status.is_ok()));
}
