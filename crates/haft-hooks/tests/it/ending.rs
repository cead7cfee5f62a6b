use std::time::Duration;

use haft_hooks::{CommandHook, Obligation};
use haft_tools_core::{Before, Layer as _};

use crate::harness::{Asking, bash, before, until};

/// Each makes the file `ready` when everything it starts is started, and would go on for a minute.
const STUBBORN: [&str; 5] = [
    "sleep 60 & : > ready; wait",
    "setsid sleep 60 & : > ready; wait",
    "trap '' TERM; : > ready; sleep 60; sleep 60",
    "(setsid sh -c 'setsid sleep 60 & wait' &); : > ready; sleep 60",
    "sleep 60 > /dev/null 2>&1 & : > ready; yes",
];

fn advisory(script: &str) -> CommandHook {
    before(script).obligation(Obligation::Advisory)
}

#[tokio::test]
async fn everything_ends_with_its_timeout() {
    for script in STUBBORN {
        let asking = Asking::new([advisory(script).timeout(Duration::from_millis(150))]);
        assert_eq!(asking.before(&bash()).await, Before::proceed(), "{script}");
        assert!(asking.processes().is_empty(), "all are gone before the call goes on: {script}");
        assert!(asking.reports().contains("it took longer than 0.15 s"), "{script}");
    }
}

#[tokio::test]
async fn everything_ends_when_it_is_dropped() {
    for script in STUBBORN {
        let asking = Asking::new([before(script)]);
        let hooks = asking.hooks();
        let asked = tokio::spawn(async move { hooks.before(&bash().shown()).await });
        until(|| asking.path().join("ready").exists()).await;
        asked.abort();
        assert!(asked.await.is_err_and(|error| error.is_cancelled()), "the hook was still at work: {script}");
        asking.is_deserted().await;
    }
}

#[tokio::test]
async fn what_is_left_in_the_background_ends_with_it() {
    for script in [
        "sleep 60 & exit 0",
        "sleep 60 > /dev/null 2>&1 < /dev/null & exit 0",
        "setsid sleep 60 & exit 0",
        "(trap '' TERM; sleep 60; sleep 60) & exit 0",
        "yes & exit 0",
        // Leaves its session and clears its environment.
        "env -i setsid sh -c ': > ready; exec sleep 60' & until [ -e ready ]; do :; done; exit 0",
    ] {
        // What it prints after its end, if anything, is part of what it printed.
        let asking = Asking::new([advisory(script)]);
        assert_eq!(asking.before(&bash()).await, Before::proceed(), "{script}");
        assert!(asking.processes().is_empty(), "all are gone before the call goes on: {script}");
    }
}

#[tokio::test]
async fn an_answer_counts_whatever_is_left_in_the_background() {
    for script in
        ["sleep 60 &", "env -i setsid sh -c ': > ready; exec sleep 60' & until [ -e ready ]; do :; done;"]
    {
        let asking = Asking::new([before(&format!(r#"echo '{{"context": "done"}}'; {script} exit 0"#))]);
        assert_eq!(asking.before(&bash()).await, Before::proceed().with_context("done"), "{script}");
        assert!(asking.processes().is_empty(), "all are gone before the call goes on: {script}");
    }
}
