//! How deep the agent is, what the person answers, and in which process the run goes on: the tool that a person is asked
//! about runs exactly once, or not at all.

use crate::child::{Child, Part};
use crate::fixture::Place;
use crate::session::{Session, Until, append, call};
use haft_core::ToolCall;
use haft_tools_core::{Approval, PendingStore as _};
use serde_json::json;

/// Says in which process a run goes on.
#[derive(Debug, Clone, Copy)]
enum Goes {
    /// In the one that asked.
    Same,
    /// In another, after the one that asked has ended.
    New,
    /// In another, after the one that asked was killed while it waited.
    Killed,
}

/// Says what the person answers, and what is to come of it.
struct Case {
    name: &'static str,
    calls: Vec<ToolCall>,
    /// The answer to the first call; the others are left alone.
    answer: Approval,
    expires: bool,
    /// How each call stands in the end, and the refusals.
    stands: &'static [&'static str],
    /// What was appended to the file that the first call names.
    appended: &'static str,
    /// What `look` saw.
    seen: &'static str,
    /// The calls that still wait.
    waiting: &'static [&'static str],
}

fn cases() -> Vec<Case> {
    let one = || vec![append("c1", "a")];
    let deny = || Approval::Deny { reason: "not now".to_owned() };
    let edit = || Approval::Edit { input: json!({ "file": "a", "line": "as edited" }) };
    let case = |name, answer, stands, appended| Case {
        name,
        calls: one(),
        answer,
        expires: false,
        stands,
        appended,
        seen: "",
        waiting: &[],
    };
    vec![
        case("approve", Approval::Approve, &["c1 ok"], "as shown\n"),
        case("deny", deny(), &["c1 denied"], ""),
        case("edit", edit(), &["c1 ok"], "as edited\n"),
        Case {
            // The third waits behind the first, and the fourth behind the second, which nobody answers.
            calls: vec![
                append("c1", "a"),
                append("c2", "b"),
                call("c3", "look", json!({ "file": "a" })),
                call("c4", "look", json!({ "file": "b" })),
            ],
            seen: "as shown\n",
            waiting: &["c2"],
            ..case("partial", Approval::Approve, &["c1 ok", "c2 waits", "c3 ok", "c4 is held"], "as shown\n")
        },
        Case {
            expires: true,
            waiting: &["c1"],
            ..case("approve too late", Approval::Approve, &["c1 waits", "expired"], "")
        },
        Case {
            expires: true,
            waiting: &["c1"],
            ..case("edit too late", edit(), &["c1 waits", "expired"], "")
        },
        Case { expires: true, ..case("deny late", deny(), &["c1 denied"], "") },
    ]
}

async fn check(goes: Goes) {
    for depth in 1..=3 {
        for case in cases() {
            let place = Place::new();
            let session =
                Session { directory: place.file(""), depth, calls: case.calls, expires: case.expires };
            let stands = go(&session, goes, &case.answer).await;
            let what = format!("{} at depth {depth}, {goes:?}", case.name);
            assert_eq!(stands, case.stands, "{what}");
            let files = ["a", "b", "seen"].map(|name| session.file(name));
            assert_eq!(files, [case.appended, "", case.seen], "{what}");
            let waiting = session.store().waiting().await.unwrap();
            let waiting: Vec<&str> = waiting.iter().map(|pending| pending.call.id.as_str()).collect();
            assert_eq!(waiting, case.waiting, "{what}");
        }
    }
}

async fn go(session: &Session, goes: Goes, answer: &Approval) -> Vec<String> {
    let ask = |stays| Child::start(&Part::Ask { session: session.clone(), stays });
    match goes {
        Goes::Same => {
            let executor = session.executor(Until::End);
            session.ask(&executor).await;
            session.reply("c1", answer).await;
            return session.answer(&executor).await;
        }
        Goes::New => assert_eq!(ask(false).end(), ["waits"]),
        Goes::Killed => {
            let mut asking = ask(true);
            asking.expect("waits");
            asking.kill();
        }
    }
    session.reply("c1", answer).await;
    Child::start(&Part::Answer { session: session.clone(), until: Until::End }).end()
}

#[tokio::test]
async fn runs_once_or_not_at_all_in_the_same_process() {
    check(Goes::Same).await;
}

#[tokio::test]
async fn runs_once_or_not_at_all_in_a_new_process() {
    check(Goes::New).await;
}

#[tokio::test]
async fn runs_once_or_not_at_all_after_the_process_was_killed_while_it_waited() {
    check(Goes::Killed).await;
}

/// Kills the process that goes on, once it got this far; gives how often the tool has run after all others have tried.
async fn check_killed(until: Until, last: &str, appended: &str) {
    for depth in 1..=3 {
        let place = Place::new();
        let session =
            Session { directory: place.file(""), depth, calls: vec![append("c1", "a")], expires: false };
        session.ask(&session.executor(Until::End)).await;
        session.reply("c1", &Approval::Approve).await;
        let mut child = Child::start(&Part::Answer { session: session.clone(), until });
        child.expect(last);
        child.kill();
        // It is not on the list any more, and who knows it from the run is refused.
        assert_eq!(session.store().waiting().await.unwrap(), []);
        assert_eq!(session.try_again().await, "resumed before");
        let next = Child::start(&Part::Answer { session: session.clone(), until: Until::End });
        assert_eq!(next.end(), ["c1 waits"]);
        assert_eq!(session.file("a"), appended, "at depth {depth}");
    }
}

#[tokio::test]
async fn a_call_whose_process_was_killed_between_claim_and_run_does_not_run() {
    check_killed(Until::Claimed, "claimed", "").await;
}

#[tokio::test]
async fn a_call_whose_process_was_killed_while_it_ran_does_not_run_again() {
    check_killed(Until::Done, "done", "as shown\n").await;
}
