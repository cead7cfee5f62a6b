#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use super::reply;
use crate::ChildRecord;
use expect_test::{Expect, expect};
use serde_json::{Value, json};

fn check(statuses: &[Value], expected: &Expect) {
    let records: Vec<ChildRecord> = statuses
        .iter()
        .enumerate()
        .map(|(place, status)| {
            let record = json!({
                "version": ChildRecord::VERSION,
                "run": format!("explorer-{}", place + 1),
                "parent": "run-1",
                "root": "run-1",
                "depth": 1,
                "call": "c1",
                "place": place,
                "path": format!("c1/{place}"),
                "agent": "explorer",
                "task": "Look.",
                "background": false,
                "status": status,
                "started_at_ms": 0,
            });
            serde_json::from_value(record).unwrap()
        })
        .collect();
    expected.assert_eq(&reply(&records).unwrap().to_text());
}

#[test]
fn each_task_has_its_part_also_one_without_a_result() {
    let done =
        json!({ "status": "ended", "result": { "end": { "end": "done" }, "text": "They are in `tests`." } });
    let running = json!({ "status": "running" });
    check(
        &[running.clone(), done.clone()],
        &expect![[r#"
        [1 of 2] `explorer-1` running: Look.
        [2 of 2] `explorer-2` done:
        They are in `tests`."#]],
    );
    check(
        &[running.clone(), running.clone()],
        &expect![[r#"
        [1 of 2] `explorer-1` running: Look.
        [2 of 2] `explorer-2` running: Look."#]],
    );
    check(&[running], &expect!["`explorer-1` running: Look."]);
    check(&[done], &expect!["They are in `tests`."]);
}
