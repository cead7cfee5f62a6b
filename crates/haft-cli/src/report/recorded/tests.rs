use super::{Recorded, Times, by_call};
use crate::report::data::Timings;
use haft::tools_core::JournalRecord;
use serde_json::{Value, json};

/// A record of the call `c1`, as it is kept.
fn record(at_ms: u64, entry: &Value, decided: &Value) -> JournalRecord {
    let mut record = json!({
        "version": 1, "sequence": 0, "at_ms": at_ms, "run": "run-1", "call": "c1", "called_as": "bash", "decided": decided,
    });
    record.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
    serde_json::from_value(record).unwrap()
}

fn allowed() -> Value {
    json!({ "by": "rule", "decision": "allow" })
}

fn ended(duration_us: u64, more: &Value) -> Value {
    let mut entry = json!({
        "record": "ended", "ran": true, "status": "ok", "duration_us": duration_us, "bytes_total": 1, "bytes_kept": 1,
    });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

fn only(records: Vec<JournalRecord>) -> Recorded {
    let mut calls = by_call(records);
    assert_eq!(calls.len(), 1);
    calls.remove(0)
}

#[test]
fn times_that_were_measured_are_taken() {
    let end = ended(9_000, &json!({ "asked_us": 2_000, "ran_us": 6_500 }));
    let call =
        only(vec![record(12, &json!({ "record": "begun" }), &allowed()), record(20, &end, &allowed())]);
    let expected = Times {
        at: 11_000,
        took: Some(9_000),
        waited: 500,
        asked: 2_000,
        ran: 6_500,
        timings: Timings::Measured,
    };
    assert_eq!(call.times(), expected);
    assert!(call.was_asked());
}

#[test]
fn records_of_before_times_were_kept_tell_when_it_ran() {
    let begun = record(12, &json!({ "record": "begun" }), &allowed());
    let call = only(vec![begun, record(20, &ended(9_000, &json!({})), &allowed())]);
    let expected = Times {
        at: 11_000,
        took: Some(9_000),
        waited: 1_000,
        asked: 0,
        ran: 8_000,
        timings: Timings::Estimated,
    };
    assert_eq!(call.times(), expected);
    assert!(!call.was_asked());
}

#[test]
fn a_call_that_was_left_to_wait_for_a_person_was_asked_about_until_it_was_taken_up_again() {
    let ask = json!({ "by": "rule", "decision": "ask" });
    let approved = json!({ "by": "person", "answer": "approved" });
    let call = only(vec![
        record(10, &json!({ "record": "waiting" }), &ask),
        record(5_001, &json!({ "record": "begun" }), &approved),
        record(5_003, &ended(3_000, &json!({ "ran_us": 2_500 })), &approved),
    ]);
    let expected = Times {
        at: 10_000,
        took: Some(4_993_000),
        waited: 500,
        asked: 4_990_000,
        ran: 2_500,
        timings: Timings::Measured,
    };
    assert_eq!(call.times(), expected);
    assert!(call.was_asked());
}

#[test]
fn a_call_that_waits_for_calls_below_it_has_run_and_waits() {
    let approved = json!({ "by": "person", "answer": "approved" });
    let call = only(vec![
        record(10, &json!({ "record": "begun" }), &approved),
        record(14, &json!({ "record": "waiting" }), &approved),
    ]);
    let expected =
        Times { at: 10_000, took: None, waited: 0, asked: 0, ran: 4_000, timings: Timings::Measured };
    assert_eq!(call.times(), expected);
    assert!(call.waits() && call.end().is_none());
}

#[test]
fn an_id_that_is_used_again_is_another_call() {
    let end = |at| record(at, &ended(1_000, &json!({})), &allowed());
    assert_eq!(by_call(vec![end(1), end(2)]).len(), 2);
}

#[test]
fn clocks_that_were_set_back_do_no_harm() {
    let call = only(vec![
        record(u64::MAX, &json!({ "record": "waiting" }), &json!({ "by": "nobody" })),
        record(9, &json!({ "record": "begun" }), &allowed()),
        record(3, &ended(u64::MAX, &json!({ "asked_us": u64::MAX, "ran_us": u64::MAX })), &allowed()),
    ]);
    assert_eq!(call.times().ran, 0);
}
