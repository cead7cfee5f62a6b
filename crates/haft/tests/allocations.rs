//! What an edit of a large file takes of memory: the file once, also where what was there is kept.

#![cfg(all(unix, feature = "changes"))]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

use haft::store::SqliteChanges;
use haft::{ToolRegistry, Workdir};
use haft_testkit::Tree;
use haft_testkit::counting::CountingAll;
use serde_json::json;
use std::fs;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: CountingAll = CountingAll::new();

const LINES: usize = 80_000;

fn check(workdir: &Workdir, tree: &Tree) {
    let line = "    let value = compute(with, some, arguments); // and a few words\n";
    let half = line.repeat(LINES);
    fs::write(tree.path().join("large.rs"), format!("{half}    let needle = 1;\n{half}")).unwrap();
    let bytes = i64::try_from(half.len() * 2).unwrap();
    drop(half);
    let tools = ToolRegistry::of(haft::fs::tools(workdir)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let edits = json!([{ "old": "let needle = 1", "new": "let noodle = 1" }]);
    let input = json!({ "path": "large.rs", "edits": edits });
    let (reply, most) =
        ALLOCATOR.most_live(|| runtime.block_on(haft_testkit::call(&tools, "edit_file", input)));
    assert!(reply.status.is_ok(), "{}", reply.output.to_text());
    assert!(most < bytes / 10 * 11, "{most} bytes for a file of {bytes}");
}

/// One after the other, since what other tests hold would be counted.
#[test]
fn an_edit_holds_the_file_once() {
    let tree = Tree::new();
    check(&tree.workdir(), &tree);
    let state = tempfile::tempdir().unwrap();
    let journal = Arc::new(SqliteChanges::open(state.path().join("changes.db")).unwrap());
    check(&tree.workdir().journalled(journal), &tree);
}
