//! Calls that wait for a person.

use super::Case;
use super::bench::{Bench, new_scope, note, ok, replied};
use futures_util::FutureExt as _;
use futures_util::future::join_all;
use haft_core::{Digest, ReplyStatus};
use haft_tools_core::{Approval, CallOutcome, ResumptionError};
use serde_json::json;

pub(super) const CASES: &[Case] = &[
    ("a call that nobody has decided waits, and has no effect", |bench| waits(bench).boxed()),
    ("an approved call takes effect once", |bench| approved(bench).boxed()),
    ("a denied call has no effect, and its model reads why", |bench| denied(bench).boxed()),
    ("a call can be given another input", |bench| edited(bench).boxed()),
    ("an answer that is still to come changes nothing", |bench| later(bench).boxed()),
    ("a second answer is refused", |bench| answered_twice(bench).boxed()),
    ("of many answers at once one counts", |bench| answered_at_once(bench).boxed()),
    ("an answer to something else is refused, and the call still waits", |bench| other_digest(bench).boxed()),
    ("a call that was given up is not gone on with", |bench| given_up(bench).boxed()),
    ("what waits can be written down and read again", |bench| written_down(bench).boxed()),
];

/// For an executor whose approvals count for a moment only.
pub(super) const LATE_CASES: &[Case] =
    &[("an approval that comes too late is refused, and the call can still be denied", |bench| {
        too_late(bench).boxed()
    })];

fn deny(reason: &str) -> Approval {
    Approval::Deny { reason: reason.to_owned() }
}

async fn waits(bench: &Bench) {
    let scope = new_scope();
    let pending = bench.asked(&scope, note("a", "asked", "1")).await;
    assert_eq!((pending.call.clone(), pending.run.clone()), (note("a", "asked", "1"), scope.run().clone()));
    let unmet: Vec<String> = pending.unmet.iter().map(haft_tools_core::Unmet::printed).collect();
    assert_eq!(unmet, ["write note:asked"]);
    assert!(pending.expires_at_ms.is_some_and(|end| end > pending.asked_at_ms));
    assert_eq!(bench.effects(&scope), [""; 0]);
}

async fn approved(bench: &Bench) {
    let scope = new_scope();
    let pending = bench.asked(&scope, note("a", "asked", "1")).await;
    let outcome = bench.answer(&scope, &pending, Approval::Approve).await.expect("the first answer counts");
    assert_eq!((replied(&outcome), bench.effects(&scope)), (ok("noted 1"), vec!["1".to_owned()]));
}

async fn denied(bench: &Bench) {
    let scope = new_scope();
    let pending = bench.asked(&scope, note("a", "asked", "1")).await;
    let outcome = bench.answer(&scope, &pending, deny("too loud")).await.expect("the first answer counts");
    let (status, text) = replied(&outcome);
    assert_eq!(status, ReplyStatus::Denied);
    assert!(text.contains("too loud"), "{text}");
    assert_eq!(bench.effects(&scope), [""; 0]);
}

async fn edited(bench: &Bench) {
    let scope = new_scope();
    let pending = bench.asked(&scope, note("a", "asked", "1")).await;
    let edit = Approval::Edit { input: json!({ "place": "open", "text": "2" }) };
    let outcome = bench.answer(&scope, &pending, edit).await.expect("the first answer counts");
    let CallOutcome::Replied(reply) = &outcome else { panic!("{outcome:?}") };
    assert_eq!((reply.status, reply.repairs.len()), (ReplyStatus::Ok, 1));
    assert_eq!(bench.effects(&scope), ["2"]);
}

async fn later(bench: &Bench) {
    let scope = new_scope();
    let pending = bench.asked(&scope, note("a", "asked", "1")).await;
    let outcome = bench.answer(&scope, &pending, Approval::Later).await.expect("nothing was decided");
    assert_eq!(outcome, CallOutcome::Pending(Box::new(pending.clone())));
    let outcome = bench.answer(&scope, &pending, Approval::Approve).await.expect("the first answer counts");
    assert_eq!(replied(&outcome), ok("noted 1"));
}

async fn answered_twice(bench: &Bench) {
    let scope = new_scope();
    let pending = bench.asked(&scope, note("a", "asked", "1")).await;
    bench.answer(&scope, &pending, Approval::Approve).await.expect("the first answer counts");
    for second in [Approval::Approve, deny("")] {
        let refused = bench.answer(&scope, &pending, second).await;
        assert!(matches!(refused, Err(ResumptionError::ResumedBefore { .. })), "{refused:?}");
    }
    assert_eq!(bench.effects(&scope), ["1"]);
}

async fn answered_at_once(bench: &Bench) {
    let scope = new_scope();
    let pending = bench.asked(&scope, note("a", "asked", "1")).await;
    let answers = join_all((0..5).map(|_| bench.answer(&scope, &pending, Approval::Approve))).await;
    let counted = answers.iter().filter(|answer| answer.is_ok()).count();
    let refused =
        answers.iter().filter(|answer| matches!(answer, Err(ResumptionError::ResumedBefore { .. }))).count();
    assert_eq!((counted, refused), (1, 4), "{answers:?}");
    assert_eq!(bench.effects(&scope), ["1"]);
}

async fn other_digest(bench: &Bench) {
    let scope = new_scope();
    let pending = bench.asked(&scope, note("a", "asked", "1")).await;
    let mut other = pending.clone();
    other.digest = Digest::of(&json!("something else"));
    let refused = bench.answer(&scope, &other, Approval::Approve).await;
    assert!(matches!(refused, Err(ResumptionError::OtherDigest { .. })), "{refused:?}");
    assert_eq!(bench.effects(&scope), [""; 0]);
    let outcome = bench.answer(&scope, &pending, Approval::Approve).await.expect("it still waits");
    assert_eq!(replied(&outcome), ok("noted 1"));
}

async fn given_up(bench: &Bench) {
    let scope = new_scope();
    let pending = bench.asked(&scope, note("a", "asked", "1")).await;
    bench.give_up(&pending).await;
    let refused = bench.answer(&scope, &pending, Approval::Approve).await;
    assert!(matches!(refused, Err(ResumptionError::ResumedBefore { .. })), "{refused:?}");
    assert_eq!(bench.effects(&scope), [""; 0]);
}

async fn written_down(bench: &Bench) {
    let scope = new_scope();
    let pending = bench.asked(&scope, note("a", "asked", "1")).await;
    let written = serde_json::to_string(&pending).expect("a pending call is data");
    let read: haft_tools_core::PendingCall = serde_json::from_str(&written).expect("and is read again");
    assert_eq!(read, pending);
    let outcome = bench.answer(&scope, &read, Approval::Approve).await.expect("the first answer counts");
    assert_eq!(replied(&outcome), ok("noted 1"));
}

async fn too_late(bench: &Bench) {
    let scope = new_scope();
    let pending = bench.asked(&scope, note("a", "asked", "1")).await;
    while !pending.is_expired() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let refused = bench.answer(&scope, &pending, Approval::Approve).await;
    assert!(matches!(refused, Err(ResumptionError::Expired { .. })), "{refused:?}");
    let outcome = bench.answer(&scope, &pending, deny("")).await.expect("it can still be denied");
    assert_eq!(replied(&outcome).0, ReplyStatus::Denied);
    assert_eq!(bench.effects(&scope), [""; 0]);
}
