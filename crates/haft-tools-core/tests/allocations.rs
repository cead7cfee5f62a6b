//! What calls cost in allocations and bytes, which is the same on every machine.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

use haft_core::{ToolCall, ToolError};
use haft_testkit::counting::{Counting, Spent};
use haft_tools_core::{
    Access, Accesses, Batch, CallContext, CallScope, Cancel, LocalExecutor, Policy, Resource, Rule, Scheme,
    Selector, Tool, ToolExecutor as _, ToolRegistry, Widths, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the fields are parsed and not used: the tool does nothing")]
struct Input {
    /// A file.
    path: String,
    /// A number.
    limit: u32,
    /// A flag.
    recursive: bool,
}

const FILE: Scheme = Scheme::new("file");

#[expect(clippy::unnecessary_wraps, reason = "this is the form in which accesses are declared")]
fn touches(input: &Input) -> Result<Accesses, ToolError> {
    Ok(Access::write(Resource::exact(FILE, input.path.as_str())).into())
}

fn registry(tools: usize) -> ToolRegistry {
    let no_op = |number: usize| {
        tool_fn(
            &format!("tool_{number}"),
            "Does nothing.",
            Accesses::none(),
            |_: Input, _: CallContext| async { Ok::<_, ToolError>("") },
        )
        .unwrap()
    };
    ToolRegistry::of((0..tools).map(|number| Arc::new(no_op(number)) as Arc<dyn Tool>)).unwrap()
}

fn anything() -> Policy {
    Policy::new().allow(Rule::tools(Selector::all()))
}

fn scope() -> CallScope {
    CallScope::new("run-1".parse().unwrap())
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

fn call(id: &str, tool: &str, path: &str) -> ToolCall {
    ToolCall::new(id.parse().unwrap(), tool, json!({ "path": path, "limit": 5, "recursive": true }))
}

/// Measures one call among so many tools, its arguments included, once everything is warm.
fn one_call(tools: usize) -> Spent {
    let executor = LocalExecutor::builder(registry(tools)).policy(anything()).build();
    let (scope, name) = (scope(), format!("tool_{}", tools / 2));
    runtime().block_on(async {
        let mut least = None;
        for _ in 0..3 {
            let before = Spent::so_far();
            let batch = Batch::new(scope.clone(), vec![call("c1", &name, "src/lib.rs")]);
            let replies = executor.execute_batch(batch).await.into_replies().unwrap();
            let all = Spent::so_far() - before;
            assert!(replies[0].status.is_ok());
            least = Some(all);
        }
        least.unwrap()
    })
}

#[test]
fn a_call_costs_the_same_however_many_tools_there_are() {
    let few = one_call(10);
    assert!(few.allocations <= 16 && few.bytes <= 2_048, "{few:?}");
    let many = one_call(10_000);
    // The names differ in length, and nothing else.
    assert_eq!(many.allocations, few.allocations);
    assert!(many.bytes.abs_diff(few.bytes) <= 32, "{many:?} {few:?}");
}

#[test]
fn the_unchanged_list_of_tools_costs_next_to_nothing() {
    let registry = registry(1_000);
    let before = Spent::so_far();
    let list = registry.direct_specs();
    assert!((Spent::so_far() - before).allocations <= 2);
    assert_eq!(list.len(), 1_000);
}

/// Measures how many bytes a batch of so many calls keeps for each while all but one wait.
fn waiting(calls: usize, path: impl Fn(usize) -> String) -> i64 {
    let hold = tool_fn("hold", "Holds on.", touches, |_: Input, cx: CallContext| async move {
        cx.cancellation().cancelled().await;
        Ok::<_, ToolError>("")
    })
    .unwrap();
    let executor = LocalExecutor::builder(ToolRegistry::new().with(hold).unwrap())
        .policy(anything())
        .widths(&Widths { write: 1, ..Widths::default() })
        .build();
    let calls: Vec<ToolCall> =
        (0..calls).map(|place| call(&format!("c{place}"), "hold", &path(place))).collect();
    let count = calls.len();
    runtime().block_on(async {
        let before = Spent::so_far();
        let mut batch = executor.execute_batch(Batch::new(scope(), calls));
        let polled = poll_fn(|task| Poll::Ready(batch.as_mut().poll(task))).await;
        assert!(polled.is_pending());
        let kept = (Spent::so_far() - before).live;
        assert_eq!(executor.cancel(&Cancel::Tree), count);
        assert_eq!(batch.await.outcomes().len(), count);
        executor.idle().await;
        kept / i64::try_from(count).unwrap()
    })
}

#[test]
fn a_call_that_waits_keeps_little() {
    let one_file = |_: usize| "same".to_owned();
    let files = |place: usize| format!("dir/{place}");
    // For its turn, and for room.
    for (few, many) in [
        (waiting(1_000, one_file), waiting(10_000, one_file)),
        (waiting(1_000, files), waiting(10_000, files)),
    ] {
        assert!(many <= 2 * 1_024, "{many} bytes");
        assert!(many <= few + few / 4, "{few} bytes for each of 1,000, {many} for each of 10,000");
    }
}
