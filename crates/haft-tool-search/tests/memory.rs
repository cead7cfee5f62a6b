//! What a search costs in memory.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

use haft_testkit::counting::CountingAll;
use haft_testkit::{Tree, call};
use haft_tool_search::{Grep, SearchOptions};
use haft_tools_core::{Tool, ToolRegistry};
use serde_json::{Value, json};
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: CountingAll = CountingAll::new();

/// The most that a search may hold, in bytes, whatever it searches.
const MOST: i64 = 8 << 20;

fn check(tree: &Tree, input: Value, expected: &str) {
    // A busy machine may take its time.
    let options = SearchOptions::default().timeout(Duration::from_mins(10));
    let grep: Arc<dyn Tool> = Arc::new(Grep::new(tree.workdir()).options(options));
    let registry = ToolRegistry::of([grep]).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (reply, most) = ALLOCATOR.most_live(|| runtime.block_on(call(&registry, "grep", input)));
    let text = reply.output.to_text();
    assert!(text.contains(expected), "{}", &text[text.len().saturating_sub(500)..]);
    assert!(most <= MOST, "{most} bytes were held at once");
}

/// Searches a file of so many mebibytes in every way that reads all of it.
fn search_all(mebibytes: usize) {
    let tree = Tree::new();
    let mut file = std::io::BufWriter::new(std::fs::File::create(tree.path().join("large.log")).unwrap());
    let line = format!("{} needle {}\n", "a".repeat(60), "b".repeat(59));
    let lines = mebibytes * (1 << 20) / line.len();
    for _ in 0..lines {
        file.write_all(line.as_bytes()).unwrap();
    }
    file.flush().unwrap();
    drop(file);
    check(&tree, json!({ "pattern": "nowhere" }), "no match");
    check(&tree, json!({ "pattern": "needle", "limit": 1000, "context": 20 }), "the output is full");
    check(&tree, json!({ "pattern": "needle", "mode": "count" }), &format!("large.log: {lines}"));
    check(&tree, json!({ "pattern": "needle", "offset": 100_000, "limit": 2 }), "matches");
    check(&tree, json!({ "pattern": "needle b+\naaa", "multiline": true }), "too large for `multiline`");
}

/// One test, since all that run at once would be counted.
#[test]
fn a_search_holds_little_whatever_it_searches() {
    search_all(64);
}

/// To be run by itself: `cargo test --release -p haft-tool-search --test memory -- --ignored`.
#[test]
#[ignore = "writes a file of 500 MiB and takes long in a debug build"]
fn a_search_of_a_huge_file_holds_no_more() {
    search_all(500);
}
