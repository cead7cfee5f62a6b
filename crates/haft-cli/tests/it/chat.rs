//! Chats: several messages to one run, with commands between them.

mod at_terminal;

use crate::agent::{agent, ended, keyed, reads, tree, writes};
use crate::run::without_durations;
use crate::service::{Service, Turn, Wire};
use crate::shown;
use expect_test::expect;
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

const WIRE: Wire = Wire::Anthropic;

/// Says lines to a chat and gives what came of it.
fn said(mut command: Command, lines: &str) -> Output {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// The lines of `--json`.
fn events(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The events of a kind, as far as they say this.
fn of(events: &[Value], kind: &str, member: &str) -> Vec<Value> {
    events.iter().filter(|event| event["event"] == kind).map(|event| event[member].clone()).collect()
}

/// Is a chat that is talked to line by line.
struct Talk {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Talk {
    fn begin(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// Reads until an event of a kind comes.
    fn until(&mut self, kind: &str) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "no `{kind}` came");
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == kind {
                return event;
            }
        }
    }

    fn end(self) -> i32 {
        let Self { mut child, input, .. } = self;
        drop(input);
        child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn lines_are_messages_of_one_run() {
    let turns = [reads("c1"), Turn::text("It says one."), Turn::text("And two.")];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let command = agent(&tree, &service, WIRE, &[]);
    let output = said(command, "What do the notes say?\n\nAnd \\\nthen?\n/cst\n");
    expect![[r#"
        anthropic/test-model A chat begins, in the mode default. /help says what can be entered.

        > What do the notes say?

        turn 1
          ✓ read_file notes.md  (allowed, N ms)
              notes.md: 2 lines, 8 bytes
              1    one
              2    two

        turn 2
        It says one.

        2 turns, 1 call, N ms

        > And 
        > then?

        turn 3
        And two.

        1 turn, 0 calls, N ms
        stderr: ? there is no command `/cst`; did you mean `/cost`? `/help` lists those that there are
        stderr: go on with `haft agent --resume RUN`
        exit 0
    "#]]
    .assert_eq(&without_durations(&ended(&output, 0)));
    let heard = service.heard();
    let body = heard[2].body.to_string();
    assert!(body.contains("What do the notes say?") && body.contains("It says one."), "{body}");
    assert!(body.contains(r"And \nthen?"), "{body}");
}

#[test]
fn each_line_of_json_is_an_event_and_each_message_has_a_summary() {
    let turns = [Turn::text("One."), Turn::text("Two.")];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let output = said(
        agent(&tree, &service, WIRE, &["--json"]),
        "First.\n/cost\n/mode\n/help\n/xyzzy\nSecond.\n/quit\nThird.\n",
    );
    ended(&output, 0);
    let events = events(&output);
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .filter(|kind| !["text_delta", "turn_started", "turn_finished"].contains(kind))
        .collect();
    assert_eq!(
        kinds,
        ["chat_started", "summary", "cost", "mode", "help", "refused", "summary", "chat_ended"]
    );
    assert_eq!(of(&events, "summary", "turns"), [json!(1), json!(2)]);
    assert_eq!(of(&events, "mode", "mode"), [json!("default")]);
    assert_eq!(of(&events, "chat_ended", "kept"), [json!(true)]);
    let cost = events.iter().find(|event| event["event"] == "cost").unwrap();
    assert_eq!(
        (
            &cost["turns"],
            &cost["input_tokens"],
            &cost["output_tokens"],
            &cost["cost"],
            &cost["left"]["turns"]
        ),
        (&json!(1), &json!(1000), &json!(10), &json!(null), &json!(99))
    );
}

#[test]
fn each_message_may_take_as_much_as_the_first() {
    let turns = [reads("c1"), Turn::text("Enough."), reads("c2"), Turn::text("Enough again.")];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let command = agent(&tree, &service, WIRE, &["--json", "--max-calls", "1", "--price", "in=3,out=15"]);
    let output = said(command, "Read.\n/cost\nRead.\n");
    let events = events(&output);
    let ends: Vec<Value> = of(&events, "summary", "end").iter().map(|end| end["end"].clone()).collect();
    assert_eq!(ends, ["budget_spent", "budget_spent"], "{}", shown(&output));
    let cost = events.iter().find(|event| event["event"] == "cost").unwrap();
    assert_eq!((&cost["left"]["calls"], &cost["cost"]), (&json!(0), &json!(0.0063)));
}

#[test]
fn nothing_to_say_is_an_error() {
    let (service, tree) = (Service::of(WIRE, &[]), tree());
    let shown = ended(&said(agent(&tree, &service, WIRE, &[]), ""), 2);
    assert!(shown.contains("nothing was said; give a prompt"), "{shown}");
    for (arguments, why) in [
        (&["--chat", "--record", "r.jsonl", "Go."][..], "a chat is not recorded"),
        (&["--wait"], "leave out `--wait`"),
        (&["--resume", "run-1", "--yes"], "cannot be used with"),
        (&["--resume", "run-1"], "cannot be used with"),
    ] {
        let shown = ended(&said(agent(&tree, &service, WIRE, arguments), "Go.\n"), 2);
        assert!(shown.contains(why), "{shown}");
    }
    assert!(service.heard().is_empty());
}

#[test]
fn a_call_that_waits_is_approved_or_denied_by_its_id() {
    for (answer, reason, told) in [("/approve", "", "a.txt"), ("/deny", " use b.txt", "use b.txt")] {
        let (service, tree) = (Service::of(WIRE, &[writes("c1"), Turn::text("So be it.")]), tree());
        let mut talk = Talk::begin(agent(&tree, &service, WIRE, &["--json"]));
        talk.say("Write a.");
        let summary = talk.until("summary");
        assert_eq!(summary["end"], Value::Null);
        talk.say("Be quick.");
        assert_eq!(talk.until("queued")["waiting"], 1);
        talk.say("/approve");
        let waiting = talk.until("waiting");
        let id = waiting["calls"][0]["id"].as_str().unwrap();
        talk.say("/approve zzz");
        assert!(talk.until("refused")["message"].as_str().unwrap().contains("no call `zzz` waits"));
        talk.say(&format!("{answer} {}{reason}", &id[..8]));
        assert_eq!(talk.until("summary")["end"]["end"], "completed");
        assert_eq!(talk.end(), 0);
        let body = service.heard()[1].body.to_string();
        assert!(body.contains(told) && body.contains("Be quick."), "{body}");
        assert_eq!(tree.path().join("a.txt").exists(), answer == "/approve");
    }
}

#[test]
fn a_chat_that_waits_exits_so_and_goes_on_in_another_process() {
    let (service, tree) =
        (Service::of(WIRE, &[writes("c1"), Turn::text("Written."), Turn::text("More.")]), tree());
    let output = said(agent(&tree, &service, WIRE, &["--json"]), "Write a.\n");
    ended(&output, 3);
    let run = of(&events(&output), "chat_ended", "run")[0].as_str().unwrap().to_owned();
    let (call, _) = crate::waiting::waiting(&tree);
    assert!(keyed(&tree, &["approvals", "approve", &call]).status().unwrap().success());
    let output = said(keyed(&tree, &["agent", "--resume", &run, "--json"]), "And more.\n");
    ended(&output, 0);
    let events = events(&output);
    assert_eq!(of(&events, "chat_started", "goes_on"), [json!(true)]);
    assert_eq!(of(&events, "summary", "turns"), [json!(2), json!(3)]);
    assert!(tree.path().join("a.txt").exists());
}

#[test]
fn the_mode_is_changed_for_what_follows_and_kept() {
    let turns = [writes("c1"), Turn::text("Denied."), writes("c2"), Turn::text("Denied again.")];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let lines = "/mode plan\nWrite a.\n/mode auto\n/mode fast\n";
    let output = said(agent(&tree, &service, WIRE, &["--json"]), lines);
    ended(&output, 0);
    let told = events(&output);
    assert_eq!(of(&told, "mode", "mode"), [json!("plan")]);
    let refused = of(&told, "refused", "message");
    assert!(refused[0].as_str().unwrap().contains("has begun without one"), "{refused:?}");
    assert!(refused[1].as_str().unwrap().contains("`fast` is not a mode"), "{refused:?}");
    let run = of(&told, "chat_ended", "run")[0].as_str().unwrap().to_owned();
    let output = said(keyed(&tree, &["agent", "--resume", &run, "--json"]), "Write a.\n");
    ended(&output, 0);
    assert_eq!(of(&events(&output), "chat_started", "mode"), [json!("plan")]);
    for told in [&told, &events(&output)] {
        let replies = of(told, "finished", "reply");
        assert_eq!(replies.iter().map(|reply| &reply["status"]).collect::<Vec<_>>(), ["denied"]);
    }
    assert!(!tree.path().join("a.txt").exists());
}

fn writes_to(id: &str, path: &str, content: &str) -> Turn {
    Turn::call(id, "write_file", json!({ "path": path, "content": content }))
}

fn content(tree: &Tree, path: &str) -> Option<String> {
    std::fs::read_to_string(tree.path().join(path)).ok()
}

#[test]
fn what_a_message_changed_is_undone_message_by_message() {
    let turns = [
        writes_to("c1", "a.txt", "first\n"),
        writes_to("c2", "b.txt", "b\n"),
        Turn::text("Written."),
        writes_to("c3", "a.txt", "second\n"),
        Turn::text("Again."),
        Turn::text("I see."),
    ];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let mut talk = Talk::begin(agent(&tree, &service, WIRE, &["--json", "--yes"]));
    talk.say("/undo");
    assert_eq!(talk.until("undone")["nothing_to_undo"], "no message has changed a file by a file tool");
    for message in ["Write.", "Write again."] {
        talk.say(message);
        talk.until("summary");
    }
    assert_eq!(content(&tree, "a.txt").as_deref(), Some("second\n"));
    talk.say("/undo");
    assert_eq!(talk.until("undone")["effects"], json!([{ "does": "restore", "path": "a.txt" }]));
    assert_eq!(content(&tree, "a.txt").as_deref(), Some("first\n"));
    talk.say("What now?");
    talk.until("summary");
    let body = service.heard()[5].body.to_string();
    assert!(body.contains("took back what you had changed in these files: a.txt"), "{body}");
    talk.say("/undo");
    assert_eq!(talk.until("undone")["effects"].as_array().unwrap().len(), 2);
    assert_eq!((content(&tree, "a.txt"), content(&tree, "b.txt")), (None, None));
    talk.say("/undo");
    assert!(talk.until("undone")["nothing_to_undo"].is_string());
    assert_eq!(talk.end(), 0);
}

#[test]
fn what_another_process_changed_in_a_chat_is_undone_too() {
    let turns = [writes_to("c1", "a.txt", "first\n"), Turn::text("Written."), Turn::text("Nothing.")];
    let (service, tree) = (Service::of(WIRE, &turns), tree());
    let output = said(agent(&tree, &service, WIRE, &["--json", "--yes"]), "Write.\nAnything else?\n");
    let run = of(&events(&output), "chat_ended", "run")[0].as_str().unwrap().to_owned();
    let output = said(keyed(&tree, &["agent", "--resume", &run, "--json"]), "/undo\n");
    ended(&output, 0);
    assert_eq!(of(&events(&output), "undone", "effects"), [json!([{ "does": "remove", "path": "a.txt" }])]);
    assert_eq!(content(&tree, "a.txt"), None);
}

#[test]
fn a_new_chat_knows_nothing_of_the_one_before() {
    let (service, tree) = (Service::of(WIRE, &[Turn::text("One."), Turn::text("Two.")]), tree());
    let output = said(agent(&tree, &service, WIRE, &["--json", "First."]), "");
    ended(&output, 0);
    let output =
        said(agent(&tree, &service, WIRE, &["--json", "--chat", "Second."]), "/new\n/tools read_*\n");
    ended(&output, 0);
    let events = events(&output);
    let runs = of(&events, "chat_started", "run");
    assert!(runs.len() == 2 && runs[0] != runs[1], "{runs:?}");
    assert_eq!(of(&events, "chat_ended", "kept"), [json!(true), json!(false)]);
    let tools = of(&events, "tools", "tools");
    let names: Vec<&Value> = tools[0].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["read_file", "read_output"]);
    let body = service.heard()[1].body.to_string();
    assert!(body.contains("Second.") && !body.contains("First."), "{body}");
}

#[test]
fn a_model_that_cannot_be_asked_does_not_end_the_chat() {
    let (service, tree) = (Service::of(WIRE, &[]), tree());
    let output = said(agent(&tree, &service, WIRE, &["--json"]), "One.\nTwo.\n");
    ended(&output, 1);
    let ends: Vec<Value> =
        of(&events(&output), "summary", "end").iter().map(|end| end["end"].clone()).collect();
    assert_eq!(ends, ["failed", "failed"]);
}
