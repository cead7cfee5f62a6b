use crate::fixture::{language, load};
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, ToolCall, ToolError};
use haft_policy::PolicyFile;
use haft_tools_core::{
    Accesses, Batch, CallContext, CallOutcome, CallScope, Limits, LocalExecutor, ToolExecutor as _,
    ToolRegistry, ToolRetries, Widths, tool_fn,
};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

fn refused(line: &str, expect: Expect) {
    let text = format!("[limits]\n{line}\n");
    let error = PolicyFile::parse(&text, "policy.toml", &language()).unwrap_err();
    expect.assert_eq(error.problems()[0].message());
}

#[test]
fn every_limit_can_be_written() {
    let text = r#"
[limits]
timeout = "90s"
timeout_ceiling = "2h"
idle_timeout = 2.5
grace = "0s"
output_bytes = "64 KiB"
bounded_output_bytes = "96 KiB"
output_lines = 10
line_bytes = 100
media_bytes = "1 MiB"
data_bytes = 0
nesting = 0
input_bytes = "1 GiB"
update_interval = "100ms"
approval_lifetime = "1h"
[limits.retries]
most = 0
delay = "1s"
longest_delay = "1 min"
"#;
    let expected = Limits {
        timeout: Duration::from_secs(90),
        timeout_ceiling: Duration::from_hours(2),
        idle_timeout: Some(Duration::from_millis(2_500)),
        grace: Duration::ZERO,
        output_bytes: 64 * 1024,
        bounded_output_bytes: 96 * 1024,
        output_lines: 10,
        line_bytes: 100,
        media_bytes: 1 << 20,
        data_bytes: 0,
        nesting: 0,
        input_bytes: 1 << 30,
        update_interval: Duration::from_millis(100),
        approval_lifetime: Some(Duration::from_hours(1)),
        retries: ToolRetries {
            most: 0,
            delay: Duration::from_secs(1),
            longest_delay: Duration::from_mins(1),
        },
    };
    assert_eq!(load(text).unwrap().limits, expected);
}

#[test]
fn every_width_can_be_written_and_reaches_the_executor() {
    let text = "[limits.widths]\nread = 3\nconnect = 4\nwrite = 5\nexecute = 6\nopaque = 7\n";
    let expected = Widths { read: 3, connect: 4, write: 5, execute: 6, opaque: 7, ..Widths::default() };
    assert_eq!(load(text).unwrap().widths, expected);
    assert_eq!(
        load("[limits.widths]\nwrite = 1\n").unwrap().widths,
        Widths { write: 1, ..Widths::default() }
    );
    assert_eq!(load("").unwrap().widths, Widths::default());
}

#[test]
fn widths_without_room_or_of_no_class_are_refused() {
    refused("widths.read = 0", expect!["`read` is 1 at least"]);
    refused("widths.read = -1", expect!["`read` is a whole number from 1"]);
    refused("widths.read = 1.5", expect!["`read` is a whole number from 1"]);
    refused("widths.read = \"4\"", expect!["`read` is a whole number from 1"]);
    refused(
        "widths.delete = 1",
        expect![
            "`delete` is not a key of `[limits.widths]`; write `read`, `connect`, `write`, `execute` or `opaque`"
        ],
    );
    refused("widths = 4", expect!["`widths` is a table, and this is a whole number"]);
}

#[tokio::test]
async fn no_more_calls_of_a_class_run_at_once_than_its_width_says() {
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (now, seen) = (Arc::clone(&running), Arc::clone(&most));
    let tool = tool_fn("work", "Works.", Accesses::none(), move |_: Nothing, _: CallContext| {
        let (now, seen) = (Arc::clone(&now), Arc::clone(&seen));
        async move {
            seen.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            now.fetch_sub(1, SeqCst);
            Ok::<_, ToolError>("done")
        }
    });
    let loaded = load("[limits.widths]\nread = 2\n[permissions]\nallow = [\"work\"]\n").unwrap();
    let tools = ToolRegistry::new().with(tool.unwrap()).unwrap();
    let executor = loaded.apply(LocalExecutor::builder(tools)).build();
    let call = |number: u32| ToolCall::new(format!("c{number}").parse().unwrap(), "work", json!({}));
    let batch = Batch::new(CallScope::new("run".parse().unwrap()), (0..12).map(call).collect());
    for outcome in executor.execute_batch(batch).await.into_outcomes() {
        assert!(
            matches!(&outcome, CallOutcome::Replied(reply) if reply.status == ReplyStatus::Ok),
            "{outcome:?}"
        );
    }
    assert_eq!(most.load(SeqCst), 2);
}

#[test]
fn amounts_that_make_no_sense_are_refused() {
    refused("timeout = 0", expect!["`timeout` has to be longer than that; write a longer time"]);
    refused(
        "timeout = \"31days\"",
        expect!["`31days` is not a time; write one such as `500ms`, `30s`, `2min` or `1h`"],
    );
    refused("timeout = \"721h\"", expect!["a time is from 0 to 30 days; write another"]);
    refused("timeout = -1", expect!["a time is from 0 to 30 days; write another"]);
    refused("timeout = inf", expect!["a time is from 0 to 30 days; write another"]);
    refused("timeout = nan", expect!["a time is from 0 to 30 days; write another"]);
    refused("timeout = true", expect!["`timeout` is a time: a number of seconds, or a text such as `30s`"]);
    refused(
        "output_bytes = \"64 kb\"",
        expect!["`64 kb` is not a size; write a number of bytes, or one such as `64 KiB` or `5 MiB`"],
    );
    refused(
        "output_bytes = \"99999999999999999999\"",
        expect![
            "`99999999999999999999` is not a size; write a number of bytes, or one such as `64 KiB` or `5 MiB`"
        ],
    );
    refused(
        "output_bytes = \"18446744073709551615 GiB\"",
        expect![
            "`18446744073709551615 GiB` is not a size; write a number of bytes, or one such as `64 KiB` or `5 MiB`"
        ],
    );
    refused("output_bytes = 0", expect!["`output_bytes` is 1 at least"]);
    refused("output_lines = \"many\"", expect!["`output_lines` is a whole number from 1"]);
    refused(
        "tools.bash.nesting = 1",
        expect![
            "`nesting` is not a key of `[limits.tools]`; write `timeout`, `idle_timeout`, `output_bytes` or `output_lines`"
        ],
    );
    refused("tools.bash = 1", expect!["a limit of tools is a table, and this is a whole number"]);
}
