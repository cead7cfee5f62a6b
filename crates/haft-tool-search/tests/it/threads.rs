//! What is found does not depend on what the threads do.

use crate::call_of;
use haft_testkit::Tree;
use haft_tool_search::{FindFiles, Glob, Grep, SearchOptions};
use haft_tools_core::{Tool, ToolRegistry};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn registry(tree: &Tree, options: SearchOptions) -> ToolRegistry {
    let workdir = tree.workdir();
    let tools: [Arc<dyn Tool>; 3] = [
        Arc::new(Grep::new(workdir.clone()).options(options)),
        Arc::new(Glob::new(workdir.clone()).options(options)),
        Arc::new(FindFiles::new(workdir).options(options)),
    ];
    ToolRegistry::of(tools).unwrap()
}

fn with_threads(tree: &Tree, threads: usize, tool: &str, input: &Value) -> (String, Value) {
    let registry = registry(tree, SearchOptions::default().threads(threads));
    let output = call_of(&registry, tool, input.clone()).output;
    (output.to_text(), output.details)
}

fn tree() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = prop::sample::select(vec!["a", "b", "b.c", "b-c", "d"]);
    let path = (prop::collection::vec(name, 0..4), 0_usize..80);
    let path = path.prop_map(|(mut names, file)| {
        let file = format!("f{file}.txt");
        names.push(&file);
        names.join("/")
    });
    prop::collection::vec((path, "(x\n|y\n){0,4}"), 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_number_of_threads_finds_the_same(
        files in tree(), limit in 1_usize..40, offset in 0_usize..10, mode in prop::sample::select(vec!["content", "files", "count"]),
    ) {
        let tree = files.iter().fold(Tree::new().file(".gitignore", "d/\n"), |tree, (path, text)| tree.file(path, text));
        for (tool, input) in [
            ("grep", json!({ "pattern": "x", "limit": limit, "offset": offset, "mode": mode, "after": 1 })),
            ("grep", json!({ "pattern": "x", "limit": limit, "mode": mode, "paths": ["a/b", "b", ".", "a"] })),
            ("grep", json!({ "pattern": "z" })),
            ("glob", json!({ "pattern": "*1.txt", "limit": limit })),
            ("glob", json!({ "pattern": "b/" })),
            ("find_files", json!({ "query": "f1", "limit": limit })),
        ] {
            let one = with_threads(&tree, 1, tool, &input);
            for threads in [2, 7] {
                prop_assert_eq!(&with_threads(&tree, threads, tool, &input), &one, "{} {}", tool, input);
            }
        }
    }
}

#[test]
fn without_time_nothing_is_searched_and_that_is_said() {
    let tree = Tree::new().file("a", "x\n").file("b/c", "x\n");
    let registry = registry(&tree, SearchOptions::default().timeout(Duration::ZERO));
    for (tool, input) in [
        ("grep", json!({ "pattern": "x" })),
        ("glob", json!({ "pattern": "*" })),
        ("find_files", json!({ "query": "a" })),
    ] {
        let reply = call_of(&registry, tool, input);
        let text = reply.output.to_text();
        assert!(reply.status.is_ok() && text.contains("stopped because time was over, before"), "{text}");
    }
}

#[test]
fn a_tree_deeper_than_directories_are_kept_open_is_searched() {
    const DEPTH: usize = 200;
    let tree = Tree::new();
    let mut at = tree.path().to_owned();
    for _ in 0..DEPTH {
        at.push("d");
        std::fs::create_dir(&at).unwrap();
        std::fs::write(at.join("e"), "x\n").unwrap();
    }
    let (text, _) = with_threads(&tree, 4, "grep", &json!({ "pattern": "x", "mode": "count", "limit": 3 }));
    assert!(text.contains("3 of 200 files"), "{text}");
    let (text, _) = with_threads(&tree, 4, "glob", &json!({ "pattern": "e", "limit": 1 }));
    assert!(text.contains("the first 1 of 200 files"), "{text}");
}
