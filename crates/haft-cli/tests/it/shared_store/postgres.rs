//! Two machines that remember the same, in a database that `cargo xtask postgres` has started.

use super::{READ, command, machine, say};
use crate::shown;
use haft_testkit::Tree;
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

const NEEDED: &str = "needs a server: cargo xtask postgres";

/// Is what a user's `haft.toml` says of a database that nobody else uses.
fn table() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let given = std::env::var("HAFT_TEST_POSTGRES").expect(NEEDED);
    let part =
        |name: &str| given.split(' ').find_map(|part| part.strip_prefix(name)).expect(NEEDED).to_owned();
    let folder = part("host=").replace('/', "%2F");
    let (user, database) = (part("user="), part("dbname="));
    let schema = format!("cli_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    format!("[store]\npostgres = \"postgres://{user}@{folder}/{database}\"\nschema = \"{schema}\"\n")
}

fn json(machine: &Tree, arguments: &[&str]) -> Value {
    let output = command(machine, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", shown(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Says something on a machine, in a directory that both have.
fn say_in(machine: &Tree, place: &Path, code: i32, arguments: &[&str]) -> String {
    let output = command(machine, arguments).current_dir(place).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", shown(&output));
    shown(&output)
}

fn write(path: &str) -> [String; 3] {
    ["call".to_owned(), "write_file".to_owned(), format!(r#"{{"path":"{path}","content":"x"}}"#)]
}

#[test]
#[ignore = "needs a server: cargo xtask postgres"]
fn what_is_asked_on_one_machine_is_answered_on_another_and_told_there() {
    let table = table();
    let (one, other, place) = (machine(&table), machine(&table), Tree::new());
    let call = write("a.txt");
    let call: Vec<&str> = call.iter().map(String::as_str).collect();
    say_in(&one, place.path(), 3, &call);

    let listed = json(&other, &["approvals", "list", "--json"]);
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let text = |name: &str| listed[0]["call"][name].as_str().unwrap().to_owned();
    let (id, run) = (text("id"), text("run"));
    let looked = say(&other, 0, &["doctor", "--connect"]);
    assert!(looked.contains("1 call waits for an answer"), "{looked}");

    say(&other, 0, &["approvals", "approve", &id, "--for", "always"]);
    assert!(!place.path().join("a.txt").exists());
    say_in(&one, place.path(), 0, &["resume", &run]);
    assert_eq!(std::fs::read_to_string(place.path().join("a.txt")).unwrap(), "x");
    assert!(say(&other, 0, &["approvals", "list"]).contains("No call waits."));

    let report = json(&other, &["report", &run, "--json", "--output", "-"]);
    assert_eq!(
        (&report["run"], &report["calls"][0]["tool"]),
        (&run.into(), &"write_file".into()),
        "{report}"
    );
    let recorded = say(&other, 0, &["journal"]);
    assert!(recorded.contains("write_file  ok  write file:a.txt  approved"), "{recorded}");
    // Nothing of it is in a file of either.
    for machine in [&one, &other] {
        assert!(!machine.path().join("state/haft.db").exists());
    }
}

#[test]
#[ignore = "needs a server: cargo xtask postgres"]
fn what_is_granted_or_revoked_on_one_machine_counts_on_another() {
    let table = table();
    let (one, other, place) = (machine(&table), machine(&table), Tree::new());
    let call = write("a.txt");
    let call: Vec<&str> = call.iter().map(String::as_str).collect();
    say_in(&one, place.path(), 3, &call);
    let listed = json(&one, &["approvals", "list", "--json"]);
    let text = |name: &str| listed[0]["call"][name].as_str().unwrap().to_owned();
    say(&one, 0, &["approvals", "approve", &text("id"), "--for", "always"]);
    // It is given with the call that goes on.
    say_in(&one, place.path(), 0, &["resume", &text("run")]);
    say_in(&other, place.path(), 0, &call);

    let grants = json(&other, &["grants", "list", "--json"]);
    let grant = grants[0]["id"].as_str().unwrap_or_else(|| panic!("{grants}"));
    say(&other, 0, &["grants", "revoke", grant]);
    say_in(&one, place.path(), 3, &call);
}

#[test]
#[ignore = "needs a server: cargo xtask postgres"]
fn a_run_is_listed_and_given_up_on_another_machine() {
    let table = table();
    let (one, other, place) = (machine(&table), machine(&table), Tree::new());
    let session = r#"{"calls":[{"id":"c1","name":"write_file","input":{"path":"a.txt","content":"a"}}]}"#;
    let one = one.file("play/session.jsonl", &format!("{session}\n"));
    let session = one.path().join("play");
    say_in(&one, place.path(), 3, &["run", session.to_str().unwrap(), "--workdir", "."]);
    let runs = json(&other, &["resume", "--json"]);
    let run = runs[0]["run"].as_str().unwrap_or_else(|| panic!("{runs}"));
    say(&other, 0, &["resume", run, "--drop"]);
    assert!(say(&one, 0, &["resume"]).contains("No run waits"));
    assert!(say(&one, 0, &["approvals", "list"]).contains("No call waits."));
    assert!(!place.path().join("a.txt").exists());
}

#[test]
#[ignore = "needs a server: cargo xtask postgres"]
fn a_server_that_refuses_is_told_from_one_that_is_not_there() {
    let table = table().replace("/postgres\"", "/not_there\"");
    let said = say(&machine(&table), 2, &READ);
    assert!(said.contains("the server of the database refuses who asks"), "{said}");
    assert!(said.contains("database \"not_there\" does not exist"), "{said}");
}
