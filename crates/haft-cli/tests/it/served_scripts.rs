//! Scripts of clients that `haft serve` serves, and where they start.

use crate::served::{Served, post, tool_call};
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::io::Read as _;

/// What a client is answered over HTTP.
fn answer(served: &Served, call: &Value, headers: &[(&str, &str)]) -> String {
    let mut told = String::new();
    post(served.address(), call, headers).read_to_string(&mut told).unwrap();
    told
}

#[test]
fn over_http_without_a_session_each_script_starts_in_the_working_directory() {
    let tree = Tree::new().directory("sub");
    let served = Served::start(tree.path(), &["--profile", "full_access"]);
    let run = |id, script| answer(&served, &tool_call(id, "bash", &json!({ "command": script })), &[]);
    let moved = run(1, "cd sub && basename \"$PWD\"");
    assert!(
        moved.contains("sub\\n[exit code 0; the next script starts in the working directory]"),
        "{moved}"
    );
    let next = run(2, "[ -d sub ] && echo in the root");
    assert!(next.contains("in the root\\n[exit code 0]"), "{next}");
}

#[test]
fn in_a_session_over_http_a_script_starts_where_the_last_one_of_that_session_ended() {
    let tree = Tree::new().directory("sub");
    let served = Served::start(tree.path(), &["--profile", "full_access"]);
    let run = |session: &str, script: &str| {
        let call = json!({
            "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "bash", "arguments": { "command": script } },
        });
        answer(&served, &call, &[("mcp-session-id", session)])
    };
    let (one, other) = (served.session(), served.session());
    let moved = run(&one, "cd sub");
    assert!(moved.contains("the next script starts in `sub`"), "{moved}");
    let next = run(&other, "[ -d sub ] && echo in the root");
    assert!(next.contains("in the root\\n[exit code 0]"), "{next}");
    let next = run(&one, "basename \"$PWD\"");
    assert!(next.contains("sub\\n[exit code 0; the next script starts in `sub`]"), "{next}");
}
