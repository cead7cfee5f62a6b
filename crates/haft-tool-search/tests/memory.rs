//! What a search costs in memory.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

use haft_testkit::counting::CountingAll;
use haft_testkit::{Tree, call};
use haft_tools_core::ToolRegistry;
use serde_json::{Value, json};
use std::io::Write as _;

#[global_allocator]
static ALLOCATOR: CountingAll = CountingAll::new();

/// The most that a search may hold, in bytes, whatever it searches.
const MOST: i64 = 8 << 20;

fn check(tree: &Tree, input: Value, expected: &str) {
    let registry = ToolRegistry::of(haft_tool_search::tools(&tree.workdir())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (reply, most) = ALLOCATOR.most_live(|| runtime.block_on(call(&registry, "grep", input)));
    let text = reply.output.to_text();
    assert!(text.contains(expected), "{}", &text[text.len().saturating_sub(500)..]);
    assert!(most <= MOST, "{most} bytes were held at once");
}

/// One test, since all that run at once would be counted.
#[test]
fn a_search_holds_little_whatever_it_searches() {
    const MEBIBYTES: usize = 64;
    let tree = Tree::new();
    let mut file = std::io::BufWriter::new(std::fs::File::create(tree.path().join("large.log")).unwrap());
    let line = format!("{} needle {}\n", "a".repeat(60), "b".repeat(59));
    for _ in 0..MEBIBYTES * (1 << 20) / line.len() {
        file.write_all(line.as_bytes()).unwrap();
    }
    file.flush().unwrap();
    drop(file);
    let lines = MEBIBYTES * (1 << 20) / line.len();
    check(&tree, json!({ "pattern": "nowhere" }), "no match");
    check(&tree, json!({ "pattern": "needle", "limit": 1000, "context": 20 }), "the output is full");
    check(&tree, json!({ "pattern": "needle", "mode": "count" }), &format!("large.log: {lines}"));
    check(&tree, json!({ "pattern": "needle", "offset": 100_000, "limit": 2 }), "matches");
    check(&tree, json!({ "pattern": "needle b+\naaa", "multiline": true }), "too large for `multiline`");
}
