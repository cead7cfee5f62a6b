use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use expect_test::{Expect, expect};
use haft_core::ToolOutput;
use haft_hooks::{CommandHook, CommandHooks, Obligation};
use haft_tools_core::{Before, Layer as _, LayerAnswer, Selector};

use crate::harness::{Asking, SOON, VARIABLES, after, bash, before, denial, sh};

/// What the model reads when a required hook failed before a call.
const UNCHECKED: &str = "the call did not run, because a check that has to pass first could not be made; that is no \
fault of the call; ask the user to look at the hooks";

/// Fails a hook both ways: a required one blocks, an advisory one lets the call go on, and the host is told the same.
async fn check(command: &[&str], expected: Expect) {
    check_hook(CommandHook::before(Selector::all(), command.iter().copied()), expected).await;
}

async fn check_time(command: &[&str], expected: Expect) {
    let hook = CommandHook::before(Selector::all(), command.iter().copied());
    check_hook(hook.timeout(Duration::from_millis(200)), expected).await;
}

async fn check_hook(hook: CommandHook, expected: Expect) {
    let required = Asking::new([hook.clone()]);
    let advisory = Asking::new([hook.obligation(Obligation::Advisory)]);
    assert_eq!(required.before(&bash()).await, denial(UNCHECKED));
    assert_eq!(advisory.before(&bash()).await, Before::proceed());
    expected.assert_eq(&(required.reports() + &advisory.reports()));
    required.is_deserted().await;
    advisory.is_deserted().await;
}

#[tokio::test]
async fn fails_with_another_exit_code_or_a_signal() {
    check(&sh("echo /home/ann/.ssh is gone >&2; exit 1"), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: it ended with the exit code 1; the call did not run "/home/ann/.ssh is gone\n"
        the hook `/bin/sh` failed before the call "c1" of `bash`: it ended with the exit code 1; passed over "/home/ann/.ssh is gone\n"
    "#]]).await;
    check(&sh("exit 255"), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: it ended with the exit code 255; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: it ended with the exit code 255; passed over
    "#]]).await;
    check(&sh("kill -9 $$"), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: it was killed by signal 9; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: it was killed by signal 9; passed over
    "#]]).await;
    check(&sh("kill -SEGV $$"), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: it was killed by signal 11; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: it was killed by signal 11; passed over
    "#]]).await;
}

#[tokio::test]
async fn fails_when_its_time_is_over() {
    check_time(&sh("echo '{}'; sleep 60"), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: it took longer than 0.2 s; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: it took longer than 0.2 s; passed over
    "#]]).await;
    check_time(&sh("trap '' TERM; sleep 60 & while :; do wait; done"), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: it took longer than 0.2 s; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: it took longer than 0.2 s; passed over
    "#]]).await;
    check_time(
        &["yes"],
        expect![[r#"
            the hook `yes` failed before the call "c1" of `bash`: it took longer than 0.2 s; the call did not run
            the hook `yes` failed before the call "c1" of `bash`: it took longer than 0.2 s; passed over
        "#]],
    )
    .await;
}

#[tokio::test]
async fn fails_when_it_cannot_be_started() {
    check(&["/nowhere/check"], expect![[r#"
        the hook `/nowhere/check` failed before the call "c1" of `bash`: cannot start `/nowhere/check` in `DIRECTORY`: No such file or directory (os error 2); the call did not run
        the hook `/nowhere/check` failed before the call "c1" of `bash`: cannot start `/nowhere/check` in `DIRECTORY`: No such file or directory (os error 2); passed over
    "#]]).await;
    check(&["no-such-check"], expect![[r#"
        the hook `no-such-check` failed before the call "c1" of `bash`: cannot start `no-such-check` in `DIRECTORY`: it is in no directory of `PATH`; the call did not run
        the hook `no-such-check` failed before the call "c1" of `bash`: cannot start `no-such-check` in `DIRECTORY`: it is in no directory of `PATH`; passed over
    "#]]).await;
    check(&["./check"], expect![[r#"
        the hook `./check` failed before the call "c1" of `bash`: cannot start `DIRECTORY/./check` in `DIRECTORY`: No such file or directory (os error 2); the call did not run
        the hook `./check` failed before the call "c1" of `bash`: cannot start `DIRECTORY/./check` in `DIRECTORY`: No such file or directory (os error 2); passed over
    "#]]).await;
    check(&["/etc/passwd"], expect![[r#"
        the hook `/etc/passwd` failed before the call "c1" of `bash`: cannot start `/etc/passwd` in `DIRECTORY`: Permission denied (os error 13); the call did not run
        the hook `/etc/passwd` failed before the call "c1" of `bash`: cannot start `/etc/passwd` in `DIRECTORY`: Permission denied (os error 13); passed over
    "#]]).await;
    check(&["/etc/passwd/check"], expect![[r#"
        the hook `/etc/passwd/check` failed before the call "c1" of `bash`: cannot start `/etc/passwd/check` in `DIRECTORY`: Not a directory (os error 20); the call did not run
        the hook `/etc/passwd/check` failed before the call "c1" of `bash`: cannot start `/etc/passwd/check` in `DIRECTORY`: Not a directory (os error 20); passed over
    "#]]).await;
    check(&["/etc"], expect![[r#"
        the hook `/etc` failed before the call "c1" of `bash`: cannot start `/etc` in `DIRECTORY`: Permission denied (os error 13); the call did not run
        the hook `/etc` failed before the call "c1" of `bash`: cannot start `/etc` in `DIRECTORY`: Permission denied (os error 13); passed over
    "#]]).await;
    check(&["/bin/sh", &"x".repeat(200_000)], expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: cannot start `/bin/sh` in `DIRECTORY`: Argument list too long (os error 7); the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: cannot start `/bin/sh` in `DIRECTORY`: Argument list too long (os error 7); passed over
    "#]]).await;
}

#[tokio::test]
async fn fails_where_its_directory_is_not_one() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_permissions(Permissions::from_mode(0o755)).unwrap();
    for directory in [file.path(), &file.path().with_extension("missing")] {
        let hooks = CommandHooks::new([before("exit 0")], directory, VARIABLES).unwrap();
        assert_eq!(hooks.before(&bash().shown()).await, denial(UNCHECKED), "{}", directory.display());
    }
}

#[tokio::test]
async fn fails_when_it_prints_what_is_no_answer() {
    check(&sh("echo all is well"), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: it is not a JSON object; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: it is not a JSON object; passed over
    "#]]).await;
    check(&sh("echo '{\"inputs\": 1}'"), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: unknown field `inputs`, expected `input` or `context` at line 1 column 9; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: unknown field `inputs`, expected `input` or `context` at line 1 column 9; passed over
    "#]]).await;
    check(&sh("echo '{\"input\": NaN}'"), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: expected value at line 1 column 11; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: expected value at line 1 column 11; passed over
    "#]]).await;
    check(&sh("echo '{\"context\": 7}'"), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: invalid type: integer `7`, expected a string at line 1 column 13; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: invalid type: integer `7`, expected a string at line 1 column 13; passed over
    "#]]).await;
    check(&sh(r#"printf '{"context": "\377"}'"#), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: invalid unicode code point at line 1 column 14; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: invalid unicode code point at line 1 column 14; passed over
    "#]]).await;
    check(&sh(r#"printf '{"input":'; head -c 10000 /dev/zero | tr '\0' '['"#), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: recursion limit exceeded at line 1 column 136; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: recursion limit exceeded at line 1 column 136; passed over
    "#]]).await;
    check(&sh("printf '{\"context\": \"'"), expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: EOF while parsing a string at line 1 column 13; the call did not run
        the hook `/bin/sh` failed before the call "c1" of `bash`: what it printed is neither empty nor an answer: EOF while parsing a string at line 1 column 13; passed over
    "#]]).await;
}

#[tokio::test]
async fn takes_a_flood_and_keeps_little_of_it() {
    let flood = "yes haft | head -c 134217728; yes haft | head -c 100000000 >&2; printf end >&2";
    let hook = before(flood).timeout(SOON);
    let asking = Asking::new([hook.clone()]);
    assert_eq!(asking.before(&bash()).await, denial(UNCHECKED));
    let kept = format!("{:?}", "haft\n".repeat(16 * 1024 / 5) + "haft");
    let report = asking.reports();
    expect![[r#"
        the hook `/bin/sh` failed before the call "c1" of `bash`: it printed more than 1048576 bytes; the call did not run STDERR"
    "#]].assert_eq(&report.replace(&kept[..kept.len() - 1], "STDERR"));
    // The longest answer is one.
    let spaces = |bytes: usize| before(&format!("head -c {bytes} /dev/zero | tr '\\0' ' '"));
    assert_eq!(Asking::new([spaces(1024 * 1024)]).before(&bash()).await, Before::proceed());
    assert_eq!(Asking::new([spaces(1024 * 1024 + 1)]).before(&bash()).await, denial(UNCHECKED));
    // What it says by its exit code counts, however much it prints.
    let blocking = "yes haft | head -c 10000000; echo no >&2; exit 2";
    let asking = Asking::new([before(blocking).obligation(Obligation::Advisory)]);
    assert_eq!(asking.before(&bash()).await, denial("the call was blocked and did not run: no"));
}

#[tokio::test]
async fn withholds_an_answer_that_could_not_be_checked() {
    let asking = Asking::new([after("exit 1")]);
    let LayerAnswer { status, output } = asking.after(&bash(), ToolOutput::text("a key")).await;
    expect![[r#"
        error: failed
        the call did run and what it did stays done, but its result is withheld, because a check of it could not be made; do not repeat the call, ask the user to look at the hooks
        the hook `/bin/sh` failed after the call "c1" of `bash`: it ended with the exit code 1; its result is withheld
    "#]].assert_eq(&format!("{status}\n{}\n{}", output.to_text(), asking.reports()));

    let asking =
        Asking::new([after("exit 1").obligation(Obligation::Advisory), after("echo '{\"context\": \"x\"}'")]);
    let LayerAnswer { status, output } = asking.after(&bash(), ToolOutput::text("a key")).await;
    expect![[r#"
        ok
        a key
        x
        the hook `/bin/sh` failed after the call "c1" of `bash`: it ended with the exit code 1; passed over
    "#]]
    .assert_eq(&format!("{status}\n{}\n{}", output.to_text(), asking.reports()));
}

#[tokio::test]
async fn a_reporter_that_panics_disturbs_nobody() {
    let directory = tempfile::TempDir::new().unwrap();
    let hooks =
        CommandHooks::new([before("exit 1").obligation(Obligation::Advisory)], directory.path(), VARIABLES)
            .unwrap()
            .reporting_to(|_| panic!("the reporter broke"));
    assert_eq!(hooks.before(&bash().shown()).await, Before::proceed());
}
