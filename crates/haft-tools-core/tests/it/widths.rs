use crate::fixture::{
    Probe, call, outline, outlines, permissive, registry, replies, reply, resource, work, works, write,
};
use async_trait::async_trait;
use expect_test::expect;
use futures_util::future::join_all;
use haft_core::ToolCall;
use haft_tools_core::{
    Access, Approval, Approver, AskedQuestion, CallContext, LocalExecutor, LocalExecutorBuilder, PendingCall,
    Policy, Question, QuestionOutcome, Rule, Selector, Strategy, Widths,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
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

#[tokio::test(start_paused = true)]
async fn each_class_has_the_room_that_is_usual() {
    let probe = Probe::new("work").declare(|input| {
        let resource = resource(&format!("file:{}", input["place"]));
        Ok(match input["does"].as_str().unwrap() {
            "read" => Access::read(resource),
            "write" => Access::write(resource),
            "execute" => Access::execute(resource),
            "connect" => Access::connect(resource),
            "call" => Access::call(resource),
            _ => Access::opaque("something"),
        }
        .into())
    });
    let probe = probe.run(|_, _| async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok("done".into())
    });
    // Without an order of their own, so that room is all that they wait for.
    let executor = permissive([probe]).strategy(Strategy::Parallel).build();
    for (does, room) in
        [("read", 32), ("write", 8), ("execute", 4), ("connect", 16), ("call", 16), ("opaque", 1)]
    {
        let calls = works((0..=2 * room).map(|place| json!({ "does": does, "place": place })));
        assert_eq!(time(&executor, calls).await, 30, "{does}");
    }
}

/// Is a person who answers when another call has run.
struct AnswersLater(Arc<Notify>);

#[async_trait]
impl Approver for AnswersLater {
    async fn approve(&self, _: &PendingCall) -> Approval {
        self.0.notified().await;
        Approval::Approve
    }

    async fn answer(&self, _: &AskedQuestion) -> QuestionOutcome {
        self.0.notified().await;
        QuestionOutcome::Answered { answer: json!(true) }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_person_holds_no_room() {
    let has_run = Arc::new(Notify::new());
    let asks = Probe::new("asks").run(|_, cx: CallContext| async move {
        Ok(cx.ask(Question::confirm("Go on?")).await.map_or("nobody", |_| "answered").into())
    });
    let approved = Probe::new("approved").says("approved");
    let runs = Arc::clone(&has_run);
    let other = Probe::new("other").run(move |_, _| {
        runs.notify_one();
        std::future::ready(Ok("done".into()))
    });
    let rules = ["asks", "other"].map(|tool| Rule::tools(tool.parse().unwrap()));
    let policy = rules.into_iter().fold(Policy::new(), Policy::allow);
    let executor = LocalExecutor::builder(registry([asks, approved, other]))
        .policy(policy)
        .approver(AnswersLater(has_run))
        .widths(&one())
        .build();
    for waits in ["asks", "approved"] {
        let calls = vec![call("c1", waits, json!({})), call("c2", "other", json!({}))];
        let ended = tokio::time::timeout(Duration::from_mins(1), replies(&executor, calls)).await;
        let replies = ended.expect("the other call has room");
        assert!(replies.iter().all(|reply| reply.status.is_ok()), "{}", outlines(&replies));
    }
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
