//! How long a call waits for what does not end by itself.

use std::time::Duration;

use haft_core::ReplyStatus;
use serde_json::json;

use crate::harness::Shell;

/// What a call may take by its own clock. Quiet output is waited for 100 ms, a flood of it 2 s, and ending what is left
/// takes at most 1.7 s more; the rest is what a machine with two cores that is busy with other tests may add.
const BACK_WITHIN: Duration = Duration::from_secs(2 + 2 + 4);

/// What asks somebody, or leaves something behind that would go on for a minute.
fn scripts() -> Vec<String> {
    let git = "git init -q . && git config user.name a && git config user.email a@example.org && touch a && git add -A";
    let plain = [
        "sleep 60 &",
        "setsid sleep 60 &",
        "(setsid sleep 60 &)",
        "bash -c '(bash -c \"sleep 60 &\" &)'",
        "(yes &)",
        "trap '' TERM; sleep 60 &",
        "(trap '' TERM; while :; do sleep 0.1; done) &",
        "sudo -k id",
        "read x",
        "ssh -o ConnectTimeout=1 -p 1 127.0.0.1 true",
    ];
    let of_git = [format!("{git} && git commit"), format!("{git} && git commit -qm one && git log")];
    plain.into_iter().map(str::to_owned).chain(of_git).collect()
}

#[tokio::test]
async fn a_call_comes_back_whatever_it_started() {
    for script in scripts() {
        let shell = Shell::new();
        let reply = shell.call(json!({ "command": script })).await;
        assert_eq!(reply.status, ReplyStatus::Ok, "{script}: {}", reply.output.to_text());
        assert!(reply.duration < BACK_WITHIN, "{script}: {:?}", reply.duration);
        // The script itself is over at once: what it left is not waited for.
        let script_ms = reply.output.details["duration_ms"].as_u64().unwrap_or(u64::MAX);
        assert!(u128::from(script_ms) < BACK_WITHIN.as_millis(), "{script}: {script_ms} ms");
        shell.is_deserted().await;
    }
}
