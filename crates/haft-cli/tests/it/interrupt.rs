use crate::{haft, shown};
use haft_testkit::Tree;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Polls until the condition holds, for as long as a loaded machine may need.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::yield_now();
    }
}

/// Stops the command by a signal once its tool has started a process, and looks at how both end.
fn check(tree: &Tree, signal: &str, arguments: &[&str]) {
    let child = haft(tree.path(), arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid_file = tree.path().join("pid");
    wait_until("the command starts", || {
        std::fs::read_to_string(&pid_file).is_ok_and(|pid| pid.ends_with('\n'))
    });
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    assert!(shown(&output).contains("cancelled"), "{}", shown(&output));
    wait_until("the command's process ends", || {
        !Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status().unwrap().success()
    });
}

#[test]
fn an_interrupt_cancels_the_call_and_ends_its_processes() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let call = ["call", "bash", r#"{"command":"echo $$ > pid; exec sleep 60"}"#, "--yes"];
        check(&Tree::new(), signal, &call);
    }
}

#[test]
fn an_interrupt_cancels_the_run_and_ends_its_processes() {
    let session = r#"{"calls":[{"id":"c1","name":"bash","input":{"command":"echo $$ > pid; exec sleep 60"}}]}
{"text":"Done."}
"#;
    let tree = Tree::new().file("session.jsonl", session);
    check(&tree, "-INT", &["run", "session.jsonl", "--yes"]);
}
