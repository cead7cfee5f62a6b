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

/// How long calls have until the process ends, as the server gives it to them: what requests may take and calls that are
/// cancelled then, what is left of the whole to tasks, what calls may take that the end of the input finds, and a signal.
const OVER_HTTP: Duration = Duration::from_millis(300 + 400);
const AS_A_TASK: Duration = Duration::from_millis(900 - 100);
const AFTER_INPUT: Duration = Duration::from_millis(150);
const WITH_THE_INPUT: Duration = Duration::from_millis(150 + 350);
const OVER_STDIO: Duration = Duration::from_millis(400);

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

/// What a process records that was told to end at that time, with all that it was doing, and how long it took to end.
fn ended(tree: &Tree, (mut served, told): (Child, Instant), pid: &str) -> (Vec<String>, Duration) {
    let mut status = None;
    wait_until("the server ends", || {
        status = served.try_wait().unwrap();
        status.is_some()
    });
    let took = told.elapsed();
    assert!(status.unwrap().success(), "{status:?}");
    wait_until("the command is gone", || !is_alive(pid));
    (recorded(tree), took)
}

/// Checks that the end of a call is recorded.
///
/// Within a second everything is gone, so a machine that is very busy may leave no time for that; then it is tried again. It is
/// an error where the server took less than it gives its calls.
fn check(given: Duration, ending: impl Fn() -> (Vec<String>, Duration)) {
    for _ in 0..10 {
        let (recorded, took) = ending();
        if recorded == ["begins", "cancelled"] {
            return;
        }
        assert!(recorded == ["begins"] && took >= given, "{took:?}: {recorded:?}");
    }
    panic!("there is never the time to record the end of a call");
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
    check(OVER_HTTP, || {
        let tree = Tree::new();
        let served = Served::start(tree.path(), &["--profile", "full_access"]);
        let call = tool_call(1, "bash", &json!({ "command": STUBBORN }));
        let mut answer = post(served.address(), &call, &[]);
        let pid = running(tree.path());
        let ended = ended(&tree, terminate(served.into_child()), &pid);
        // The client is told, or its connection ends.
        let mut told = String::new();
        let _ = answer.read_to_string(&mut told);
        ended
    });
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
    check(OVER_HTTP, || {
        let tree = Tree::new();
        let served = Served::start(tree.path(), &["--profile", "full_access"]);
        let session = served.session();
        let call = json!({
            "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "bash", "arguments": { "command": STUBBORN } },
        });
        let _answer = post(served.address(), &call, &[("mcp-session-id", &session)]);
        let pid = running(tree.path());
        ended(&tree, terminate(served.into_child()), &pid)
    });
}

#[test]
fn a_task_ends_with_the_server() {
    check(AS_A_TASK, || {
        let tree = Tree::new();
        let served = Served::start(tree.path(), &["--profile", "full_access"]);
        let mut call = tool_call(1, "bash", &json!({ "command": STUBBORN }));
        let can = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can;
        let mut told = String::new();
        post(served.address(), &call, &[]).read_to_string(&mut told).unwrap();
        assert!(told.contains("\"resultType\":\"task\""), "{told}");
        let pid = running(tree.path());
        ended(&tree, terminate(served.into_child()), &pid)
    });
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
    check(WITH_THE_INPUT, || {
        let tree = Tree::new();
        let (mut served, pid) = over_stdio(&tree);
        let told = Instant::now();
        drop(served.stdin.take());
        ended(&tree, (served, told), &pid)
    });
}

/// Asks for a file three times, ends the input, and tells which of them were answered with it, how long the server went on, and
/// all that it said.
fn asked_before_the_end() -> (BTreeSet<u64>, Duration, String) {
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
    let ended = Instant::now();
    let output = served.wait_with_output().unwrap();
    let took = ended.elapsed();
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
    (ids, took, said)
}

#[test]
fn what_was_asked_for_before_the_input_ends_is_answered() {
    // A machine that is very busy may need more than the moment that there is after the input.
    for _ in 0..10 {
        let (ids, took, said) = asked_before_the_end();
        if ids == (1..=3).collect() {
            return;
        }
        assert!(took >= AFTER_INPUT, "{took:?}: {said}");
    }
    panic!("there is never the time to answer");
}

#[test]
fn a_call_over_standard_streams_ends_with_the_server() {
    check(OVER_STDIO, || {
        let tree = Tree::new();
        let (mut served, pid) = over_stdio(&tree);
        let mut said = BufReader::new(served.stdout.take().unwrap());
        let ended = ended(&tree, terminate(served), &pid);
        let mut line = String::new();
        // Whatever is written is a message.
        while said.read_line(&mut line).unwrap() > 0 {
            assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap()["jsonrpc"], "2.0");
            line.clear();
        }
        ended
    });
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
