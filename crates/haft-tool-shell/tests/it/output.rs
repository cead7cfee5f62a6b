use std::sync::{Arc, Mutex};

use expect_test::expect;
use haft_core::{Event, EventKind, OutputId, ReplyStatus, ToolCall};
use haft_testkit::{Tree, call_batch};
use haft_tool_shell::ScriptOutputs;
use haft_tools_core::{
    AllowAll, Batch, CallScope, Events, LocalExecutor, OutputError, OutputStore as _, Redactor, Strategy,
    ToolExecutor as _, Widths,
};
use serde_json::json;

use crate::harness::{Shell, check, scope, shown, until};

#[tokio::test]
async fn keeps_the_order_of_both_outputs() {
    check(
        "for i in 1 2 3; do echo out $i; echo err $i >&2; done",
        expect![[r#"
        ok
        out 1
        err 1
        out 2
        err 2
        out 3
        err 3
        [exit code 0]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn replaces_what_is_not_utf_8() {
    check(
        r"printf 'a\xff\xfeb\xe2\x82'; printf '\xacc\xe2\x82'",
        expect![[r#"
        ok
        a��b€c�
        [exit code 0]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn tells_that_there_was_no_output() {
    check(
        "true",
        expect![[r#"
        ok
        (no output)
        [exit code 0]
    "#]],
    )
    .await;
    check(
        "exit 3",
        expect![[r#"
        ok
        (no output)
        [exit code 3]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn shows_what_a_terminal_would_show() {
    check(r"printf '\e[31mred\e[0m\n'; for i in 1 2 3; do printf '\r%s of 3' $i; done; echo; yes same | head -100000", expect![[r#"
        ok
        red
        3 of 3
        same
        same
        same
        [the line above comes 99997 more times]
        [exit code 0]
    "#]]).await;
}

#[tokio::test]
async fn keeps_little_of_a_large_output_that_nobody_wants_whole() {
    let shell = Shell::new();
    let reply = shell.run("seq 1000000; echo end").await;
    let text = reply.output.to_text();
    assert_eq!(reply.output.details["bytes"], 6_888_900);
    assert!(text.len() < 29 * 1024, "{} bytes were kept", text.len());
    assert_eq!(reply.truncation, None, "what the tool gives fits the executor's bound");
    let notes: Vec<&str> = text.lines().filter(|line| line.parse::<u32>().is_err()).collect();
    expect![[r#"
        [… 6879109 bytes, 998101 lines cut here: write long output to a file and look at parts of it …]
        end
        [exit code 0]"#]]
    .assert_eq(&notes.join("\n"));
}

#[tokio::test]
async fn keeps_the_whole_of_a_large_output() {
    let (shell, outputs) = Shell::keeping(Redactor::new());
    let reply = shell.run("seq 1000000; echo end").await;
    let text = reply.output.to_text();
    let notes: Vec<&str> = text.lines().filter(|line| line.parse::<u32>().is_err()).collect();
    expect![[r#"
        [… 6879109 bytes, 998101 lines cut here: `read_output` gives them, with output "s1" and offset 1201 …]
        end
        [exit code 0]"#]]
    .assert_eq(&notes.join("\n"));
    let output = reply.output.details["output"].as_str().unwrap().parse().unwrap();
    let whole = whole(&outputs, &output).await;
    let numbers: String = (1..=1_000_000).map(|number| format!("{number}\n")).collect::<Vec<_>>().concat();
    assert!(whole == numbers + "end\n", "all is there, in {} bytes", whole.len());
    // Small outputs are not kept, and other runs know nothing of this one.
    assert_eq!(shell.run("echo small").await.output.details["output"], json!(null));
    let other = CallScope::new("run-2".parse().unwrap());
    assert!(matches!(outputs.read(&other, &output, 0..1).await, Err(OutputError::Unknown { .. })));
}

#[tokio::test]
async fn keeps_what_is_reduced_as_it_was_printed() {
    let (shell, outputs) = Shell::keeping(Redactor::new());
    let reply =
        shell.run(r"for i in $(seq 20000); do printf '\r%s of 20000' $i; done; printf '\xff\n'").await;
    expect![[r#"
        ok
        20000 of 20000�
        [reduced from 288898 bytes: `read_output` gives them, with output "s1" and offset 1]
        [exit code 0]
    "#]]
    .assert_eq(&shown(&reply));
    let output = reply.output.details["output"].as_str().unwrap().parse().unwrap();
    let printed: String =
        (1..=20_000).map(|number| format!("\r{number} of 20000")).collect::<Vec<_>>().concat();
    assert!(whole(&outputs, &output).await == printed + "\u{fffd}\n");
}

#[tokio::test]
async fn keeps_no_secrets() {
    let redactor = Redactor::new();
    redactor.add("hunter2hunter2").unwrap();
    let (shell, outputs) = Shell::keeping(redactor);
    let reply = shell.run("for i in $(seq 9000); do echo $i hunter2hunter2; done").await;
    let output = reply.output.details["output"].as_str().unwrap().parse().unwrap();
    let expected: String =
        (1..=9000).map(|number| format!("{number} [redacted]\n")).collect::<Vec<_>>().concat();
    assert!(whole(&outputs, &output).await == expected);
}

#[tokio::test]
async fn says_what_there_was_no_room_for() {
    let place = Tree::new();
    let outputs = ScriptOutputs::spilling_into(place.path()).bounded(1 << 20, 100_000);
    let shell = Shell::of_bash(Tree::new(), |bash| bash.outputs(&outputs));
    let reply = shell.run("seq 1000000").await;
    let text = reply.output.to_text();
    let note = text.lines().find(|line| line.starts_with("[…")).unwrap();
    assert!(note.contains("; its last ") && note.ends_with(" bytes could not be kept …]"), "{note}");
    let output = reply.output.details["output"].as_str().unwrap().parse().unwrap();
    let kept = whole(&outputs, &output).await;
    let numbers: String = (1..=1_000_000).map(|number| format!("{number}\n")).collect::<Vec<_>>().concat();
    assert!(kept.len() <= 100_000 && numbers.starts_with(&kept));
    // What has ended makes room for what comes.
    for _ in 0..20 {
        shell.run("seq 100000").await;
    }
    assert!(matches!(outputs.read(&caller(), &output, 0..1).await, Err(OutputError::Evicted { .. })));
}

/// The run that the calls of a shell are of.
fn caller() -> CallScope {
    CallScope::new("test".parse().expect("it is there"))
}

/// Reads all of an output.
async fn whole(outputs: &ScriptOutputs, output: &OutputId) -> String {
    let total = outputs.read(&caller(), output, 0..0).await.expect("it is there").total_bytes;
    String::from_utf8(outputs.read(&caller(), output, 0..total).await.expect("it is there").bytes.to_vec())
        .expect("it is there")
}

#[tokio::test]
async fn tells_the_host_how_it_ended() {
    let details = async |command: &str| {
        let mut details = Shell::new().run(command).await.output.details;
        assert!(details["duration_ms"].take().is_u64());
        details.to_string()
    };
    expect![[r#"{"background_ended":false,"bytes":6,"directory":".","duration_ms":null,"exit_code":2,"signal":null,"timed_out":false}"#]].assert_eq(&details("echo hello; exit 2").await);
    expect![[r#"{"background_ended":false,"bytes":0,"directory":".","duration_ms":null,"exit_code":null,"signal":9,"timed_out":false}"#]].assert_eq(&details("kill -9 $$").await);
    expect![[r#"{"background_ended":true,"bytes":0,"directory":".","duration_ms":null,"exit_code":0,"signal":null,"timed_out":false}"#]].assert_eq(&details("sleep 60 &").await);
}

#[tokio::test]
async fn shows_people_the_newest_lines_as_they_come() {
    let shell = Shell::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let observer = move |event: &Event| {
        if let EventKind::Updated { output } = &event.kind {
            sink.lock().unwrap().push(output.to_text());
        }
    };
    let executor = LocalExecutor::builder(shell.registry().clone())
        .approver(AllowAll)
        .events(Events::new([Arc::new(observer) as _]))
        .build();
    // The script goes on when it sees that its first lines were shown, so there is nothing to be early or late for.
    let command = "seq 1000; echo first; until [ -e shown ]; do sleep 0.01; done; echo second";
    let call = ToolCall::new("c1".parse().unwrap(), "bash", json!({ "command": command }));
    let batch = executor.execute_batch(Batch::new(scope(), vec![call]));
    let show = async {
        until(|| seen.lock().unwrap().iter().any(|text| text.ends_with("first\n"))).await;
        std::fs::write(shell.tree.path().join("shown"), "").unwrap();
    };
    let (outcome, ()) = tokio::join!(batch, show);
    assert_eq!(outcome.into_replies().unwrap()[0].status, ReplyStatus::Ok);
    for text in &*seen.lock().unwrap() {
        assert!(text.len() <= 2048, "an update is short");
        assert!(
            text.starts_with("1\n") || text.lines().all(|line| line.len() >= 3),
            "lines are whole: {text}"
        );
    }
}

#[tokio::test]
async fn answers_many_calls_at_once() {
    let shell = Shell::new();
    let calls = (0..64).map(|number| {
        // Each waits until all are there, so that they really overlap.
        let command =
            format!("touch at-{number}; until [ $(ls | wc -l) = 64 ]; do sleep 0.05; done; echo {number}");
        ToolCall::new(format!("c{number}").parse().unwrap(), "bash", json!({ "command": command }))
    });
    let executor = LocalExecutor::builder(shell.registry().clone())
        .approver(AllowAll)
        .strategy(Strategy::Parallel)
        .widths(&Widths { execute: 64, opaque: 64, ..Widths::default() })
        .build();
    let replies = executor.execute_batch(Batch::new(scope(), calls.collect())).await.into_replies().unwrap();
    for (number, reply) in replies.iter().enumerate() {
        assert_eq!(reply.output.to_text(), format!("{number}\n[exit code 0]"));
    }
    shell.is_deserted().await;
}

#[tokio::test]
async fn gives_the_same_text_for_the_same_output() {
    let shell = Shell::new();
    let input = || json!({ "command": "echo hello; exit 1" });
    let replies = call_batch(shell.registry(), [("bash", input()), ("bash", input())]).await;
    assert_eq!(replies[0].output.content, replies[1].output.content);
}
