use super::*;
use haft_core::ToolCall;
use haft_tools_core::CallScope;
use serde_json::json;

fn course() -> CallCourse {
    let scope = CallScope::new("r".parse().unwrap()).with_turn(1);
    let call = ToolCall::new("c".parse().unwrap(), "write", json!({ "x": 1 }));
    CallCourse::new(CallRequest::new(&scope, call).unwrap())
}

fn pending(shown: &str, expires_at_ms: Option<u64>) -> PendingCall {
    let mut pending: PendingCall = serde_json::from_value(json!({
        "version": 1, "id": "inner", "call": { "id": "c", "name": "write", "input": { "x": 1 } }, "run": "r",
        "accesses": [], "unmet": [], "preview": { "kind": "arguments" }, "asked_at_ms": 1000,
        "digest": Digest::of(&json!(shown)),
    }))
    .unwrap();
    pending.expires_at_ms = expires_at_ms;
    pending
}

fn asked(shown: &str, expires_at_ms: Option<u64>) -> CallOutcome {
    CallOutcome::Pending(Box::new(pending(shown, expires_at_ms)))
}

fn reply(text: &str) -> ToolReply {
    ToolReply::new("c".parse().unwrap(), "write", ReplyStatus::Ok, ToolOutput::text(text))
}

fn decision(round: u32, shown: &str) -> RoundDecision {
    let key = RoundKey::new(course().request().key().clone(), round);
    RoundDecision::new(key, Digest::of(&json!(shown)), Approval::Approve, "d")
}

#[test]
fn each_answer_begins_another_round() {
    let mut course = course();
    assert_eq!((course.next(), course.round_key().to_string()), (Next::Perform, "r/1/c:0".to_owned()));
    course.performed(asked("first", None));
    assert_eq!(course.next(), Next::Decide { within: None });
    assert_eq!(course.decided(&decision(1, "first")), Err(DecisionError::Stale { round: 1, now: 0 }));
    assert_eq!(course.decided(&decision(0, "other")), Err(DecisionError::OtherDigest));
    assert_eq!(course.decided(&decision(0, "first")), Ok(()));
    assert_eq!((course.next(), course.round_key().to_string()), (Next::Perform, "r/1/c:1".to_owned()));
    assert_eq!(course.decided(&decision(0, "first")), Err(DecisionError::Over));

    // What would run has changed, so it is asked about again: the first decision does not count for it.
    course.performed(asked("second", None));
    assert_eq!(course.decided(&decision(0, "first")), Err(DecisionError::Stale { round: 0, now: 1 }));
    assert_eq!(course.decided(&decision(1, "second")), Ok(()));
    course.performed(CallOutcome::Replied(reply("done")));
    assert_eq!(course.next(), Next::Ended(&reply("done")));
    assert_eq!(course.decided(&decision(2, "second")), Err(DecisionError::Over));
}

#[test]
fn a_course_is_the_same_after_it_was_kept() {
    let mut at_rest = course();
    at_rest.performed(asked("first", Some(5000)));
    let written = serde_json::to_string(&at_rest).unwrap();
    assert_eq!(serde_json::from_str::<CallCourse>(&written).unwrap(), at_rest);
}

#[test]
fn what_waits_has_a_name_by_which_it_is_found() {
    let (mut course, pool) = (course(), "tools".parse::<Pool>().unwrap());
    assert_eq!(course.pending(&pool), None);
    course.performed(asked("first", None));
    let shown = course.pending(&pool).unwrap();
    assert_eq!(shown.id.as_str(), "tools/r/1/c:0");
    assert_eq!(CallCourse::parse_id(&shown.id), Some((pool, course.round_key())));
    for other in ["", "inner", "tools/inner", "tools/r/1/c", "/r/1/c:0", "to ols/r/1/c:0"] {
        assert_eq!(CallCourse::parse_id(&PendingId::new(other)), None, "{other}");
    }
}

#[test]
fn nobody_answers_in_time() {
    let mut course = course();
    course.performed(asked("first", Some(61_000)));
    assert_eq!(course.next(), Next::Decide { within: Some(Duration::from_mins(1)) });
    course.expired();
    let (gone_on_with, approval) = course.answered().unwrap();
    assert_eq!((gone_on_with, approval), (&pending("first", None), &Approval::TimedOut { after_ms: 60_000 }));
}

#[test]
fn a_call_that_waits_ends_when_it_is_cancelled_and_one_that_is_performed_goes_on() {
    let mut course = course();
    course.stopped();
    assert_eq!(course.next(), Next::Perform);
    course.performed(asked("first", None));
    course.stopped();
    let Next::Ended(reply) = course.next() else { panic!("{course:?}") };
    assert_eq!(reply.status, ReplyStatus::Cancelled);
}

#[test]
fn what_comes_too_late_changes_nothing() {
    let mut ended = course();
    ended.performed(CallOutcome::Replied(reply("done")));
    let before = ended.clone();
    ended.performed(CallOutcome::Replied(reply("again")));
    ended.expired();
    ended.stopped();
    ended.answer(Approval::Approve);
    assert_eq!(ended, before);
}
