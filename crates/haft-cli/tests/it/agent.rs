//! Runs of an agent whose model is asked over the network: a service on this machine stands for the provider's.

mod errors;
mod kept;
mod providers;
mod recorded;

use crate::run::without_durations;
use crate::service::{Answer, Service, Turn, Wire};
use crate::{haft, shown};
use expect_test::expect;
use haft_testkit::Tree;
use serde_json::{Value, json};
use std::process::{Command, Output};

/// What nothing may show.
pub(crate) const KEY: &str = "sk-test-Topsecret-0123456789";

impl Wire {
    pub(crate) const ALL: [Self; 3] = [Self::Anthropic, Self::Chat, Self::Responses];

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic => &["--model", "anthropic/test-model"],
            Self::Chat => &["--model", "openai/test-model", "--wire", "chat"],
            Self::Responses => &["--model", "openai/test-model", "--wire", "responses"],
        }
    }
}

/// Prepares a command with a key for each provider.
pub(crate) fn keyed(tree: &Tree, arguments: &[&str]) -> Command {
    let mut command = haft(tree.path(), arguments);
    command.env("ANTHROPIC_API_KEY", KEY).env("OPENAI_API_KEY", KEY);
    command
}

/// Prepares `haft agent` with a model of the service.
pub(crate) fn agent(tree: &Tree, service: &Service, wire: Wire, arguments: &[&str]) -> Command {
    let url = service.url();
    let mut all = vec!["agent"];
    all.extend(wire.arguments());
    all.extend(["--base-url", &url]);
    all.extend(arguments);
    keyed(tree, &all)
}

pub(crate) fn tree() -> Tree {
    Tree::new().file("notes.md", "one\ntwo\n")
}

pub(crate) fn reads(id: &str) -> Turn {
    Turn::call(id, "read_file", json!({ "path": "notes.md" }))
}

pub(crate) fn writes(id: &str) -> Turn {
    Turn::call(id, "write_file", json!({ "path": "a.txt", "content": "a\n" }))
}

/// Checks that a command ended with a code, and gives what it showed.
pub(crate) fn ended(output: &Output, code: i32) -> String {
    let shown = shown(output);
    assert_eq!(output.status.code(), Some(code), "{shown}");
    assert!(!shown.contains("Topsecret"), "{shown}");
    shown
}

/// The last line of `--json`.
pub(crate) fn summary(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[test]
fn a_model_is_asked_by_each_wire_and_its_calls_are_made() {
    for wire in Wire::ALL {
        let first = reads("c1").thinking("Where to look?").saying("Grüße 👋, I look.");
        let (service, tree) = (Service::of(wire, &[first, Turn::text("It says one.")]), tree());
        let output = agent(&tree, &service, wire, &["What do the notes say?"]).output().unwrap();
        let name = if wire == Wire::Anthropic { "anthropic" } else { "openai" };
        let shown = without_durations(&ended(&output, 0)).replacen(name, "PROVIDER", 1);
        expect![[r#"
            PROVIDER/test-model in the current directory

            > What do the notes say?

            turn 1
            Where to look?
            Grüße 👋, I look.
              ✓ read_file notes.md  (allowed, N ms)
                  notes.md: 2 lines, 8 bytes
                  1    one
                  2    two

            turn 2
            It says one.

            done after 2 turns and 1 call, N ms
            2000 tokens read, 20 written
            stderr: say more with `haft resume RUN`.
            exit 0
        "#]]
        .assert_eq(&shown);

        let heard = service.heard();
        assert_eq!((heard.len(), service.left()), (2, 0));
        let (path, key) = match wire {
            Wire::Anthropic => ("POST /v1/messages ", format!("x-api-key: {KEY}")),
            Wire::Chat => ("POST /v1/chat/completions ", format!("authorization: Bearer {KEY}")),
            Wire::Responses => ("POST /v1/responses ", format!("authorization: Bearer {KEY}")),
        };
        for request in &heard {
            assert!(request.head.starts_with(path) && request.head.contains(&key), "{}", request.head);
            let body = request.body.to_string();
            assert_eq!(request.body["model"], "test-model");
            assert!(body.contains("You work on a task for a person"), "{body}");
            assert!(body.contains("What do the notes say?") && body.contains("\"update_plan\""), "{body}");
            assert!(!body.contains("Topsecret"), "{body}");
        }
        let body = heard[1].body.to_string();
        assert!(body.contains("notes.md: 2 lines, 8 bytes") && body.contains("Where to look?"), "{body}");
    }
}

#[test]
fn a_call_that_is_not_approved_waits_and_its_denial_is_told() {
    for (answer, status, told) in [("approve", "ok", "a.txt"), ("deny", "denied", "not approved")] {
        let (service, tree) =
            (Service::of(Wire::Anthropic, &[writes("c1"), Turn::text("So be it.")]), tree());
        let output = agent(&tree, &service, Wire::Anthropic, &["Write a."]).output().unwrap();
        let shown = ended(&output, 3);
        assert!(shown.contains("waiting for an approval: `write_file` wants to"), "{shown}");
        let (call, run) = crate::waiting::waiting(&tree);
        assert!(keyed(&tree, &["approvals", answer, &call]).status().unwrap().success());
        let output = keyed(&tree, &["resume", &run, "--json"]).output().unwrap();
        ended(&output, 0);
        assert_eq!(summary(&output)["turns"], 2);
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("\"status\":\"{status}\"")));
        let body = service.heard()[1].body.to_string();
        assert!(body.contains(told), "{body}");
        assert_eq!(tree.path().join("a.txt").exists(), answer == "approve");
    }
}

#[test]
fn a_spent_budget_leaves_one_turn_without_tools() {
    let turns = [reads("c1"), Turn::text("I was about to read more.")];
    let cost = ["--max-cost", "0.003", "--price", "in=3,out=15"];
    for arguments in [&["--max-turns", "1"][..], &["--max-calls", "1"], &["--max-tokens", "1010"], &cost] {
        let (service, tree) = (Service::of(Wire::Chat, &turns), tree());
        let arguments = [&["--json"], arguments, &["Read on."]].concat();
        let output = agent(&tree, &service, Wire::Chat, &arguments).output().unwrap();
        ended(&output, 1);
        let summary = summary(&output);
        assert_eq!((&summary["end"]["end"], &summary["turns"]), (&json!("budget_spent"), &json!(2)));
        let heard = service.heard();
        assert_eq!(heard.len(), 2);
        assert!(heard[0].body["tool_choice"].is_null());
        assert_eq!(heard[1].body["tool_choice"], "none");
        assert_eq!(heard[0].body["tools"], heard[1].body["tools"]);
        if arguments.contains(&"--max-cost") {
            assert_eq!(summary["cost"], json!(0.0063));
        }
    }
}

#[test]
fn what_a_run_took_is_said_at_its_end() {
    let (service, tree) = (Service::of(Wire::Anthropic, &[Turn::text("Nothing.")]), tree());
    let arguments = ["--price", "in=3,out=15", "Anything?"];
    let output = agent(&tree, &service, Wire::Anthropic, &arguments).output().unwrap();
    let shown = ended(&output, 0);
    assert!(shown.contains("1000 tokens read, 10 written, cost 0.0032"), "{shown}");
}

#[test]
fn the_prompt_and_what_goes_ahead_of_it_can_come_from_elsewhere() {
    let tree = tree().file("system.md", "You speak in rhymes.").file("prompt.md", "Why?\n");
    let service = Service::of(Wire::Responses, &[Turn::text("Because.")]);
    let mut command = agent(&tree, &service, Wire::Responses, &["--system", "system.md", "-"]);
    let prompt = std::fs::File::open(tree.path().join("prompt.md")).unwrap();
    ended(&command.stdin(prompt).output().unwrap(), 0);
    let body = &service.heard()[0].body;
    assert_eq!(body["instructions"], "You speak in rhymes.");
    assert!(body["input"].to_string().contains("\"Why?\""), "{body}");
}

#[test]
fn a_model_is_asked_as_the_command_line_says() {
    let (service, tree) = (Service::of(Wire::Chat, &[Turn::text("Yes.")]), tree());
    let arguments = [
        "--header",
        "api-key: $AZURE_KEY",
        "--header",
        "x-team: blue",
        "--effort",
        "low",
        "--without",
        "parallel-calls,images",
        "Go.",
    ];
    let mut command = agent(&tree, &service, Wire::Chat, &arguments);
    ended(&command.env("AZURE_KEY", "azure-Topsecret-1").output().unwrap(), 0);
    let heard = &service.heard()[0];
    assert!(heard.head.contains("api-key: azure-Topsecret-1\r\n"), "{}", heard.head);
    assert!(heard.head.contains("x-team: blue\r\n") && !heard.head.contains(KEY), "{}", heard.head);
    assert_eq!(heard.body["reasoning_effort"], "low");
    assert_eq!(heard.body["parallel_tool_calls"], false);
}

#[test]
fn a_plan_is_kept_without_asking() {
    let steps = json!({ "steps": [{ "text": "Look", "status": "in_progress" }] });
    let turns = [Turn::call("c1", "update_plan", steps), Turn::text("Planned.")];
    let (service, tree) = (Service::of(Wire::Anthropic, &turns), tree());
    let shown = ended(&agent(&tree, &service, Wire::Anthropic, &["Plan."]).output().unwrap(), 0);
    assert!(shown.contains("the plan is set: 0 of 1 steps are done"), "{shown}");
}

#[test]
fn a_key_that_a_tool_comes_upon_is_told_nobody() {
    let tree = tree().file("notes.md", &format!("key = {KEY}\n"));
    let service = Service::of(Wire::Anthropic, &[reads("c1"), writes("c2"), Turn::text("Found.")]);
    let output = agent(&tree, &service, Wire::Anthropic, &["What is the key?"]).output().unwrap();
    let shown = ended(&output, 3);
    assert!(shown.contains("key = [redacted]"), "{shown}");
    for request in service.heard() {
        assert!(!request.body.to_string().contains("Topsecret"));
    }
    let kept = std::fs::read_dir(tree.path().join(".haft-state")).unwrap().map(|file| file.unwrap().path());
    for file in kept.filter(|path| path.is_file()) {
        let bytes = std::fs::read(file).unwrap();
        assert!(!bytes.windows(9).any(|window| window == b"Topsecret"));
    }
}

#[test]
fn an_answer_that_was_asked_for_too_often_is_waited_for() {
    let limited = Answer::new(
        429,
        "retry-after-ms: 1\r\n",
        r#"{"error":{"type":"rate_limit_error","message":"slow"}}"#,
    );
    let service = Service::answering([limited, Answer::turn(Wire::Anthropic, &Turn::text("Here."))]);
    let shown = ended(&agent(&tree(), &service, Wire::Anthropic, &["Go."]).output().unwrap(), 0);
    let told =
        "turn 1\nthe model is asked again in 1 ms: the model's provider limits the rate of requests\nHere.\n";
    assert!(shown.contains(told), "{shown}");
}
