use crate::fixture::{Probe, call, permissive, read, registry, replies, scope, write};
use haft_core::{ReplyStatus, ToolCall, ToolError};
use haft_tools_core::{
    Access, Accesses, Approval, Batch, LocalExecutor, LocalExecutorBuilder, PendingCall, Policy, Preview,
    Rule, ToolExecutor as _, Widths, approver_fn,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Declares what the input says: `read`, `write` or `opaque`, and a printed resource.
fn declared(input: &Value) -> Accesses {
    let of = |name: &str| input[name].as_str();
    match (of("read"), of("write")) {
        (Some(resource), _) => read(resource).into(),
        (None, Some(resource)) => write(resource).into(),
        (None, None) => Access::opaque("a script").into(),
    }
}

/// A tool that does what the input says it does, for so many milliseconds.
fn work() -> Probe {
    Probe::new("work").declare(|input| Ok(declared(input))).run(|input, _| async move {
        sleep(Duration::from_millis(input["ms"].as_u64().unwrap_or(10))).await;
        Ok("".into())
    })
}

fn calls(inputs: impl IntoIterator<Item = Value>) -> Vec<ToolCall> {
    let numbered = inputs.into_iter().enumerate();
    numbered.map(|(place, input)| call(&format!("c{place}"), "work", input)).collect()
}

async fn time(executor: &LocalExecutor, inputs: impl IntoIterator<Item = Value>) -> u128 {
    let started = Instant::now();
    let replies = replies(executor, calls(inputs)).await;
    assert!(replies.iter().all(|reply| reply.status.is_ok()), "{replies:?}");
    started.elapsed().as_millis()
}

#[tokio::test(start_paused = true)]
async fn calls_overlap_unless_they_touch_the_same_things() {
    let executor = permissive([work()]).build();
    let reads = (0..32).map(|_| json!({ "read": "file:a" }));
    assert_eq!(time(&executor, reads).await, 10);
    let one_file =
        (0..8).map(|n| if n % 2 == 0 { json!({ "read": "file:a" }) } else { json!({ "write": "file:a" }) });
    assert_eq!(time(&executor, one_file).await, 80);
    let files = (0..16).map(|n| {
        if n % 2 == 0 {
            json!({ "read": format!("file:{n}") })
        } else {
            json!({ "write": format!("file:{n}") })
        }
    });
    assert_eq!(time(&executor, files).await, 10);
    let tree = [
        json!({ "write": "file:src/a" }),
        json!({ "read": "file:src/**" }),
        json!({ "write": "file:doc/a" }),
    ];
    assert_eq!(time(&executor, tree).await, 20);
    let below = [json!({ "write": "file:a" }), json!({ "read": "file:a/b" }), json!({ "write": "file:a/c" })];
    assert_eq!(time(&executor, below).await, 20);
    let opaque = [json!({ "read": "file:a" }), json!({}), json!({ "read": "file:a" })];
    assert_eq!(time(&executor, opaque).await, 30);
}

#[tokio::test(start_paused = true)]
async fn widths_bound_each_class_for_the_whole_tree() {
    let widths = Widths { read: 2, write: 1, ..Widths::default() };
    let root = permissive([work()]).widths(&widths).build();
    let child = permissive([work()]).in_tree_of(&root).build();
    let reads = || (0..4).map(|n| json!({ "read": format!("file:{n}") }));
    assert_eq!(time(&root, reads()).await, 20);
    let started = Instant::now();
    tokio::join!(time(&root, reads()), time(&child, reads()));
    assert_eq!(started.elapsed().as_millis(), 40);
}

#[tokio::test(start_paused = true)]
async fn calls_of_other_batches_of_the_tree_are_respected() {
    let root = permissive([work()]).build();
    let child = permissive([work()]).in_tree_of(&root).build();
    let stranger = permissive([work()]).build();
    let writes = || [json!({ "write": "file:a" })];
    let started = Instant::now();
    tokio::join!(time(&root, writes()), time(&child, writes()), time(&stranger, writes()));
    assert_eq!(started.elapsed().as_millis(), 20);
}

/// A tool that makes a call of itself until it is deep enough, each time touching what the input says.
fn nests() -> Probe {
    Probe::new("work").declare(|input| Ok(declared(input))).run(|input, cx| async move {
        let depth = input["depth"].as_u64().unwrap_or_default();
        if depth > 0 {
            let mut inner = input.clone();
            inner["depth"] = json!(depth - 1);
            let reply = cx.call(call(&format!("n{depth}"), "work", inner)).await;
            if !reply.status.is_ok() {
                return Err(ToolError::failed(reply.output.to_text()));
            }
        }
        sleep(Duration::from_millis(10)).await;
        Ok("".into())
    })
}

#[tokio::test(start_paused = true)]
async fn calls_made_by_calls_wait_neither_for_their_callers_place_nor_for_its_room() {
    let narrow = Widths { read: 1, connect: 1, write: 1, execute: 1, opaque: 1, tools: Vec::new() };
    let executor = permissive([nests()]).widths(&narrow).build();
    for input in [
        json!({ "depth": 3 }),
        json!({ "depth": 3, "write": "file:a" }),
        json!({ "depth": 3, "read": "file:a" }),
    ] {
        // Two at once, so that there is somebody to be stuck with.
        assert_eq!(time(&executor, [input.clone(), input]).await, 80);
    }
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_its_turn_can_be_cancelled_and_lets_nobody_pass() {
    let executor = permissive([work()]).build();
    let (first, token) = (calls([json!({ "write": "file:a", "ms": 100 })]), CancellationToken::new());
    let second = Batch::new(scope(), calls([json!({ "write": "file:a" })])).cancelled_by(token.clone());
    let started = Instant::now();
    let cancel = async {
        sleep(Duration::from_millis(10)).await;
        token.cancel();
    };
    let third = async {
        sleep(Duration::from_millis(5)).await;
        time(&executor, [json!({ "write": "file:a" })]).await
    };
    let ((), _, second, third) =
        tokio::join!(cancel, replies(&executor, first), executor.execute_batch(second), third);
    assert_eq!(second.into_replies().unwrap()[0].status, ReplyStatus::Cancelled);
    assert_eq!((third, started.elapsed().as_millis()), (105, 110));
}

/// Tools over a set of names: `make` adds one, `take` needs it to be there already when it is prepared.
fn makers(names: &Arc<Mutex<Vec<String>>>) -> LocalExecutorBuilder {
    let (added, known) = (Arc::clone(names), Arc::clone(names));
    let name = |input: &Value| input["name"].as_str().unwrap_or_default().to_owned();
    let make = Probe::new("make")
        .declare(move |input| Ok(write(&format!("file:{}", name(input))).into()))
        .run(move |input, _| {
            let added = Arc::clone(&added);
            async move {
                sleep(Duration::from_millis(10)).await;
                added.lock().unwrap().push(name(&input));
                Ok("made".into())
            }
        });
    let take = Probe::new("take")
        .declare(move |input| {
            let name = name(input);
            if known.lock().unwrap().contains(&name) {
                Ok(read(&format!("file:{name}")).into())
            } else {
                Err(ToolError::not_found(format!("there is no `{name}`; make it first")))
            }
        })
        .says("taken");
    permissive([make, take])
}

#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_be_prepared_waits_for_those_that_may_change_that() {
    let executor = makers(&Arc::default()).build();
    let named = |id: &str, tool: &str, name: &str| call(id, tool, json!({ "name": name }));
    let batch = vec![
        named("c1", "take", "a"),
        named("c2", "make", "a"),
        named("c3", "take", "a"),
        named("c4", "take", "b"),
        named("c5", "make", "b"),
        named("c6", "take", "b"),
    ];
    let statuses: Vec<String> =
        replies(&executor, batch).await.iter().map(|reply| reply.status.to_string()).collect();
    assert_eq!(statuses, ["error: not found", "ok", "ok", "error: not found", "ok", "ok"]);
}

#[tokio::test(start_paused = true)]
async fn a_person_is_shown_what_will_run_and_not_what_would_have_run_before() {
    let (names, shown) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<Mutex<Vec<String>>>::default());
    let (listed, seen) = (Arc::clone(&names), Arc::clone(&shown));
    let make = Probe::new("make").declare(|_| Ok(write("file:a").into())).run(move |_, _| {
        let names = Arc::clone(&names);
        async move {
            sleep(Duration::from_millis(10)).await;
            names.lock().unwrap().push("a".to_owned());
            Ok("made".into())
        }
    });
    let list = Probe::new("list").declare(|_| Ok(write("file:a").into())).says("listed").show(move |_| {
        let names = listed.lock().unwrap().join(" ");
        async move { Preview::Text(names) }
    });
    let executor = LocalExecutor::builder(registry([make, list]))
        .policy(Policy::new().allow(Rule::tools("make".parse().unwrap())))
        .approver(approver_fn(move |pending: &PendingCall| {
            seen.lock().unwrap().push(pending.preview.as_text().to_owned());
            Approval::Approve
        }))
        .build();
    replies(&executor, vec![call("c1", "make", json!({})), call("c2", "list", json!({}))]).await;
    assert_eq!(*shown.lock().unwrap(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn an_approval_does_not_pass_to_a_call_that_touches_less_than_was_shown() {
    let (small, asked) = (Arc::<Mutex<bool>>::default(), Arc::<Mutex<Vec<usize>>>::default());
    let (shrinks, seen) = (Arc::clone(&small), Arc::clone(&asked));
    let slow = Probe::new("slow").declare(|_| Ok(write("file:b").into())).run(move |_, _| {
        let small = Arc::clone(&small);
        async move {
            sleep(Duration::from_millis(10)).await;
            *small.lock().unwrap() = true;
            Ok("".into())
        }
    });
    let edited = Probe::new("edited").says("ran").declare(move |input| {
        let whole = input["whole"].as_bool().unwrap_or_default() && !*shrinks.lock().unwrap();
        let rest = whole.then(|| write("file:b"));
        Ok([write("file:a")].into_iter().chain(rest).collect())
    });
    let executor = LocalExecutor::builder(registry([slow, edited]))
        .policy(Policy::new().allow(Rule::tools("slow".parse().unwrap())))
        .approver(approver_fn(move |pending: &PendingCall| {
            let mut seen = seen.lock().unwrap();
            seen.push(pending.accesses.len());
            // What the person writes touches what the call before it still works on.
            if seen.len() == 1 {
                Approval::Edit { input: json!({ "whole": true }) }
            } else {
                Approval::Approve
            }
        }))
        .build();
    let replies =
        replies(&executor, vec![call("c1", "slow", json!({})), call("c2", "edited", json!({}))]).await;
    assert!(replies.iter().all(|reply| reply.status.is_ok()), "{replies:?}");
    assert_eq!(*asked.lock().unwrap(), [1, 1], "asked about the edited call again, as it then was");
}
