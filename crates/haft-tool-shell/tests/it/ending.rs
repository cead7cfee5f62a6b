use expect_test::expect;
use haft_core::ReplyStatus;
use serde_json::json;

use crate::harness::{SOON, Shell, check, check_call, shown, until, writable_cgroup};
use crate::held_clock::HeldClock;

#[tokio::test]
async fn gives_exit_codes_and_signals_as_results() {
    check(
        "echo failed >&2; exit 101",
        expect![[r#"
        ok
        failed
        [exit code 101]
    "#]],
    )
    .await;
    check(
        "kill -9 $$",
        expect![[r#"
        ok
        (no output)
        [killed by signal 9]
    "#]],
    )
    .await;
    check(
        "bash -c 'kill -TERM $$'",
        expect![[r#"
        ok
        (no output)
        [killed by signal 15]
    "#]],
    )
    .await;
    check(
        "no-such-command",
        expect![[r#"
        ok
        bash: line 1: no-such-command: command not found
        [exit code 127]
    "#]],
    )
    .await;
    check(
        "if",
        expect![[r#"
        ok
        bash: -c: line 2: syntax error: unexpected end of file
        [exit code 2]
    "#]],
    )
    .await;
    check(
        "-x",
        expect![[r#"
        ok
        bash: line 1: -x: command not found
        [exit code 127]
    "#]],
    )
    .await;
}

#[tokio::test]
async fn lets_nobody_wait_for_input() {
    check(
        "cat",
        expect![[r#"
        ok
        (no output)
        [exit code 0]
    "#]],
    )
    .await;
    check(
        "read x; echo \"code $?\"",
        expect![[r#"
        ok
        code 1
        [exit code 0]
    "#]],
    )
    .await;
    check(
        "[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo no terminal; echo x > /dev/tty",
        expect![[r#"
        ok
        no terminal
        bash: line 1: /dev/tty: No such device or address
        [exit code 1]
    "#]],
    )
    .await;
}

const ENDED: &str = "started
[what was still running in the background was ended: nothing runs on after a call, so do what needs it in the same \
command]
[exit code 0]";

#[tokio::test]
async fn ends_what_is_left_in_the_background() {
    for command in [
        "sleep 60 & echo started",
        "setsid sleep 60 & echo started",
        "(setsid sleep 60 &); echo started",
        "set -m; sleep 60 & echo started",
        "trap '' TERM; sleep 60 & echo started",
        "sleep 60 > /dev/null 2>&1 & echo started",
        "setsid sleep 60 > /dev/null 2>&1 & echo started",
        "setsid sleep 60 > /dev/null 2>&1 & sleep 0.2; echo started",
        "(setsid nohup sleep 60 < /dev/null > /dev/null 2>&1 &); echo started",
        "bash -c 'kill -STOP $$' & echo started",
    ] {
        let shell = Shell::new();
        let reply = shell.run(command).await;
        assert!(reply.duration < SOON, "{command}");
        let ended = (reply.output.details["background_ended"].clone(), reply.output.to_text());
        assert_eq!(ended, (json!(true), ENDED.to_owned()), "{command}");
        shell.is_deserted().await;
    }
}

#[tokio::test]
async fn ends_what_is_left_without_its_session_and_environment() {
    for command in [
        "env -i setsid bash -c ': > ready; exec sleep 60' & until [ -e ready ]; do :; done; echo started",
        "(env -i setsid bash -c '(setsid bash -c \": > ready; exec sleep 60\" &)' &); until [ -e ready ]; do :; done; echo started",
    ] {
        let shell = Shell::new();
        let reply = shell.run(command).await;
        let ended = (reply.output.details["background_ended"].clone(), reply.output.to_text());
        assert_eq!(ended, (json!(true), ENDED.to_owned()), "{command}");
        assert!(shell.processes().is_empty(), "{command}");
    }
}

#[tokio::test(start_paused = true)]
async fn takes_what_is_still_printed_after_the_end() {
    let shell = Shell::new();
    // The clock stands still as long as something of it runs.
    let clock = HeldClock::new();
    let (reply, _) = clock.waited(|| shell.processes().is_empty(), shell.run("seq 1500 &")).await;
    let numbers: Vec<String> = (1..=1500).map(|number| number.to_string()).collect();
    assert_eq!(reply.output.to_text(), numbers.join("\n") + "\n[exit code 0]");
    assert_eq!(reply.output.details["background_ended"], false);
}

#[tokio::test]
async fn ends_a_flood_from_the_background() {
    let shell = Shell::new();
    let reply = shell.run("(yes &)").await;
    assert_eq!((reply.status, &reply.output.details["background_ended"]), (ReplyStatus::Ok, &json!(true)));
    shell.is_deserted().await;
}

#[tokio::test]
async fn comes_back_where_a_program_would_ask_somebody() {
    let git =
        "git init -q . && git config user.name a && git config user.email a@example.org && git add -A && ";
    for command in [
        "read x".to_owned(),
        "sudo -k id".to_owned(),
        "cat > /dev/null".to_owned(),
        // Nobody writes a message, so nothing is committed.
        format!("touch a; {git} git commit"),
        format!(
            "touch a; {git} git commit -qm one && git config core.pager less && git log && git rebase -i --root"
        ),
        "man bash | head -1; less /etc/passwd | head -1; vi -c q < /dev/null".to_owned(),
        "ssh -o ConnectTimeout=1 -p 1 127.0.0.1 true".to_owned(),
        "bash -c '(bash -c \"sleep 60 &\" &)'".to_owned(),
    ] {
        let shell = Shell::new();
        let reply = shell.run(&command).await;
        assert_eq!(reply.status, ReplyStatus::Ok, "{command}: {}", reply.output.to_text());
        shell.is_deserted().await;
    }
}

#[tokio::test]
async fn tells_what_it_could_not_end() {
    let shell = Shell::new();
    // It takes off the mark that outlives its environment, and where it would be found in its control group, leaves that, too.
    let leave = writable_cgroup().map(|place| format!("echo $$ > {}/cgroup.procs;", place.display()));
    let leave = leave.unwrap_or_default();
    let command = format!(
        "env -i setsid bash -c 'ulimit -x 1; {leave} touch ready; exec sleep 60' & until [ -e ready ]; do :; done; echo started"
    );
    let reply = shell.run(&command).await;
    expect![[r#"
        ok
        started
        [something the command started is still running in the background and could not be ended: look for it with `ps` and stop it]
        [exit code 0]
    "#]].assert_eq(&shown(&reply));
    until(|| shell.processes().len() == 1).await;
}

#[tokio::test]
async fn stops_a_script_whose_time_is_over() {
    check_call(json!({ "command": "echo begun; sleep 60; echo never", "timeout": 5 }), expect![[r#"
        timed out
        begun
        [stopped after 5 s, with everything it had started; give it a longer `timeout` (600 at most), or do less in one command]
    "#]]).await;
    check_call(json!({ "command": "sleep 60", "timeout": 5 }), expect![[r#"
        timed out
        (no output)
        [stopped after 5 s, with everything it had started; give it a longer `timeout` (600 at most), or do less in one command]
    "#]]).await;
}

#[tokio::test]
async fn stops_what_does_not_want_to_be_stopped() {
    let commands = [
        "trap '' TERM; sleep 60",
        "trap '' TERM; while :; do :; done",
        "setsid sleep 60 & wait",
        "(setsid bash -c \"trap '' TERM; sleep 60\" &) ; sleep 60",
        "kill -STOP $$",
        "for i in $(seq 50); do setsid sleep 60 & done; wait",
        "bash -c 'set -m; sleep 60 & sleep 60 & wait'",
    ];
    let stops = commands.map(async |command| {
        let shell = Shell::new();
        let reply = shell.call(json!({ "command": command, "timeout": 1 })).await;
        assert_eq!(reply.status, ReplyStatus::TimedOut, "{command}: {}", reply.output.to_text());
        shell.is_deserted().await;
    });
    futures_util::future::join_all(stops).await;
}

#[tokio::test]
async fn lets_a_script_clean_up_and_shows_what_it_says() {
    check_call(
        json!({ "command": "trap 'echo cleaning; exit 1' TERM; sleep 60 & wait", "timeout": 5 }),
        expect![[r#"
            timed out
            cleaning
            [stopped after 5 s, with everything it had started; give it a longer `timeout` (600 at most), or do less in one command]
        "#]],
    )
    .await;
}
