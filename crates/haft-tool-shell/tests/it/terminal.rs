//! Jobs that have a terminal.

use expect_test::{Expect, expect};
use haft_core::ReplyStatus;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::harness::SOON;
use crate::jobs::Desk;

async fn start(desk: &Desk, command: &str) {
    let input = json!({ "command": command, "background": true, "pty": true, "rows": 6, "columns": 40 });
    let reply = desk.call("bash", input).await;
    assert_eq!(reply.status, ReplyStatus::Ok, "{}", reply.output.to_text());
}

async fn write(desk: &Desk, text: &str) {
    let reply = desk.call("job_write", json!({ "job": "j1", "text": text })).await;
    assert_eq!(reply.status, ReplyStatus::Ok, "{}", reply.output.to_text());
}

/// What stands on the screen once this does.
async fn screen_with(desk: &Desk, part: &str) -> String {
    let deadline = Instant::now() + SOON;
    loop {
        let text = desk.call("job_poll", json!({ "job": "j1", "wait": 1 })).await.output.to_text();
        if text.contains(part) {
            return text;
        }
        assert!(Instant::now() < deadline, "not so in time: {text}");
        sleep(std::time::Duration::from_millis(5)).await;
    }
}

async fn check(command: &str, part: &str, expected: Expect) {
    let desk = Desk::new();
    start(&desk, &format!("{command}; exec sleep 61")).await;
    let text = screen_with(&desk, part).await;
    expected.assert_eq(text.rsplit_once("; cursor").map_or(text.as_str(), |(text, _)| text));
    desk.call("job_signal", json!({ "job": "j1" })).await;
    desk.shell.is_deserted().await;
}

#[tokio::test]
async fn programs_find_a_terminal_of_the_size_that_was_asked_for() {
    check(
        "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size && echo $TERM > /dev/tty",
        "xterm",
        expect![[r#"
            6 40
            xterm-256color
            [screen of 6 rows and 40 columns, the cursor in row 3, column 1]
            [job `j1`: running"#]],
    )
    .await;
}

#[tokio::test]
async fn what_stands_on_the_screen_is_shown_and_not_how_it_came_there() {
    check(
        r"printf 'old\n\033[2J\033[2;5H\033[31mred\033[m\033[6;1Hdown'",
        "down",
        expect![[r#"

            red



        down
        [screen of 6 rows and 40 columns, the cursor in row 6, column 5]
        [job `j1`: running"#]],
    )
    .await;
    check(
        "seq 100; printf end",
        "end",
        expect![[r#"
        96
        97
        98
        99
        100
        end
        [screen of 6 rows and 40 columns, the cursor in row 6, column 4]
        [job `j1`: running"#]],
    )
    .await;
    check(
        r"printf '\033[?25l10%%\r100%%'",
        "100%",
        expect![[r#"
        100%
        [screen of 6 rows and 40 columns, no cursor]
        [job `j1`: running"#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_written_is_typed() {
    let desk = Desk::new();
    start(&desk, "read -p 'Name? ' name; echo \"hello, $name\"; cat; trap 'echo caught; exit 5' INT; echo over; while :; do sleep 0.01; done").await;
    screen_with(&desk, "Name?").await;
    write(&desk, "ann\r").await;
    screen_with(&desk, "hello, ann").await;
    let closed = desk.call("job_write", json!({ "job": "j1", "close": true })).await;
    assert_eq!(closed.status, ReplyStatus::Ok, "{}", closed.output.to_text());
    screen_with(&desk, "over").await;
    desk.call("job_signal", json!({ "job": "j1", "signal": "interrupt" })).await;
    over(&desk).await;
    expect![[r#"
        Name? ann
        hello, ann
        over
        caught
        [screen of 6 rows and 40 columns, the cursor in row 5, column 1]
        [job `j1`: ended, exit code 5; cursor 37]"#]]
    .assert_eq(&screen_with(&desk, "exit code 5").await);
    desk.shell.is_deserted().await;
}

#[tokio::test]
async fn the_keys_that_interrupt_do() {
    let desk = Desk::new();
    start(&desk, "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.01; done").await;
    screen_with(&desk, "ready").await;
    write(&desk, "\u{3}").await;
    over(&desk).await;
    expect![[r#"
        ready
        ^Ccaught
        [screen of 6 rows and 40 columns, the cursor in row 3, column 1]
        [job `j1`: ended, exit code 7; cursor 17]"#]]
    .assert_eq(&screen_with(&desk, "exit code 7").await);
    desk.shell.is_deserted().await;
}

/// Waits until everything that came of the job has ended.
async fn over(desk: &Desk) {
    let waited = desk.call("job_wait", json!({ "jobs": ["j1"] })).await;
    assert_eq!(waited.status, ReplyStatus::Ok, "{}", waited.output.to_text());
}

#[tokio::test]
async fn everything_ends_with_it() {
    for command in [
        "trap '' TERM HUP; setsid sleep 61 & sleep 61",
        "set -m; sleep 61 & sleep 61 & wait",
        // Without the greetings of who uses this machine.
        "bash --norc -i",
        "(setsid bash -c 'setsid sleep 61 & wait' &); sleep 61",
    ] {
        let desk = Desk::new();
        start(&desk, &format!("echo begun; {command}")).await;
        screen_with(&desk, "begun").await;
        desk.call("job_signal", json!({ "job": "j1" })).await;
        desk.shell.is_deserted().await;
    }
    let desk = Desk::new();
    start(&desk, "trap '' TERM HUP; echo begun; setsid sleep 61 & sleep 61").await;
    screen_with(&desk, "begun").await;
    desk.token.cancel();
    desk.shell.is_deserted().await;
}

#[tokio::test]
async fn what_it_leaves_running_is_still_of_the_job() {
    let desk = Desk::new();
    start(&desk, "setsid sh -c 'touch ready; exec sleep 61' > /dev/null 2>&1 & until [ -e ready ]; do sleep 0.01; done; echo done").await;
    let text = screen_with(&desk, "still running").await;
    assert!(text.contains("ended, exit code 0, and what it has started is still running"), "{text}");
    desk.call("job_signal", json!({ "job": "j1" })).await;
    desk.shell.is_deserted().await;
}

#[tokio::test]
async fn its_input_ends_within_a_line_and_its_keys_stay() {
    let desk = Desk::new();
    start(&desk, "cat; trap 'echo caught; exit 5' INT; echo over; while :; do sleep 0.01; done").await;
    desk.call("job_write", json!({ "job": "j1", "text": "abc", "close": true })).await;
    screen_with(&desk, "over").await;
    write(&desk, "\u{3}").await;
    over(&desk).await;
    screen_with(&desk, "exit code 5").await;
    desk.shell.is_deserted().await;
}

#[tokio::test]
async fn one_that_was_closed_and_opened_again_holds_nobody_up() {
    let desk = Desk::new();
    start(&desk, "echo begun; exec 0<&- 1>&- 2>&-; sleep 1; exec 0<>/dev/tty; touch reopened; sleep 61")
        .await;
    while !desk.shell.tree.path().join("reopened").exists() {
        sleep(std::time::Duration::from_millis(10)).await;
    }
    // More than the terminal takes of what nobody reads.
    for _ in 0..2 {
        desk.call("job_write", json!({ "job": "j1", "text": "x\n".repeat(16_000) })).await;
    }
    desk.call("job_signal", json!({ "job": "j1" })).await;
    desk.shell.is_deserted().await;
}

#[tokio::test]
async fn what_is_printed_on_one_that_was_opened_again_is_shown() {
    let desk = Desk::new();
    let closes = "echo begun; exec 0<&- 1>&- 2>&-; sleep 0.3";
    let opens = "exec 0<>/dev/tty 1>&0 2>&0; echo again; read x; echo \"got $x\"";
    start(&desk, &format!("{closes}; {opens}; {closes}; {opens}; exit 5")).await;
    screen_with(&desk, "again").await;
    write(&desk, "one\r").await;
    screen_with(&desk, "again\none\ngot one\nbegun\nagain").await;
    write(&desk, "two\r").await;
    screen_with(&desk, "got two").await;
    screen_with(&desk, "ended, exit code 5;").await;
    desk.shell.is_deserted().await;
}

#[tokio::test]
async fn all_that_it_prints_at_its_very_end_is_kept() {
    for _ in 0..40 {
        let desk = Desk::new();
        start(&desk, "seq 300").await;
        screen_with(&desk, "exit code 0").await;
        let text = desk.call("job_poll", json!({ "job": "j1", "cursor": 0 })).await.output.to_text();
        assert!(text.starts_with("1\n2\n3\n") && text.contains("\n299\n300\n"), "{text}");
    }
}

#[tokio::test]
async fn all_that_was_printed_is_kept_as_well() {
    let desk = Desk::new();
    start(&desk, "seq 1000").await;
    screen_with(&desk, "exit code 0").await;
    let text = desk.call("job_poll", json!({ "job": "j1", "cursor": 0 })).await.output.to_text();
    assert!(text.starts_with("1\n2\n3\n"), "{text}");
}

#[tokio::test]
async fn refuses_what_is_no_terminal() {
    let desk = Desk::new();
    let refused = async |input: Value| desk.call("bash", input).await.output.to_text();
    let mut told = vec![refused(json!({ "command": "true", "pty": true })).await];
    told.push(refused(json!({ "command": "true", "pty": true, "background": true, "input": "x" })).await);
    told.push(refused(json!({ "command": "true", "pty": true, "background": true, "rows": 0 })).await);
    told.push(refused(json!({ "command": "true", "pty": true, "background": true, "columns": 501 })).await);
    expect![[r#"
        `pty` needs `background`; give both or neither
        `input` is not a terminal; give `pty` alone, and type with `job_write`
        the arguments do not fit `bash`:
        - at `/rows`: 0 is less than the minimum of 1
        correct them and call the tool again
        the arguments do not fit `bash`:
        - at `/columns`: 501 is greater than the maximum of 500
        correct them and call the tool again"#]]
    .assert_eq(&told.join("\n"));
}
