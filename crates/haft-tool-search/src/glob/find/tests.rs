use super::*;
use crate::glob::input::GlobInput;
use crate::options::SearchOptions;
use crate::watch::Hook;
use haft_core::ToolErrorKind;
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One thread, so that what happens meanwhile happens at a known place.
fn options() -> SearchOptions {
    SearchOptions::default().threads(1)
}

fn run(tree: &Tree, input: Value, act: impl Fn(u64) -> bool + Sync) -> Result<Vec<String>, ToolError> {
    let input: GlobInput = serde_json::from_value(input).unwrap();
    let (_, request) = Request::resolve(&tree.workdir(), options(), input).unwrap();
    let findings = find(&request, &Hook::new(act))?;
    Ok(findings.paths.iter().map(ToString::to_string).collect())
}

fn letters() -> Tree {
    Tree::new().file("a", "").file("b/one", "").file("b/two", "").file("c", "")
}

#[test]
fn stops_before_the_next_entry_once_it_is_cancelled() {
    let looked_at = AtomicU64::new(0);
    let error = run(&letters(), json!({ "pattern": "*" }), |entries| {
        looked_at.store(entries, Ordering::Relaxed);
        entries == 2
    });
    assert_eq!((error.unwrap_err().kind(), looked_at.into_inner()), (ToolErrorKind::Cancelled, 2));
}

#[test]
fn a_directory_that_vanishes_is_passed_over() {
    let tree = letters();
    let path = tree.path().join("b");
    let found = run(&tree, json!({ "pattern": "*" }), |entries| {
        if entries == 1 {
            fs::remove_dir_all(&path).unwrap();
        }
        false
    });
    assert_eq!(found.unwrap(), ["a", "c"]);
}

#[test]
fn orders_by_the_time_of_the_last_change() {
    let tree = letters();
    let touch = |path: &str, seconds| {
        let file = fs::File::options().write(true).open(tree.path().join(path)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    touch("a", 10);
    touch("b/one", 30);
    touch("b/two", 20);
    touch("c", 20);
    let found =
        |limit| run(&tree, json!({ "pattern": "*", "sort": "modified", "limit": limit }), |_| false).unwrap();
    assert_eq!(found(9), ["b/one", "b/two", "c", "a"]);
    assert_eq!(found(2), ["b/one", "b/two"], "of those changed at the same time the first by path");
}
