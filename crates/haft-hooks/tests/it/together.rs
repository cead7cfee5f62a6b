//! Many calls at once, and hooks in an executor.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use haft_core::{ToolCall, ToolError, ToolOutput};
use haft_hooks::{CommandHook, CommandHooks, HookReport, Obligation};
use haft_tools_core::{
    Accesses, Batch, Before, CallContext, CallScope, Layer as _, LayerAnswer, LayerTime, Limits,
    LocalExecutor, Policy, Rule, Selector, ToolExecutor as _, ToolRegistry, tool_fn,
};
use serde_json::json;
use tokio::task::JoinSet;

use crate::harness::{SOON, VARIABLES, after, bash, before, until};

/// Runs a hook for so many calls at once; gives how many programs ran together at most.
async fn check_width(width: Option<usize>, calls: usize, hook: CommandHook) -> usize {
    let directory = tempfile::TempDir::new().expect("a temporary directory can be made");
    let mut hooks = CommandHooks::new([hook], directory.path(), VARIABLES).expect("the hooks can be used");
    if let Some(width) = width {
        hooks = hooks.width(width);
    }
    let mut asked = JoinSet::new();
    for _ in 0..calls {
        let hooks = hooks.clone();
        asked.spawn(async move {
            assert_eq!(hooks.before(&bash().shown()).await, Before::proceed());
        });
    }
    tokio::time::timeout(SOON, asked.join_all()).await.expect("the hooks end soon");
    let log = fs::read_to_string(directory.path().join("log")).expect("a hook ran");
    let running = log.lines().scan(0_usize, |running, line| {
        *running = if line == "begins" { *running + 1 } else { *running - 1 };
        Some(*running)
    });
    running.max().unwrap_or_default()
}

fn logged() -> CommandHook {
    before("echo begins >> log; sleep 0.02; echo ends >> log")
}

#[tokio::test]
async fn so_many_programs_run_at_once_as_may() {
    assert!(check_width(None, 40, logged()).await <= 8);
    assert!(check_width(Some(3), 12, logged()).await <= 3);
    assert_eq!(check_width(Some(0), 3, logged()).await, 1);
    assert!(check_width(Some(usize::MAX), 3, logged()).await <= 3);
}

#[tokio::test]
async fn waiting_for_others_is_not_part_of_the_time_of_a_hook() {
    let directory = tempfile::TempDir::new().expect("a temporary directory can be made");
    let holds = before(": > begun; sleep 6").timeout(SOON);
    let waits = after("exit 0").timeout(Duration::from_secs(4));
    let hooks =
        CommandHooks::new([holds, waits], directory.path(), VARIABLES).expect("the hooks can be used");
    let hooks = hooks.width(1);
    let holding = hooks.clone();
    let held = tokio::spawn(async move { holding.before(&bash().shown()).await });
    until(|| directory.path().join("begun").exists()).await;
    let answer = LayerAnswer::from(ToolOutput::text("done"));
    assert_eq!(hooks.after(&bash().shown(), answer.clone()).await, answer);
    assert_eq!(held.await.expect("it does not panic"), Before::proceed());
}

/// Calls a tool that has 50 ms, with an advisory hook that takes longer than its 200 ms.
async fn check_late(hook: CommandHook) -> String {
    let directory = tempfile::TempDir::new().expect("a temporary directory can be made");
    let reports = Arc::<Mutex<Vec<HookReport>>>::default();
    let sink = Arc::clone(&reports);
    let hook = hook.obligation(Obligation::Advisory).timeout(Duration::from_millis(200));
    let hooks = CommandHooks::new([hook], directory.path(), VARIABLES)
        .expect("the hooks can be used")
        .reporting_to(move |report| sink.lock().expect("nothing panics").push(report));
    assert_eq!(hooks.time(), LayerTime::Own);
    let run = |_: BTreeMap<String, u32>, _: CallContext| async { Ok::<_, ToolError>("noon".to_owned()) };
    let now = tool_fn("now", "Tells the time.", Accesses::none(), run).expect("a name");
    let executor = LocalExecutor::builder(ToolRegistry::new().with(now).expect("one tool"))
        .policy(Policy::new().allow(Rule::tools(Selector::all())))
        .limits(Limits { timeout: Duration::from_millis(50), ..Limits::default() })
        .layer(hooks)
        .build();
    let call = ToolCall::new("c1".parse().expect("an id"), "now", json!({}));
    let batch = Batch::new(CallScope::new("run-1".parse().expect("an id")), vec![call]);
    let replies = executor.execute_batch(batch).await.into_replies().expect("nobody is asked");
    let reports: Vec<String> =
        reports.lock().expect("nothing panics").iter().map(ToString::to_string).collect();
    format!("{}: {}\n{}\n", replies[0].status, replies[0].output.to_text(), reports.join("\n"))
}

#[tokio::test]
async fn an_advisory_hook_that_takes_longer_than_calls_may_is_reported_and_passed_over() {
    expect![[r#"
        ok: noon
        the hook `/bin/sh` failed before the call "c1" of `now`: it took longer than 0.2 s; passed over
    "#]]
    .assert_eq(&check_late(before("sleep 20")).await);
    expect![[r#"
        ok: noon
        the hook `/bin/sh` failed after the call "c1" of `now`: it took longer than 0.2 s; passed over
    "#]]
    .assert_eq(&check_late(after("sleep 20")).await);
}
