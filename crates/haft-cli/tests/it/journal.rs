//! What can be looked up of calls afterwards.

use crate::waiting::{json, say, waiting};
use expect_test::expect;
use haft_testkit::Tree;

const WRITE: [&str; 3] = ["call", "write_file", r#"{"path":"a.txt","content":"x\n"}"#];

/// The journal without what differs from run to run.
fn journal(tree: &Tree) -> String {
    let said = say(tree, 0, &["journal"]);
    let lines = said.lines().filter_map(|line| Some(line.rsplit_once("  ")?.0.to_owned()));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn it_says_who_let_which_call_run() {
    let tree = Tree::new();
    assert_eq!(say(&tree, 0, &["journal"]), "Nothing is recorded.\nexit 0\n");
    say(&tree, 0, &["call", "list_files", "{}"]);
    assert_eq!(say(&tree, 0, &["journal"]), "Nothing is recorded.\nexit 0\n");
    // A list of none of them would look like that.
    assert!(say(&tree, 2, &["journal", "--last", "0"]).contains("0 is not in 1.."));
    say(&tree, 3, &WRITE);
    let (id, run) = waiting(&tree);
    say(&tree, 0, &["approvals", "approve", &id, "--for", "workspace"]);
    say(&tree, 0, &["resume", &run]);
    say(&tree, 0, &WRITE);
    say(&tree, 0, &["call", "list_files", "{}"]);
    say(&tree, 3, &["call", "bash", r#"{"command":"rm a.txt"}"#]);
    let (id, other) = waiting(&tree);
    say(&tree, 0, &["approvals", "deny", &id, "--reason", "keep it"]);
    say(&tree, 1, &["resume", &other]);
    expect![[r#"
        write_file  waits  write file:a.txt  asked about by the policy
        write_file  begins  write file:a.txt  approved
        write_file  ok  write file:a.txt  approved
        write_file  begins  write file:a.txt  remembered: write(./a.txt)
        write_file  ok  write file:a.txt  remembered: write(./a.txt)
        list_files  begins  read file:**  allowed by the policy: read(**)
        list_files  ok  read file:**  allowed by the policy: read(**)
        bash  waits  exec exec:rm a.txt, write file:a.txt  asked about by the policy
        bash  denied, did not run    denied: keep it"#]]
    .assert_eq(&journal(&tree));
    let records = json(&tree, &["journal", "--run", &run, "--last", "2", "--json"]);
    let kinds: Vec<&str> =
        records.as_array().unwrap().iter().map(|record| record["record"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["begun", "ended"]);
    assert_eq!(records[1]["decided"]["by"], "person");
}
