//! What a large output costs in memory.

#![cfg(unix)]

use haft_testkit::counting::CountingAll;
use haft_testkit::{Tree, call};
use haft_tool_shell::{Bash, Environment, ScriptOutputs};
use haft_tools_core::{CallScope, OutputStore as _, ToolRegistry};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: CountingAll = CountingAll::new();

/// What an output may cost, whatever it has.
const MOST_BYTES: i64 = 2 << 20;

#[test]
fn a_large_output_is_kept_whole_and_not_in_memory() {
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
