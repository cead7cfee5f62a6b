//! Calls that wait for calls made below them: people answer these.

use crate::waiting::{json, say};
use haft::core::Digest;
use haft::store::{RunStatus, RunStore as _, SqliteStore, StoredRun};
use haft::tools_core::{CallOutcome, PendingCall, PendingStore as _};
use haft_testkit::Tree;
use serde_json::{Value, json};

fn pending(id: &str, name: &str, more: &Value) -> PendingCall {
    let mut pending = json!({
        "version": 1,
        "id": id,
        "call": { "id": "c1", "name": name, "input": {} },
        "run": "top",
        "accesses": [],
        "unmet": [],
        "preview": { "kind": "arguments" },
        "asked_at_ms": 1_700_000_000_000_u64,
        "digest": Digest::of(&json!(id)),
    });
    pending.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(pending).unwrap()
}

/// Keeps a run in which a call waits for one of an agent below it.
fn tree() -> Tree {
    let tree = Tree::new().file("work/notes.md", "one\n");
    std::fs::create_dir(tree.path().join(".haft-state")).unwrap();
    let leaf = pending(
        "1eaf567890",
        "bash",
        &json!({
            "run": "child",
            "agent": "explorer",
            "above": [{ "run": "top" }],
            "unmet": [{ "reason": "no rule speaks of it" }],
        }),
    );
    let outer = pending("0b7e567890", "delegate", &json!({ "wants": { "kind": "below", "calls": [leaf] } }));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(tree.path().join(".haft-state/haft.db")).unwrap();
        store.put(&leaf).await.unwrap();
        store.put(&outer).await.unwrap();
        let mut run = StoredRun::new("top".parse().unwrap());
        run.status = RunStatus::Waiting;
        run.state = serde_json::to_value(CallOutcome::Pending(Box::new(outer))).unwrap();
        store.save(&mut run).await.unwrap();
    });
    tree
}

#[test]
fn what_is_listed_is_what_a_person_can_answer() {
    let tree = tree();
    let list = json(&tree, &["approvals", "list", "--json"]);
    let names: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["call"]["call"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["bash"]);
    let shown = say(&tree, 0, &["approvals", "list"]);
    assert!(shown.contains("1eaf5678  bash") && !shown.contains("delegate"), "{shown}");
    let shown = say(&tree, 0, &["approvals", "show", "1eaf"]);
    assert!(shown.contains("bash of explorer wants to"), "{shown}");
}

#[test]
fn the_leaf_is_answered_and_the_run_at_the_top_goes_on() {
    let tree = tree();
    let refused = say(&tree, 2, &["approvals", "approve", "0b7e"]);
    assert!(
        refused.contains(
            "nobody is asked about the call `0b7e5678`, which waits for calls made below it; answer `1eaf5678`, or deny it \
             with `haft approvals deny 0b7e5678`"
        ),
        "{refused}"
    );
    assert!(say(&tree, 2, &["approvals", "edit", "0b7e", "--input", "{}"]).contains("nobody is asked about"));
    let shown = say(&tree, 0, &["approvals", "show", "0b7e"]);
    assert!(shown.contains("waits for the call `1eaf5678` of `bash`, made below it"), "{shown}");
    let said = say(&tree, 0, &["approvals", "approve", "1eaf"]);
    assert!(said.contains("approved `bash`; go on with `haft resume RUN`"), "{said}");
    let shown = say(&tree, 0, &["approvals", "show", "1eaf"]);
    assert!(shown.contains("`haft resume top` goes on"), "{shown}");
}

#[test]
fn the_call_above_can_be_denied_and_its_run_dropped() {
    let tree = tree();
    let said = say(&tree, 0, &["approvals", "deny", "0b7e", "--reason", "no more"]);
    assert!(said.contains("denied `delegate`; go on with `haft resume RUN`"), "{said}");
    let said = say(&tree, 0, &["resume", "top", "--drop"]);
    assert!(said.contains("the 2 calls that waited in it are given up"), "{said}");
    assert_eq!(json(&tree, &["approvals", "list", "--json"]), json!([]));
}
