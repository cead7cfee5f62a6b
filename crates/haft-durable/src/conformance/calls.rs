//! Calls that are answered at once.

use super::Case;
use super::bench::{Bench, call, new_scope, note, ok, replied};
use futures_util::FutureExt as _;
use haft_core::{ErrorKind, ReplyStatus};
use haft_tools_core::CallOutcome;
use serde_json::json;

pub(super) const CASES: &[Case] = &[
    ("an empty batch has no outcome", |bench| empty(bench).boxed()),
    ("replies are in the order of the calls, and each call has one", |bench| in_order(bench).boxed()),
    ("calls that conflict have the outcome of one after the other", |bench| conflicting(bench).boxed()),
    ("a bad call costs its siblings nothing", |bench| bad_calls(bench).boxed()),
    ("a call that repeats an id is refused", |bench| repeated(bench).boxed()),
    ("nothing of an output is lost on the way", |bench| whole_output(bench).boxed()),
    ("each call has a key of its own for its effect", |bench| keys(bench).boxed()),
    ("a call that another makes is decided on its own", |bench| nested(bench).boxed()),
    ("a call that was held back is taken up with what was mended", |bench| taken_up(bench).boxed()),
];

async fn empty(bench: &Bench) {
    assert_eq!(bench.replies(&new_scope(), Vec::new()).await, []);
}

async fn in_order(bench: &Bench) {
    let scope = new_scope();
    let calls = vec![
        note("a", "open", "1"),
        call("b", "look", json!({ "place": "other" })),
        note("c", "other", "2"),
        call("d", "look", json!({ "place": "open" })),
    ];
    let outcome = bench.execute(bench.batch(&scope, calls)).await;
    let ids: Vec<String> = outcome.outcomes().iter().map(|outcome| outcome.call_id().to_string()).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    let replies: Vec<_> = outcome.outcomes().iter().map(replied).collect();
    assert_eq!(replies, [ok("noted 1"), ok(""), ok("noted 2"), ok("1")]);
}

async fn conflicting(bench: &Bench) {
    let scope = new_scope();
    let calls = (0..8).map(|number| note(&format!("c{number}"), "open", &number.to_string())).collect();
    bench.replies(&scope, calls).await;
    assert_eq!(bench.effects(&scope), ["0", "1", "2", "3", "4", "5", "6", "7"]);
}

async fn bad_calls(bench: &Bench) {
    let scope = new_scope();
    let calls = vec![
        call("a", "nope", json!({})),
        call("b", "note", json!({ "place": 7 })),
        call("c", "break", json!({})),
        note("d", "closed", "1"),
        call("e", "note", json!("not an object")),
        note("f", "open", "2"),
    ];
    let replies = bench.replies(&scope, calls).await;
    let statuses: Vec<ReplyStatus> = replies.iter().map(|(status, _)| *status).collect();
    assert_eq!(
        statuses,
        [
            ReplyStatus::Error(ErrorKind::UnknownTool),
            ReplyStatus::Error(ErrorKind::InvalidInput),
            ReplyStatus::Error(ErrorKind::Panicked),
            ReplyStatus::Denied,
            ReplyStatus::Error(ErrorKind::InvalidInput),
            ReplyStatus::Ok,
        ]
    );
    assert_eq!(bench.effects(&scope), ["2"]);
}

async fn repeated(bench: &Bench) {
    let scope = new_scope();
    let replies = bench.replies(&scope, vec![note("a", "open", "1"), note("a", "other", "2")]).await;
    let refused = "an earlier call of this message has the id `a` too; give each call an id of its own";
    let invalid = ReplyStatus::Error(ErrorKind::InvalidInput);
    assert_eq!(replies, [ok("noted 1"), (invalid, refused.to_owned())]);
    assert_eq!(bench.effects(&scope), ["1"]);
}

async fn whole_output(bench: &Bench) {
    let scope = new_scope();
    let outcome = bench.execute(bench.batch(&scope, vec![note("ü/1", "open", "größer\n\u{1F600}")])).await;
    let [CallOutcome::Replied(reply)] = outcome.outcomes() else { panic!("{outcome:?}") };
    assert_eq!((reply.call_id.as_str(), reply.name.as_str()), ("ü/1", "note"));
    assert_eq!(reply.output.to_text(), "noted größer\n\u{1F600}");
    assert_eq!(reply.output.structured, Some(json!({ "place": "open" })));
    assert_eq!(reply.output.details, json!({ "key": bench.keys(&scope)[0] }));
}

async fn keys(bench: &Bench) {
    let scope = new_scope();
    bench.replies(&scope, vec![note("a", "open", "1"), note("b", "other", "2")]).await;
    bench.replies(&scope.clone().with_turn(2), vec![note("a", "open", "3")]).await;
    let mut keys = bench.keys(&scope);
    keys.sort();
    let run = scope.run();
    assert_eq!(keys, [format!("{run}/1/a:0"), format!("{run}/1/b:0"), format!("{run}/2/a:0")]);
}

async fn nested(bench: &Bench) {
    let scope = new_scope();
    let nest = |id, place: &str| call(id, "nest", json!({ "place": place }));
    let replies = bench.replies(&scope, vec![nest("a", "open"), nest("b", "closed")]).await;
    assert_eq!(replies[0], ok("ok: noted nested"));
    assert!(replies[1].1.starts_with("denied: "), "{replies:?}");
    assert_eq!(bench.effects(&scope), ["nested"]);
}

async fn taken_up(bench: &Bench) {
    let scope = new_scope();
    let asked = note("a", "asked", "1");
    let later = call("b", "note", json!({ "place": "asked", "text": "2" }));
    let outcome = bench.execute(bench.batch(&scope, vec![asked, later])).await.into_outcomes();
    let [CallOutcome::Pending(_), CallOutcome::Held(held)] = outcome.as_slice() else {
        panic!("{outcome:?}")
    };
    let behind: Vec<&str> = held.behind.iter().map(haft_core::CallId::as_str).collect();
    assert_eq!(behind, ["a"]);
    let mut held = haft_tools_core::HeldCall::clone(held);
    held.call.input["place"] = json!("open");
    held.repairs =
        vec![haft_core::Repair::new("/text", json!(2), Some(json!("2")), "a number became a string")];
    let repairs = held.repairs.clone();
    let outcome = bench.execute(haft_tools_core::Batch::of_held(scope.clone(), [held])).await;
    let [CallOutcome::Replied(reply)] = outcome.outcomes() else { panic!("{outcome:?}") };
    assert_eq!((reply.status, &reply.repairs), (ReplyStatus::Ok, &repairs));
    assert_eq!(bench.effects(&scope), ["2"]);
}
