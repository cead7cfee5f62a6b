use haft_core::ReplyStatus;

use crate::harness::{Shell, until};

/// Each makes the file `ready` when everything it starts is started, and would go on for a minute.
const STUBBORN: [&str; 5] = [
    "sleep 60 & touch ready; wait",
    "setsid sleep 60 & touch ready; wait",
    "trap '' TERM; touch ready; sleep 60; sleep 60",
    "(setsid bash -c 'setsid sleep 60 & wait' &); touch ready; sleep 60",
    "set -m; sleep 60 > /dev/null & touch ready; yes",
];

const CANCELLED: &str = "[cancelled, with everything it had started; what it had done by then stays done, so look at \
that before you run it again]";

#[tokio::test]
async fn ends_everything_when_cancelled() {
    for command in STUBBORN {
        let shell = Shell::new();
        let reply = shell.start(command).await.cancel().await;
        let text = reply.output.to_text();
        assert_eq!(
            (reply.status, text.lines().last()),
            (ReplyStatus::Cancelled, Some(CANCELLED)),
            "{command}"
        );
        shell.is_deserted().await;
    }
}

#[tokio::test]
async fn shows_what_was_printed_until_it_was_cancelled() {
    let shell = Shell::new();
    let reply = shell.start("echo begun; touch ready; sleep 60").await.cancel().await;
    assert_eq!(reply.output.to_text(), format!("begun\n{CANCELLED}"));
}

#[tokio::test]
async fn ends_everything_when_dropped() {
    for command in STUBBORN {
        let shell = Shell::new();
        shell.start(command).await.drop_future().await;
        shell.is_deserted().await;
    }
}

#[tokio::test]
async fn ends_everything_when_the_runtime_goes() {
    let shell = Shell::new();
    let inner = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let registry = shell.registry().clone();
    inner.spawn(async move {
        let input = serde_json::json!({ "command": "setsid sleep 60 & touch ready; wait" });
        haft_testkit::call(&registry, "bash", input).await
    });
    until(|| shell.tree.path().join("ready").exists()).await;
    inner.shutdown_background();
    shell.is_deserted().await;
}
