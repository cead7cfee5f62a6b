//! A build that cannot send spans says so where they are to be sent, and does its work all the same.

use crate::{haft, shown};
use expect_test::{Expect, expect};
use haft_testkit::Tree;

#[expect(clippy::needless_pass_by_value, reason = "snapshots read better without a reference")]
fn check(configuration: &str, variables: &[(&str, &str)], expected: Expect) {
    let tree = Tree::new().file("work/notes.md", "one\n").file("config/haft/haft.toml", configuration);
    let mut command = haft(&tree.path().join("work"), &["call", "read_file", r#"{"path":"notes.md"}"#]);
    command.env("XDG_CONFIG_HOME", tree.path().join("config")).env("HAFT_STATE", tree.path().join("haft.db"));
    for name in [
        "OTEL_SDK_DISABLED",
        "OTEL_TRACES_EXPORTER",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    ] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    expected.assert_eq(&shown(&command.output().unwrap()));
}

#[test]
fn what_cannot_be_sent_is_said_once_with_what_to_do() {
    let table = "[telemetry]\nendpoint = \"http://127.0.0.1:9\"\n";
    check(
        table,
        &[],
        expect![[r#"
        notes.md: 1 line, 4 bytes
        1	one
        stderr: note: spans are to be exported, and this `haft` was built without it; install it with `--features otel`
        exit 0
    "#]],
    );
    check(
        table,
        &[("OTEL_SDK_DISABLED", "true")],
        expect![[r#"
        notes.md: 1 line, 4 bytes
        1	one
        exit 0
    "#]],
    );
    // What is wrong with the table is said as a build does that can send.
    check(
        "[telemetry]\nendpoint = \"nowhere\"\n",
        &[],
        expect![[r#"
        notes.md: 1 line, 4 bytes
        1	one
        stderr: note: no spans are exported
        stderr:   because: cannot use `endpoint` of `[telemetry]`: it is not an absolute URL; write one as in `http://127.0.0.1:4318`
        exit 0
    "#]],
    );
}

#[test]
fn variables_that_are_for_other_programs_too_are_left_alone() {
    check(
        "",
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")],
        expect![[r#"
        notes.md: 1 line, 4 bytes
        1	one
        exit 0
    "#]],
    );
}
