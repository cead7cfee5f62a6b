//! Sessions that are written as a model speaks, and played.

use super::{KEY, agent, ended, keyed, reads, tree, writes};
use crate::service::{Service, Turn, Wire};
use expect_test::expect;

#[test]
fn what_is_recorded_by_each_wire_is_played_without_a_service() {
    for wire in Wire::ALL {
        let turns = [reads("c1").saying("I look."), writes("c2"), Turn::text("Written.")];
        let (service, tree) = (Service::of(wire, &turns), tree());
        let arguments = ["--record", "record.jsonl", "--yes", "Write a."];
        ended(&agent(&tree, &service, wire, &arguments).output().unwrap(), 0);
        expect![[r#"
            {"text":"I look.","calls":[{"id":"c1","name":"read_file","input":{"path":"notes.md"}}],"usage":{"input":1000,"output":10}}
            {"calls":[{"id":"c2","name":"write_file","input":{"content":"a\n","path":"a.txt"}}],"usage":{"input":1000,"output":10},"after":{"c1":"ok"}}
            {"text":"Written.","usage":{"input":1000,"output":10},"after":{"c2":"ok"}}
        "#]].assert_eq(&tree.read("record.jsonl"));
        std::fs::remove_file(tree.path().join("a.txt")).unwrap();
        let played = ended(&keyed(&tree, &["run", "record.jsonl", "--yes"]).output().unwrap(), 0);
        assert!(played.contains("Written."), "{played}");
        assert_eq!(tree.read("a.txt"), "a\n");
    }
}

#[test]
fn a_record_is_written_over_only_if_that_is_said() {
    let (service, tree) =
        (Service::of(Wire::Chat, &[Turn::text("New.")]), tree().file("record.jsonl", "old\n"));
    let output = agent(&tree, &service, Wire::Chat, &["--record", "record.jsonl", "Go."]).output().unwrap();
    expect![[r#"
        stderr: error: the record `TREE/record.jsonl` is there already; name another file, or write over it with `--force`
        exit 2
    "#]].assert_eq(&ended(&output, 2).replace(&*tree.path().to_string_lossy(), "TREE"));
    assert_eq!((tree.read("record.jsonl"), service.left()), ("old\n".to_owned(), 1));
    let arguments = ["--record", "record.jsonl", "--force", "Go."];
    ended(&agent(&tree, &service, Wire::Chat, &arguments).output().unwrap(), 0);
    assert!(tree.read("record.jsonl").starts_with(r#"{"text":"New.""#));
}

#[test]
fn no_record_holds_a_key() {
    let turns = [Turn::text(&format!("Your key is {KEY}."))];
    let (service, tree) = (Service::of(Wire::Anthropic, &turns), tree());
    let arguments = ["--record", "record.jsonl", "Guess my key."];
    let shown = ended(&agent(&tree, &service, Wire::Anthropic, &arguments).output().unwrap(), 0);
    assert!(shown.contains("Your key is [redacted]."), "{shown}");
    let record = tree.read("record.jsonl");
    assert!(record.contains("Your key is [redacted].") && !record.contains("Topsecret"), "{record}");
}
