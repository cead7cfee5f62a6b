use haft::tools_core::{AllowAll, Strategy};
use haft::{Batch, CallScope, LocalExecutor, ToolCall, ToolExecutor as _, ToolReply};
use haft_testkit::Tree;
use proptest::prelude::{ProptestConfig, prop, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;
use proptest::strategy::Strategy as _;
use serde_json::{Value, json};

/// Names that lie beside, above and below each other, in directories that are and are not there.
const PATHS: [&str; 9] = ["a", "a/b", "new/x", "new/y", "d/x", "d", "notes.md", "note.md", "d/.gitignore"];

fn arbitrary_call() -> impl proptest::strategy::Strategy<Value = (&'static str, Value)> {
    let path = || select(PATHS.as_slice());
    prop_oneof![
        4 => (path(), 0..4).prop_map(|(path, n)| ("write_file", json!({ "path": path, "content": format!("x\nline {n}\n") }))),
        3 => path().prop_map(|path| ("read_file", json!({ "path": path }))),
        2 => path().prop_map(|path| {
            ("edit_file", json!({ "path": path, "edits": [{ "old": "x\n", "new": "x\nx\n", "expected": 1 }] }))
        }),
        1 => select(vec![".", "d", "new"]).prop_map(|path| ("list_files", json!({ "path": path }))),
        1 => select(vec![".", "d", "new"]).prop_map(|path| ("grep", json!({ "path": path, "pattern": "line" }))),
        1 => select(vec![".", "d", "new"]).prop_map(|path| ("glob", json!({ "path": path, "pattern": "*" }))),
    ]
}

/// Executes a batch over a fresh tree, and gives what was replied and what the tree then holds.
async fn executed(strategy: Strategy, calls: &[(&str, Value)]) -> (Vec<String>, Vec<(String, String)>) {
    let tree = Tree::new().file("d/x", "x\nline\n").file("notes.md", "x\n").file("d/y.log", "line\n");
    let registry = haft::default_tools(&tree.workdir()).unwrap();
    let executor = LocalExecutor::builder(registry).approver(AllowAll).strategy(strategy).build();
    let numbered = calls.iter().enumerate();
    let calls = numbered
        .map(|(n, (name, input))| ToolCall::new(format!("c{n}").parse().unwrap(), *name, input.clone()));
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), calls.collect());
    let replies = executor.execute_batch(batch).await.into_replies().unwrap();
    let said = |reply: &ToolReply| format!("{} {}: {}", reply.name, reply.status, reply.output.to_text());
    let files = tree.list().into_iter().filter(|path| tree.path().join(path).is_file());
    let files = files.map(|path| (path.clone(), tree.read(&path))).collect();
    (replies.iter().map(said).collect(), files)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Calls that overlap by what they touch do and say what they would one after the other.
    #[test]
    fn overlapping_by_access_is_like_running_in_order(calls in prop::collection::vec(arbitrary_call(), 1..9)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let in_order = runtime.block_on(executed(Strategy::Sequential, &calls));
        let overlapping = runtime.block_on(executed(Strategy::ByAccess, &calls));
        prop_assert_eq!(in_order, overlapping);
    }
}
