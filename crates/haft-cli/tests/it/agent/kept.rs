//! Runs that are interrupted, and go on in another process.

use super::{agent, ended, keyed, reads, summary, tree};
use crate::service::{Answer, Service, Turn, Wire};
use crate::waiting::json;
use haft_testkit::Tree;
use serde_json::json;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Polls until the condition holds, for as long as a loaded machine may need.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn waits(id: &str) -> Turn {
    Turn::call(id, "bash", json!({ "command": "echo waits >> log.txt; sleep 60" }))
}

fn begin(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

fn is_at_work(tree: &Tree) -> bool {
    std::fs::read_to_string(tree.path().join("log.txt")).is_ok_and(|log| log == "waits\n")
}

#[test]
fn a_run_that_was_killed_goes_on_and_repeats_nothing() {
    for wire in Wire::ALL {
        let turns = [reads("c1").saying("I look."), waits("c2"), Turn::text("It is done.")];
        let (service, tree) = (Service::of(wire, &turns), tree());
        let arguments = ["--yes", "--record", "record.jsonl", "--header", "x-team: blue", "Work."];
        let mut child = begin(&mut agent(&tree, &service, wire, &arguments));
        wait_until("the call runs", || is_at_work(&tree));
        child.kill().unwrap();
        child.wait().unwrap();

        let runs = json(&tree, &["resume", "--json"]);
        let run = runs[0]["run"].as_str().unwrap();
        assert!(!runs.to_string().contains("blue") && !runs.to_string().contains("Topsecret"), "{runs}");
        let refused = ended(&keyed(&tree, &["resume", run]).output().unwrap(), 2);
        assert!(refused.contains("--header 'x-team: VALUE'"), "{refused}");
        let arguments = ["resume", run, "--json", "--header", "x-team: green"];
        let output = keyed(&tree, &arguments).output().unwrap();
        assert!(ended(&output, 0).contains("the call `c2` was due"));
        assert_eq!(summary(&output)["turns"], 3);
        assert_eq!(tree.read("log.txt"), "waits\n");
        let heard = service.heard();
        assert_eq!(heard.len(), 3);
        assert!(heard[2].head.contains("x-team: green\r\n"), "{}", heard[2].head);
        assert_eq!(tree.read("record.jsonl").lines().count(), 3);
    }
}

#[test]
fn a_run_needs_its_key_again() {
    let turns = [reads("c1"), waits("c2"), Turn::text("It is done.")];
    let (service, tree) = (Service::of(Wire::Chat, &turns), tree());
    let mut child = begin(&mut agent(&tree, &service, Wire::Chat, &["--yes", "Work."]));
    wait_until("the call runs", || is_at_work(&tree));
    child.kill().unwrap();
    child.wait().unwrap();
    let runs = json(&tree, &["resume", "--json"]);
    let mut command = crate::haft(tree.path(), &["resume", runs[0]["run"].as_str().unwrap()]);
    ended(&command.env_remove("OPENAI_API_KEY").output().unwrap(), 0);
    assert!(!service.heard()[2].head.contains("authorization"));
}

#[test]
fn an_interrupt_answers_each_call_and_ends_the_run() {
    let turns = [waits("c1").and_call("c2", "bash", json!({ "command": "echo more >> log.txt" }))];
    let (service, tree) = (Service::of(Wire::Anthropic, &turns), tree());
    let child = begin(&mut agent(&tree, &service, Wire::Anthropic, &["--yes", "--json", "Work."]));
    wait_until("the call runs", || is_at_work(&tree));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    ended(&output, 1);
    assert_eq!(summary(&output)["end"]["end"], "cancelled");
    let finished = String::from_utf8_lossy(&output.stdout).matches("\"event\":\"finished\"").count();
    assert_eq!(finished, 2);
    assert_eq!(tree.read("log.txt"), "waits\n");
}

#[test]
fn an_interrupt_ends_an_answer_that_does_not_end() {
    for wire in Wire::ALL {
        let answer = Answer::turn(wire, &Turn::text("I begin."));
        let (service, tree) = (Service::answering([answer.only(200, true)]), tree());
        let child = begin(&mut agent(&tree, &service, wire, &["Work."]));
        wait_until("the model is asked", || !service.heard().is_empty());
        interrupt(&child);
        let shown = ended(&child.wait_with_output().unwrap(), 1);
        assert!(shown.contains("cancelled after 0 turns"), "{shown}");
    }
}

/// The id of the one run that is kept, which has ended.
fn ended_run(tree: &Tree) -> String {
    assert_eq!(json(tree, &["resume", "--json"]), json!([]));
    let runs = json(tree, &["resume", "--ended", "--json"]);
    assert_eq!((runs.as_array().map(Vec::len), &runs[0]["status"]), (Some(1), &json!("ended")), "{runs}");
    runs[0]["run"].as_str().unwrap().to_owned()
}

#[test]
fn more_is_said_to_a_run_that_has_ended() {
    for wire in Wire::ALL {
        let turns = [reads("c1"), Turn::text("It says one."), reads("c2"), Turn::text("And two.")];
        let (service, tree) = (Service::of(wire, &turns), tree());
        let arguments = ["--max-turns", "2", "--record", "record.jsonl", "Read."];
        ended(&agent(&tree, &service, wire, &arguments).output().unwrap(), 0);
        let run = ended_run(&tree);
        let refused = ended(&keyed(&tree, &["resume", &run]).output().unwrap(), 2);
        assert!(refused.contains("--prompt TEXT"), "{refused}");
        let output = keyed(&tree, &["resume", &run, "--prompt", "What else?", "--json"]).output().unwrap();
        ended(&output, 0);
        assert_eq!(summary(&output)["turns"], 4);
        let body = service.heard()[2].body.to_string();
        assert!(body.contains("It says one.") && body.contains("What else?"), "{body}");
        assert_eq!(ended_run(&tree), run);
        assert_eq!(tree.read("record.jsonl").lines().count(), 2);
    }
}

#[test]
fn a_run_that_failed_goes_on_when_its_service_is_there_again() {
    let refusal = Answer::new(402, "", "{}");
    let answers =
        [Answer::turn(Wire::Chat, &reads("c1")), refusal, Answer::turn(Wire::Chat, &Turn::text("One."))];
    let (service, tree) = (Service::answering(answers), tree());
    let shown = ended(&agent(&tree, &service, Wire::Chat, &["Read."]).output().unwrap(), 1);
    assert!(shown.contains("add credit"), "{shown}");
    let run = ended_run(&tree);
    let shown = ended(&keyed(&tree, &["resume", &run, "--prompt", "Go on."]).output().unwrap(), 0);
    assert!(shown.contains("One."), "{shown}");
    assert!(service.heard()[2].body.to_string().contains("notes.md: 2 lines"));
}

#[test]
fn a_run_in_which_nothing_was_said_is_not_kept() {
    let (service, tree) = (Service::answering([Answer::new(401, "", "{}")]), tree());
    ended(&agent(&tree, &service, Wire::Chat, &["Read."]).output().unwrap(), 1);
    assert_eq!(json(&tree, &["resume", "--ended", "--json"]), json!([]));
}
