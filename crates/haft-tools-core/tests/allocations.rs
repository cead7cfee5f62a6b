//! What calls cost in allocations and bytes, which is the same on every machine.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]
#![expect(unsafe_code, reason = "an allocator cannot be written without; every call is handed on as it came")]

use haft_core::{ToolCall, ToolError};
use haft_tools_core::{
    Access, Accesses, Batch, CallContext, CallScope, Cancel, LocalExecutor, Policy, Resource, Rule, Scheme,
    Selector, Tool, ToolExecutor as _, ToolRegistry, Widths, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts what each thread asks of the system's allocator, so that tests can run beside each other.
struct Counting;

/// What a thread has asked for so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Spent {
    /// Allocations, and reallocations as one each.
    allocations: i64,
    /// Bytes asked for.
    bytes: i64,
    /// Bytes asked for and not given back.
    kept: i64,
}

thread_local! {
    static SPENT: Cell<Spent> = const { Cell::new(Spent { allocations: 0, bytes: 0, kept: 0 }) };
}

fn count(allocated: Option<usize>, freed: usize) {
    let signed = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
    // A thread that is ending counts no more.
    let _ = SPENT.try_with(|spent| {
        let Spent { allocations, bytes, kept } = spent.get();
        let asked = signed(allocated.unwrap_or(0));
        spent.set(Spent {
            allocations: allocations + i64::from(allocated.is_some()),
            bytes: bytes + asked,
            kept: kept + asked - signed(freed),
        });
    });
}

// SAFETY: every method hands its arguments on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(Some(layout.size()), 0);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(None, layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(Some(size), layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn spent() -> Spent {
    SPENT.with(Cell::get)
}

fn spent_since(before: Spent) -> Spent {
    let Spent { allocations, bytes, kept } = spent();
    Spent {
        allocations: allocations - before.allocations,
        bytes: bytes - before.bytes,
        kept: kept - before.kept,
    }
}

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
            let before = spent();
            let batch = Batch::new(scope.clone(), vec![call("c1", &name, "src/lib.rs")]);
            let replies = executor.execute_batch(batch).await.into_replies().unwrap();
            let all = spent_since(before);
            assert!(replies[0].status.is_ok());
            least = Some(all);
        }
        least.unwrap()
    })
}

#[test]
fn a_call_costs_the_same_however_many_tools_there_are() {
    let few = one_call(10);
    assert!(few.allocations <= 20 && few.bytes <= 3_200, "{few:?}");
    let many = one_call(10_000);
    // The names differ in length, and nothing else.
    assert_eq!(many.allocations, few.allocations);
    assert!((many.bytes - few.bytes).abs() <= 32, "{many:?} {few:?}");
}

#[test]
fn the_unchanged_list_of_tools_costs_next_to_nothing() {
    let registry = registry(1_000);
    let before = spent();
    let list = registry.direct_specs();
    assert!(spent_since(before).allocations <= 2);
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
        let before = spent();
        let mut batch = executor.execute_batch(Batch::new(scope(), calls));
        let polled = poll_fn(|task| Poll::Ready(batch.as_mut().poll(task))).await;
        assert!(polled.is_pending());
        let kept = spent_since(before).kept;
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
