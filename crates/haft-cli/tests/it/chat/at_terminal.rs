//! Chats as a person sees them.

use super::{WIRE, content, writes_to};
use crate::agent::{agent, keyed, tree};
use crate::service::{Service, Turn};
use crate::terminal::Terminal;
use haft_testkit::Tree;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
const ALT_ENTER: &str = "\u{1b}\r";
const UP: &str = "\u{1b}[A";

/// Starts a chat at a terminal, whose history is in the directory.
fn chat(tree: &Tree, service: &Service, arguments: &[&str]) -> Terminal {
    let mut command: Command = agent(tree, service, WIRE, arguments);
    command.env("XDG_STATE_HOME", tree.path().join(".state"));
    Terminal::start(&command)
}

fn sleeps(id: &str) -> Turn {
    Turn::call(id, "bash", json!({ "command": "echo $$ > pid; exec sleep 60" }))
}

fn is_alive(pid: &str) -> bool {
    Command::new("kill").args(["-0", pid.trim()]).stderr(Stdio::null()).status().unwrap().success()
}

#[test]
fn a_call_is_asked_about_with_its_diff_and_its_reason_and_goes_on() {
    let turns = [writes_to("c1", "a.txt", "a\n"), Turn::text("Written.")];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let mut terminal = chat(&tree, &service, &[]);
    terminal.until_last(">");
    terminal.types("Write a.\r");
    let shown = terminal.until_last("later:");
    for part in
        ["write_file wants to:", "write file:a.txt", "asked because: no rule speaks of it", "+a", "Run it?"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    terminal.types("yes\n");
    terminal.until("the answer", |shown| shown.contains("Written.") && shown.ends_with('>'));
    terminal.types(CTRL_D);
    let shown = terminal.until("the end", |shown| shown.contains("go on with `haft agent --resume"));
    assert!(shown.contains("✓ write_file a.txt"), "{shown}");
    assert!(terminal.ended().success());
    assert_eq!(content(&tree, "a.txt").as_deref(), Some("a\n"));
}

#[test]
fn an_interrupt_stops_the_turn_and_comes_back_to_the_prompt() {
    let turns = [sleeps("c1"), Turn::text("Then not.")];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let mut terminal = chat(&tree, &service, &["--yes"]);
    terminal.until_last(">");
    terminal.types("Sleep.\r");
    terminal.until("the call runs", |_| content(&tree, "pid").is_some_and(|pid| pid.ends_with('\n')));
    let pid = content(&tree, "pid").unwrap();
    terminal.until("the call is shown while it runs", |shown| shown.contains("bash echo $$ > pid"));
    terminal.types(CTRL_C);
    let shown = terminal.until("the turn is stopped", |shown| {
        shown.contains("cancelled after 1 turn") && shown.ends_with('>')
    });
    assert!(shown.contains("bash"), "{shown}");
    terminal.until("its process is gone", |_| !is_alive(&pid));
    terminal.types("And now?\r");
    terminal.until("the answer", |shown| shown.contains("Then not.") && shown.ends_with('>'));
    let body = service.heard()[1].body.to_string();
    assert!(body.contains("cancelled") && body.contains("And now?"), "{body}");
    terminal.types("/quit\r");
    assert!(terminal.ended().success());
}

#[test]
fn what_was_typed_before_a_question_does_not_answer_it() {
    // It goes on for a moment after all was typed, so that the terminal has it.
    let command = "echo $$ > pid; while [ ! -e typed ]; do sleep 0.05; done; sleep 1";
    let sleeps = Turn::call("c1", "bash", json!({ "command": command }));
    let turns =
        [sleeps, Turn::call("c2", "bash", json!({ "command": "touch a.txt" })), Turn::text("So be it.")];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let mut terminal = chat(&tree, &service, &[]);
    terminal.until_last(">");
    terminal.types("Work.\r");
    terminal.until_last("later:");
    terminal.types("yes\n");
    terminal.until("the call runs", |_| content(&tree, "pid").is_some_and(|pid| pid.ends_with('\n')));
    terminal.types("yes\nyes\n");
    std::fs::write(tree.path().join("typed"), "").unwrap();
    terminal.until("the second question", |shown| shown.contains("touch a.txt") && shown.ends_with("later:"));
    terminal.types("no\n");
    terminal.until("the answer", |shown| shown.contains("So be it.") && shown.ends_with("\n>"));
    assert_eq!(content(&tree, "a.txt"), None);
    terminal.types("/quit\r");
    assert!(terminal.ended().success());
}

#[test]
fn an_interrupt_at_a_question_takes_nothing_from_what_is_typed_next() {
    let turns = [writes_to("c1", "a.txt", "a\n"), Turn::text("So be it.")];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let mut terminal = chat(&tree, &service, &[]);
    terminal.until_last(">");
    terminal.types("Write a.\r");
    terminal.until_last("later:");
    terminal.types(CTRL_C);
    terminal.until("the turn is stopped", |shown| {
        shown.contains("cancelled after 1 turn") && shown.ends_with('>')
    });
    terminal.types("Never mind.\r");
    terminal.until("the answer", |shown| shown.contains("So be it.") && shown.ends_with('>'));
    let body = service.heard()[1].body.to_string();
    assert!(body.contains("Never mind.") && body.contains("cancelled"), "{body}");
    assert_eq!(content(&tree, "a.txt"), None);
    let waits = keyed(&tree, &["approvals", "list", "--json"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&waits.stdout), "[]\n");
    terminal.types(CTRL_C);
    assert!(terminal.ended().success());
}

#[test]
fn what_was_left_for_later_is_answered_by_a_command() {
    let turns = [writes_to("c1", "a.txt", "a\n"), Turn::text("Written.")];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let mut terminal = chat(&tree, &service, &[]);
    terminal.until_last(">");
    terminal.types("Write a.\r");
    terminal.until_last("later:");
    terminal.types("later\n");
    terminal.until_last("(1 call waits) >");
    terminal.types("/approve\r");
    terminal.until_last("later:");
    terminal.types("yes\n");
    terminal.until("the answer", |shown| shown.contains("Written.") && shown.ends_with("\n>"));
    terminal.types("/quit\r");
    assert!(terminal.ended().success());
    assert_eq!(content(&tree, "a.txt").as_deref(), Some("a\n"));
}

#[test]
fn messages_have_several_lines_and_are_remembered_for_their_owner_alone() {
    let turns = [Turn::text("One."), Turn::text("Two.")];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let mut terminal = chat(&tree, &service, &[]);
    terminal.until_last(">");
    // What was given up is not said; the prompt comes again.
    terminal.types("Given up");
    terminal.until_last("> Given up");
    terminal.types(CTRL_C);
    terminal.until_last("\n>".trim_start());
    terminal.types(&format!("First{ALT_ENTER}second \\\rthird\r"));
    terminal.until("the answer", |shown| shown.contains("One.") && shown.ends_with("\n>"));
    terminal.types("/quit\r");
    assert!(terminal.ended().success());
    let history = tree.path().join(".state/haft/chat-history");
    assert_eq!(history.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let mut terminal = chat(&tree, &service, &[]);
    terminal.until_last(">");
    terminal.types(&format!("{UP}{UP}\r"));
    terminal.until("the answer", |shown| shown.contains("Two.") && shown.ends_with("\n>"));
    terminal.types("/quit\r");
    assert!(terminal.ended().success());
    for request in service.heard() {
        let body = request.body.to_string();
        assert!(body.contains(r"First\nsecond \nthird") && !body.contains("Given up"), "{body}");
    }
}
