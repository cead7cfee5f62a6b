//! How long a call waits for what does not end by itself.
//!
//! It is told by the clock that the calls have, which stands still while a script runs and is moved from when it has ended.
//! So a call that waits for too long is seen on any machine; how long one that is busy takes to start programs does not
//! count, and how long it takes to come back from there counts as little as by any clock.

use std::time::Duration;

use haft_core::{ReplyStatus, ToolReply};
use serde_json::json;

use crate::harness::Shell;
use crate::held_clock::HeldClock;

/// How long a call may wait in all, once its script has ended.
const BACK_WITHIN: Duration = Duration::from_secs(2);

/// How long a call that is cancelled may wait until nothing is alive.
const GONE_WITHIN: Duration = Duration::from_secs(3);

/// How long a call may wait that leaves nothing behind, on a machine that is busy; less than output is waited for.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Leaves its session and clears its environment, and has ended itself when what it started is ready.
const ESCAPED: &str = "(env -i setsid bash -c '(setsid bash -c \": > ready; exec sleep 60\" &)' &); sleep 60";

/// Runs a script, and tells how long the call waited after it had ended.
async fn call(shell: &Shell, script: &str) -> (ToolReply, Duration) {
    let over = shell.tree.path().join("over");
    let command = format!("{script}\n: > over");
    HeldClock::new().waited(|| over.exists(), shell.call(json!({ "command": command }))).await
}

async fn check(scripts: &[&str], most: Duration) {
    for script in scripts {
        let shell = Shell::new();
        let (reply, waited) = call(&shell, script).await;
        assert_eq!(reply.status, ReplyStatus::Ok, "{script}: {}", reply.output.to_text());
        assert!(waited <= most, "{script}: {waited:?}");
        assert!(shell.processes().is_empty(), "{script}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_comes_back_from_what_it_left_behind() {
    let scripts = [
        "sleep 60 &",
        "setsid sleep 60 &",
        "(setsid sleep 60 &)",
        "bash -c '(bash -c \"sleep 60 &\" &)'",
        "(yes &)",
        "trap '' TERM; sleep 60 &",
        "(trap '' TERM; while :; do sleep 0.1; done) &",
        "(trap '' TERM; yes) &",
    ];
    check(&scripts, BACK_WITHIN).await;
}

#[tokio::test(start_paused = true)]
async fn a_call_does_not_wait_for_who_would_ask_somebody() {
    let scripts = [
        "sudo -k id",
        "read x",
        "ssh -o ConnectTimeout=1 -p 1 127.0.0.1 true",
        "git init -q . && git config user.name a && git config user.email a@example.org && touch a && git add -A && git commit",
        "git init -q . && git config user.name a && git config user.email a@example.org && touch a && git add -A && \
         git -c maintenance.auto=false commit -qm one && git log",
    ];
    check(&scripts, AT_ONCE).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_alive_soon_after_a_call_was_cancelled() {
    for script in [
        "sleep 60 & touch ready; wait",
        "setsid sleep 60 & touch ready; wait",
        "(setsid bash -c 'setsid sleep 60 & wait' &); touch ready; sleep 60",
        "(yes &); touch ready; sleep 60",
        "trap '' TERM; touch ready; sleep 60; sleep 60",
        "trap '' TERM; (setsid bash -c 'while :; do sleep 0.1; done' &); touch ready; while :; do :; done",
        ESCAPED,
    ] {
        let shell = Shell::new();
        let clock = HeldClock::new();
        let (running, _) = clock.waited(|| true, shell.start(script)).await;
        let (reply, waited) = clock.waited(|| true, running.cancel()).await;
        assert_eq!(reply.status, ReplyStatus::Cancelled, "{script}");
        assert!(waited <= GONE_WITHIN, "{script}: {waited:?}");
        assert!(shell.processes().is_empty(), "{script}");
    }
}
