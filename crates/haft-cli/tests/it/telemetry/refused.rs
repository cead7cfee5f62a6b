//! A collector that is not there, hangs, refuses, or cannot be asked: calls are made as ever, and it is said once.

use super::collector::Collector;
use super::{as_user, to, tree};
use crate::shown;
use expect_test::{Expect, expect};
use haft_testkit::Tree;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message as _;

/// Makes a call, and shows what a person sees.
fn told(tree: &Tree) -> String {
    let output = as_user(tree, &["call", "read_file", r#"{"path":"notes.md","limit":1}"#]).output().unwrap();
    shown(&output).replace(&*tree.path().to_string_lossy(), "TREE")
}

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(tree: &Tree, expected: Expect) {
    expected.assert_eq(&told(tree));
}

#[test]
fn nobody_is_there() {
    check(
        &tree("endpoint = \"http://127.0.0.1:1\""),
        expect![[r#"
        notes.md: 2 lines, 8 bytes
        1	one
        [line 1 of 2; continue with offset 2]
        stderr: note: 1 span was not exported to `127.0.0.1`
        stderr:   because: cannot connect to `127.0.0.1`
        stderr:   because: error sending request
        stderr:   because: client error (Connect)
        stderr:   because: tcp connect error
        stderr:   because: Connection refused (os error 111)
        exit 0
    "#]],
    );
}

#[test]
fn it_does_not_answer() {
    check(
        &tree(&to(&Collector::answering(0))),
        expect![[r#"
            notes.md: 2 lines, 8 bytes
            1	one
            [line 1 of 2; continue with offset 2]
            stderr: note: 1 span was not exported to `127.0.0.1`
            stderr:   because: they came faster than they could be sent, or were still to be sent when that was waited for no longer
            exit 0
        "#]],
    );
}

#[test]
fn it_answers_that_it_is_out_of_order() {
    let collector = Collector::answering(500);
    check(
        &tree(&to(&collector)),
        expect![[r#"
        notes.md: 2 lines, 8 bytes
        1	one
        [line 1 of 2; continue with offset 2]
        stderr: note: 1 span was not exported to `127.0.0.1`
        stderr:   because: it answers with 500 Internal Server Error
        exit 0
    "#]],
    );
    assert_eq!(collector.heads().len(), 1);
}

#[test]
fn it_sends_elsewhere() {
    check(
        &tree(&to(&Collector::answering(302))),
        expect![[r#"
        notes.md: 2 lines, 8 bytes
        1	one
        [line 1 of 2; continue with offset 2]
        stderr: note: 1 span was not exported to `127.0.0.1`
        stderr:   because: it answers with 302 Found
        exit 0
    "#]],
    );
}

#[test]
fn it_takes_a_part_only() {
    let partial =
        ExportTracePartialSuccess { rejected_spans: 1, error_message: "too many\nspans".to_owned() };
    let answer = ExportTraceServiceResponse { partial_success: Some(partial) };
    check(
        &tree(&to(&Collector::saying(200, answer.encode_to_vec()))),
        expect![[r#"
        notes.md: 2 lines, 8 bytes
        1	one
        [line 1 of 2; continue with offset 2]
        stderr: note: 1 span was not exported to `127.0.0.1`
        stderr:   because: the collector refuses some of them
        stderr:   because: too many\nspans
        exit 0
    "#]],
    );
}

#[test]
fn it_answers_with_anything_and_has_taken_them() {
    for body in [b"\xff\xff\xff".to_vec(), b"{}".to_vec(), vec![0; 100_000]] {
        let collector = Collector::saying(200, body.clone());
        assert_eq!(told(&tree(&to(&collector))), told(&tree("")), "{} bytes", body.len());
        assert_eq!(collector.spans().len(), 1);
    }
}

#[test]
fn it_cannot_be_asked() {
    check(
        &tree("endpoint = \"localhost:4317\""),
        expect![[r#"
        notes.md: 2 lines, 8 bytes
        1	one
        [line 1 of 2; continue with offset 2]
        stderr: note: no spans are exported
        stderr:   because: cannot use `endpoint` of `[telemetry]`: it is neither `http` nor `https`; write one as in `http://127.0.0.1:4318`
        exit 0
    "#]],
    );
    check(
        &tree("endpoint = \"https://x.example\"\nheader = [\"api-key: $HAFT_NOT_SET\"]"),
        expect![[r#"
        notes.md: 2 lines, 8 bytes
        1	one
        [line 1 of 2; continue with offset 2]
        stderr: note: no spans are exported
        stderr:   because: the header `api-key` is made of the variable `HAFT_NOT_SET`, which is not set; set it
        exit 0
    "#]],
    );
    check(
        &tree("endpoints = \"https://x.example\""),
        expect![[r#"
        stderr: error: TREE/config/haft/haft.toml:2:1: `endpoints` is not known; did you mean `endpoint`?
        exit 2
    "#]],
    );
    check(
        &tree("endpoint = 4318"),
        expect![[r#"
        stderr: error: TREE/config/haft/haft.toml:2:12: this is a number; write a text
        exit 2
    "#]],
    );
}

#[test]
fn what_is_configured_is_checked_and_looked_at() {
    let told = |tree: &Tree, arguments: &[&str]| {
        let told = shown(&as_user(tree, arguments).output().unwrap());
        let about =
            |line: &&str| line.contains("telemetry") || line.contains("span") || line.starts_with("exit");
        let told: Vec<&str> = told.lines().filter(about).collect();
        told.join("\n").replace(&*tree.path().to_string_lossy(), "TREE") + "\n"
    };
    let wrong = tree("endpoint = \"localhost:4317\"");
    expect![[r#"
        stderr: error: cannot use `endpoint` of `[telemetry]`: it is neither `http` nor `https`; write one as in `http://127.0.0.1:4318`
        exit 1
    "#]].assert_eq(&told(&wrong, &["config", "check"]));
    expect![[r#"
        error    configuration  cannot use `endpoint` of `[telemetry]`: it is neither `http` nor `https`; write one as in `http://127.0.0.1:4318`
        exit 1
    "#]].assert_eq(&told(&wrong, &["doctor"]));
    let collector = Collector::answering(200);
    let right = tree(&format!("{}\nheader = [\"api-key: hunter2\"]\ncontent = true", to(&collector)));
    expect![[r#"
        exit 0
    "#]]
    .assert_eq(&told(&right, &["config", "check"]));
    expect![[r#"
        telemetry.endpoint  URL  $XDG_CONFIG_HOME/haft/haft.toml:2
        telemetry.header    api-key                 $XDG_CONFIG_HOME/haft/haft.toml:3
        telemetry.content   true                    $XDG_CONFIG_HOME/haft/haft.toml:4
        exit 0
    "#]]
    .assert_eq(&told(&right, &["config", "show"]).replace(&collector.url(), "URL"));
    expect![[r#"
        ok       telemetry      spans go to `127.0.0.1`, with arguments and results
        exit 0
    "#]]
    .assert_eq(&told(&right, &["doctor"]));
    assert_eq!(collector.heads().len(), 0);
    expect![[r#"
        ok       telemetry      spans go to `127.0.0.1`, with arguments and results; it takes them
        exit 0
    "#]]
    .assert_eq(&told(&right, &["doctor", "--connect"]));
    assert!(collector.heads()[0].contains("api-key: hunter2\r\n"), "{:?}", collector.heads());
    expect![[r#"
        error    telemetry      spans cannot be sent to `127.0.0.1`
        exit 1
    "#]]
    .assert_eq(&told(&tree(&to(&Collector::answering(404))), &["doctor", "--connect"]));
}
