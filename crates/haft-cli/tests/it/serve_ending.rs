//! How `haft serve` ends while calls are running: they are ended, recorded and leave nothing behind.

use crate::haft;
use crate::mcp::User;
use crate::served::{Served, post, tool_call};
use haft_testkit::Tree;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// How long a test waits for what happens in another process.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs until it is killed, and says in the file `pid` what it is.
const STUBBORN: &str = "trap '' TERM HUP INT; echo $$ > pid; while :; do sleep 1; done";

/// Answers nothing, and stays when it is to end.
const STUBBORN_SERVER: &str = "trap '' TERM HUP INT; while :; do sleep 1; done";

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it takes too long until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until the command of a call runs.
fn running(tree: &Path) -> String {
    let pid = || std::fs::read_to_string(tree.join("pid")).unwrap_or_default().trim().to_owned();
    wait_until("the command runs", || !pid().is_empty());
    pid()
}

/// Checks that a process which was told to end then has ended well, with all that it was doing.
///
/// Within a second it is gone, whatever hangs. So on a busy machine there may be no time to record the end of a call; that
/// cannot be so where it took less than `hurried`, in milliseconds.
fn check(tree: &Tree, (mut served, told): (Child, Instant), pid: &str, hurried: u64) {
    let mut status = None;
    wait_until("the server ends", || {
        status = served.try_wait().unwrap();
        status.is_some()
    });
    let took = told.elapsed();
    assert!(status.unwrap().success(), "{status:?}");
    wait_until("the command is gone", || !is_alive(pid));
    let recorded = recorded(tree);
    let had_no_time = took >= Duration::from_millis(hurried) && recorded == ["begins"];
    assert!(had_no_time || recorded == ["begins", "cancelled"], "{took:?}: {recorded:?}");
}

fn is_alive(pid: &str) -> bool {
    let told = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // What nobody has asked after yet is none that runs.
    told.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// What the journal says of the one call.
fn recorded(tree: &Tree) -> Vec<String> {
    let journal = haft(tree.path(), &["journal"]).output().unwrap();
    let journal = String::from_utf8(journal.stdout).unwrap();
    journal.lines().filter_map(|line| line.split("  ").nth(1)).map(str::to_owned).collect()
}

/// Tells it to end, and when.
fn terminate(served: Child) -> (Child, Instant) {
    let told = Instant::now();
    let killed = std::process::Command::new("kill").args(["-TERM", &served.id().to_string()]).status();
    assert!(killed.unwrap().success());
    (served, told)
}

#[test]
fn a_call_over_http_ends_with_the_server() {
    let tree = Tree::new();
    let served = Served::start(tree.path(), &["--profile", "full_access"]);
    let call = tool_call(1, "bash", &json!({ "command": STUBBORN }));
    let mut answer = post(served.address(), &call, &[]);
    let pid = running(tree.path());
    check(&tree, terminate(served.into_child()), &pid, 700);
    // The client is told, or its connection ends.
    let mut told = String::new();
    let _ = answer.read_to_string(&mut told);
}

#[test]
fn a_call_over_http_ends_when_its_client_vanishes() {
    let tree = Tree::new();
    let served = Served::start(tree.path(), &["--profile", "full_access"]);
    let call = tool_call(1, "bash", &json!({ "command": STUBBORN }));
    let client = post(served.address(), &call, &[]);
    let pid = running(tree.path());
    drop(client);
    wait_until("the command is gone", || !is_alive(&pid));
    wait_until("the end is recorded", || recorded(&tree) == ["begins", "cancelled"]);
}

#[test]
fn a_call_in_a_session_over_http_ends_with_the_server() {
    let tree = Tree::new();
    let served = Served::start(tree.path(), &["--profile", "full_access"]);
    let session = served.session();
    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "bash", "arguments": { "command": STUBBORN } },
    });
    let _answer = post(served.address(), &call, &[("mcp-session-id", &session)]);
    let pid = running(tree.path());
    check(&tree, terminate(served.into_child()), &pid, 700);
}

#[test]
fn a_task_ends_with_the_server() {
    let tree = Tree::new();
    let served = Served::start(tree.path(), &["--profile", "full_access"]);
    let mut call = tool_call(1, "bash", &json!({ "command": STUBBORN }));
    let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can;
    let mut told = String::new();
    post(served.address(), &call, &[]).read_to_string(&mut told).unwrap();
    assert!(told.contains("\"resultType\":\"task\""), "{told}");
    let pid = running(tree.path());
    check(&tree, terminate(served.into_child()), &pid, 800);
}

/// Serves over standard streams, and begins a call.
fn over_stdio(tree: &Tree) -> (Child, String) {
    let mut served = haft(tree.path(), &["serve", "--profile", "full_access"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let call = tool_call(1, "bash", &json!({ "command": STUBBORN }));
    writeln!(served.stdin.as_mut().unwrap(), "{call}").unwrap();
    let pid = running(tree.path());
    (served, pid)
}

#[test]
fn a_call_over_standard_streams_ends_with_the_input() {
    let tree = Tree::new();
    let (mut served, pid) = over_stdio(&tree);
    let told = Instant::now();
    drop(served.stdin.take());
    check(&tree, (served, told), &pid, 500);
}

/// Asks for a file three times, ends the input, and tells which of them were answered with it, and all that was said.
fn asked_before_the_end() -> (BTreeSet<u64>, String) {
    let tree = Tree::new().file("a.txt", "one\n");
    let requests: Vec<String> = (1..=3)
        .map(|id| tool_call(id, "read_file", &json!({ "path": "a.txt" })).to_string() + "\n")
        .collect();
    let mut served = haft(tree.path(), &["serve"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    served.stdin.take().unwrap().write_all(requests.concat().as_bytes()).unwrap();
    let output = served.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    let ids = said
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|answer| {
            answer["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("one"))
        })
        .map(|answer| answer["id"].as_u64().unwrap())
        .collect();
    (ids, said)
}

#[test]
fn what_was_asked_for_before_the_input_ends_is_answered() {
    let mut told = String::new();
    // A busy machine may need more than the moment that there is after the input.
    for _ in 0..10 {
        let (ids, said) = asked_before_the_end();
        if ids == (1..=3).collect() {
            return;
        }
        told = said;
    }
    panic!("{told}");
}

#[test]
fn a_call_over_standard_streams_ends_with_the_server() {
    let tree = Tree::new();
    let (mut served, pid) = over_stdio(&tree);
    let mut said = BufReader::new(served.stdout.take().unwrap());
    check(&tree, terminate(served), &pid, 400);
    let mut line = String::new();
    // Whatever is written is a message.
    while said.read_line(&mut line).unwrap() > 0 {
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap()["jsonrpc"], "2.0");
        line.clear();
    }
}

#[test]
fn why_nobody_could_be_served_is_said_though_a_server_behind_it_does_not_end() {
    let user = User::new();
    let stubborn = ["mcp", "add", "stubborn", "--", "/bin/sh", "-c", STUBBORN_SERVER];
    let added = user.command(&stubborn).output().unwrap();
    assert!(added.status.success(), "{added:?}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let served = user.command(&["serve", "--http", &address]).output().unwrap();
    let said = String::from_utf8(served.stderr).unwrap();
    assert!(!served.status.success() && said.contains(&address), "{:?}: {said}", served.status);
}
