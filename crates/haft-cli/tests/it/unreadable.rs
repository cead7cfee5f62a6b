//! What is done about entries that cannot be read: those that are damaged, or that another version of haft wrote.

use crate::waiting::{json, say};
use haft::store::SqliteStore;
use haft_testkit::Tree;
use serde_json::json;
use std::fs;

const WRITE: [&str; 3] = ["call", "write_file", r#"{"path":"a.txt","content":"x\n"}"#];

/// Writes over what is kept, of the same length, as another program could.
fn rewrite(tree: &Tree, from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let path = tree.path().join(".haft-state/haft.db");
    // Whoever closes a database last brings its log into its file.
    drop(SqliteStore::open(&path).unwrap());
    let mut bytes = fs::read(&path).unwrap();
    let mut changed = 0;
    for place in 0..bytes.len() - from.len() {
        if bytes[place..].starts_with(from.as_bytes()) {
            bytes[place..][..from.len()].copy_from_slice(to.as_bytes());
            changed += 1;
        }
    }
    assert!(changed > 0, "nothing reads `{from}`");
    fs::write(&path, bytes).unwrap();
}

#[test]
fn a_call_of_another_version_stands_in_nobodys_way_and_can_be_denied() {
    let tree = Tree::new();
    say(&tree, 3, &WRITE);
    rewrite(&tree, r#"{"version":1,"id""#, r#"{"version":2,"id""#);
    let list = json(&tree, &["approvals", "list", "--json"]);
    let bad = list[0]["id"].as_str().unwrap();
    assert!(list[0]["unreadable"].as_str().unwrap().contains("was stored in version 2"), "{list}");
    assert!(
        say(&tree, 0, &["approvals", "list"]).contains("cannot be read: this pending call was stored in")
    );

    // Another run is not held up.
    say(&tree, 3, &WRITE);
    let list = json(&tree, &["approvals", "list", "--json"]);
    let good = list.as_array().unwrap().iter().find(|entry| entry["call"].is_object()).unwrap();
    let text = |name: &str| good["call"][name].as_str().unwrap().to_owned();
    say(&tree, 0, &["approvals", "approve", &text("id")]);
    say(&tree, 0, &["resume", &text("run")]);
    assert_eq!(tree.read("a.txt"), "x\n");

    for command in ["show", "approve"] {
        assert!(say(&tree, 2, &["approvals", command, bad]).contains("haft approvals deny"));
    }
    assert!(say(&tree, 0, &["approvals", "deny", bad]).contains("haft resume RUN"));
    let list = json(&tree, &["approvals", "list", "--json"]);
    assert_eq!(list[0]["answer"], json!({ "answer": "deny" }));

    let run = list[0]["run"].as_str().unwrap();
    assert!(say(&tree, 1, &["resume", run]).contains("not approved"));
    assert_eq!(json(&tree, &["approvals", "list", "--json"]), json!([]));
}

#[test]
fn a_grant_that_cannot_be_read_is_listed_and_revoked() {
    let tree = Tree::new();
    say(&tree, 3, &WRITE);
    let list = json(&tree, &["approvals", "list", "--json"]);
    let text = |name: &str| list[0]["call"][name].as_str().unwrap().to_owned();
    say(&tree, 0, &["approvals", "approve", &text("id"), "--for", "workspace"]);
    say(&tree, 0, &["resume", &text("run")]);
    rewrite(&tree, r#""decision":"allow""#, r#""decision":"ALLOW""#);
    let list = json(&tree, &["grants", "list", "--json"]);
    assert!(list[0]["unreadable"].as_str().unwrap().contains("`ALLOW`"), "{list}");
    assert!(say(&tree, 0, &["grants", "list"]).contains("cannot be read"));
    assert!(say(&tree, 0, &["grants", "revoke", "--all"]).contains("revoked 1 grant\n"));
    assert_eq!(json(&tree, &["grants", "list", "--json"]), json!([]));
}

#[test]
fn a_run_that_cannot_be_read_is_listed() {
    let tree = Tree::new();
    say(&tree, 3, &WRITE);
    say(&tree, 3, &WRITE);
    let runs = json(&tree, &["resume", "--json"]);
    let run = runs[0]["run"].as_str().unwrap();
    rewrite(&tree, r#","version":1,"work""#, r#","version":9,"work""#);
    assert!(say(&tree, 0, &["resume"]).contains("keeps it differently (9, and this one reads 1)"));
    assert!(say(&tree, 1, &["resume", run]).contains("keeps it differently"));
    rewrite(&tree, r#","version":9,"work""#, r#";"version":9,"work""#);
    assert!(say(&tree, 0, &["resume"]).contains("cannot be read"));
    assert_eq!(json(&tree, &["resume", "--json"]).as_array().unwrap().len(), 2);
    assert_eq!(json(&tree, &["approvals", "list", "--json"]).as_array().unwrap().len(), 2);
    assert!(say(&tree, 1, &["resume", run]).contains("--drop"));
    say(&tree, 0, &["resume", run, "--drop"]);
    assert_eq!(json(&tree, &["resume", "--json"]).as_array().unwrap().len(), 1);
    assert_eq!(json(&tree, &["approvals", "list", "--json"]).as_array().unwrap().len(), 1);
}
