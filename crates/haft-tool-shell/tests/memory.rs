//! What large outputs and screens cost in memory.

#![cfg(unix)]

use std::sync::{Mutex, PoisonError};

use haft_testkit::counting::CountingAll;
use haft_testkit::{Tree, call};
use haft_tool_shell::{Bash, Environment, Jobs, ScriptOutputs};
use haft_tools_core::{CallScope, OutputStore as _, ToolRegistry};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: CountingAll = CountingAll::new();

/// What an output may cost, whatever it has.
const MOST_BYTES: i64 = 2 << 20;

/// All threads count together, so what is measured is one thing at a time.
static MEASURING: Mutex<()> = Mutex::new(());

#[test]
fn a_large_output_is_kept_whole_and_not_in_memory() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (tree, place) = (Tree::new(), Tree::new());
    let outputs = ScriptOutputs::spilling_into(place.path());
    let bash = Bash::new(tree.workdir(), Environment::minimal()).outputs(&outputs);
    let registry = ToolRegistry::new().with(bash).unwrap();
    let run = |command: &str| runtime.block_on(call(&registry, "bash", json!({ "command": command })));
    // What is made once is not counted.
    run("seq 100000");
    let (reply, most) = ALLOCATOR.most_live(|| run("seq 4500000"));
    assert!(most <= MOST_BYTES, "{most} bytes were held");
    assert_eq!(reply.output.details["bytes"], 34_888_896);
    let output = reply.output.details["output"].as_str().unwrap().parse().unwrap();
    // The calls are of the run that the testkit gives them.
    let scope = CallScope::new("test".parse().unwrap());
    let kept = runtime.block_on(outputs.read(&scope, &output, 0..8)).unwrap();
    assert_eq!(
        (kept.total_bytes, kept.total_lines, &kept.bytes[..]),
        (34_888_896, 4_500_000, &b"1\n2\n3\n4\n"[..])
    );
}

#[test]
fn of_a_screen_whose_job_has_ended_only_the_text_is_kept() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (tree, place) = (Tree::new(), Tree::new());
    let jobs = Jobs::new(ScriptOutputs::spilling_into(place.path()));
    let bash = Bash::new(tree.workdir(), Environment::minimal()).jobs(&jobs);
    let registry = jobs
        .tools()
        .into_iter()
        .fold(ToolRegistry::new().with(bash).unwrap(), |tools, tool| tools.with(tool).unwrap());
    let run = |number: usize| {
        let job = format!("j{number}");
        let start =
            json!({ "command": "echo kept", "background": true, "pty": true, "rows": 200, "columns": 500 });
        runtime.block_on(async {
            call(&registry, "bash", start).await;
            call(&registry, "job_wait", json!({ "jobs": [job] })).await;
            call(&registry, "job_poll", json!({ "job": job })).await.output.to_text()
        })
    };
    let (screen, one) = ALLOCATOR.most_live(|| run(1));
    assert!(screen.starts_with("kept\n[screen of 200 rows and 500 columns"), "{screen}");
    let ((), many) = ALLOCATOR.most_live(|| (2..10).for_each(|number| drop(run(number))));
    assert!(one > 1_000_000 && many < 2 * one, "one screen took {one} bytes, and eight {many}");
}
