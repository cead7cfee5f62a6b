use super::{Changes, together};
use crate::report::recorded::by_call;
use crate::report::transcript::Told;
use haft::ToolReply;
use haft::core::{ReplyStatus, RunId, ToolOutput};
use haft::tools_core::JournalRecord;
use serde_json::{Value, json};
use std::time::Duration;

/// A call of a transcript, with the status of its reply and how long that says it took, in microseconds.
fn told(id: &str, reply: Option<(ReplyStatus, u64)>) -> Told {
    let id: haft::core::CallId = id.parse().unwrap();
    let reply = reply.map(|(status, took)| {
        let mut reply = ToolReply::new(id.clone(), "read_file", status, ToolOutput::text("told"));
        reply.duration = Duration::from_micros(took);
        reply
    });
    Told { id, call: None, turn: Some(1), reply, asked_at_ms: None }
}

fn begun(run: &str, id: &str, at_ms: u64) -> JournalRecord {
    record(run, id, at_ms, &json!({ "record": "begun" }))
}

fn ended(run: &str, id: &str, at_ms: u64, took: u64) -> JournalRecord {
    let entry = json!({
        "record": "ended", "ran": true, "status": "ok", "duration_us": took, "ran_us": took, "bytes_total": 1, "bytes_kept": 1,
    });
    record(run, id, at_ms, &entry)
}

fn record(run: &str, id: &str, at_ms: u64, entry: &Value) -> JournalRecord {
    let mut record = json!({
        "version": 1, "sequence": 0, "at_ms": at_ms, "run": run, "call": id, "called_as": "read_file",
        "decided": { "by": "rule", "decision": "allow" },
    });
    record.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
    serde_json::from_value(record).unwrap()
}

/// Each call as its run, its id, its status and how long it took.
fn check(told: Vec<(usize, Vec<Told>)>, records: Vec<JournalRecord>, expected: &[&str]) {
    let runs: [RunId; 2] = ["run-1", "run-2"].map(|run| run.parse().unwrap());
    let (calls, _) = together(&runs, told, by_call(records), Changes::new());
    let took = |took: Option<u64>| took.map_or("-".to_owned(), |took| took.to_string());
    let shown =
        calls.iter().map(|call| format!("{} {} {} {}", call.run, call.id, call.status, took(call.took_us)));
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

#[test]
fn a_call_whose_reply_was_lost_ended_as_it_is_recorded() {
    let told = vec![told("c1", None), told("c2", None)];
    let records = vec![begun("run-1", "c1", 1), begun("run-1", "c2", 1), ended("run-1", "c1", 2, 700)];
    check(vec![(0, told)], records, &["0 c1 ok 700", "0 c2 unfinished -"]);
}

#[test]
fn a_reply_for_a_call_that_nobody_saw_the_end_of_is_listed_once() {
    let told = vec![told("c1", Some((ReplyStatus::Cancelled, 0)))];
    check(vec![(0, told)], vec![begun("run-1", "c1", 1)], &["0 c1 cancelled 0"]);
}

#[test]
fn an_id_that_is_used_again_leaves_each_call_its_own_records() {
    let told = vec![
        told("c1", None),
        told("c1", Some((ReplyStatus::Ok, 9))),
        told("c1", Some((ReplyStatus::Cancelled, 0))),
    ];
    let records = vec![ended("run-1", "c1", 1, 5), ended("run-1", "c1", 2, 9), begun("run-1", "c1", 3)];
    check(vec![(0, told)], records, &["0 c1 ok 5", "0 c1 ok 9", "0 c1 cancelled 0"]);
}

#[test]
fn calls_stand_as_they_were_recorded_and_told_whatever_the_clock_said() {
    let told = vec![
        (
            0,
            vec![
                told("b", Some((ReplyStatus::Ok, 1))),
                told("a", Some((ReplyStatus::Ok, 2))),
                told("late", None),
            ],
        ),
        (1, vec![told("x", Some((ReplyStatus::Ok, 3)))]),
    ];
    let records = vec![
        begun("run-1", "a", 9_000),
        begun("run-1", "b", 8_000),
        begun("run-2", "x", 10),
        ended("run-1", "a", 5, 2),
        ended("run-1", "b", 5, 1),
        ended("run-2", "x", 5, 3),
        ended("run-1", "only", 1, 4),
        ended("run-1", "more", 1, 5),
    ];
    check(
        told,
        records,
        &["0 b ok 1", "0 a ok 2", "0 late unfinished -", "1 x ok 3", "0 only ok 4", "0 more ok 5"],
    );
}
