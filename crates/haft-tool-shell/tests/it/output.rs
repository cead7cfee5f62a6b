use std::sync::{Arc, Mutex};

use expect_test::expect;
use haft_core::{Event, EventKind, ReplyStatus, ToolCall};
use haft_testkit::call_batch;
use haft_tools_core::{AllowAll, Batch, Events, LocalExecutor, Strategy, ToolExecutor as _, Widths};
use serde_json::json;

use crate::harness::{Shell, check, scope, until};

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
async fn keeps_little_of_a_hundred_megabytes() {
    let shell = Shell::new();
    let reply = shell.run("yes haft | head -c 100000000; echo end").await;
    let text = reply.output.to_text();
    assert_eq!(reply.output.details["bytes"], 100_000_004);
    assert!(text.len() < 29 * 1024, "{} bytes were kept", text.len());
    assert_eq!(reply.truncation, None, "what the tool gives fits the executor's bound");
    let notes: Vec<&str> = text.lines().filter(|line| !line.starts_with("haft")).collect();
    expect![[r#"
        [… 99990505 bytes, 19998101 lines cut here: write long output to a file and look at parts of it …]
        end
        [exit code 0]"#]]
    .assert_eq(&notes.join("\n"));
}

#[tokio::test]
async fn tells_the_host_how_it_ended() {
    let details = async |command: &str| {
        let mut details = Shell::new().run(command).await.output.details;
        assert!(details["duration_ms"].take().is_u64());
        details.to_string()
    };
    expect![[r#"{"background_ended":false,"bytes":6,"duration_ms":null,"exit_code":2,"signal":null,"timed_out":false}"#]].assert_eq(&details("echo hello; exit 2").await);
    expect![[r#"{"background_ended":false,"bytes":0,"duration_ms":null,"exit_code":null,"signal":9,"timed_out":false}"#]].assert_eq(&details("kill -9 $$").await);
    expect![[r#"{"background_ended":true,"bytes":0,"duration_ms":null,"exit_code":0,"signal":null,"timed_out":false}"#]].assert_eq(&details("sleep 60 &").await);
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
