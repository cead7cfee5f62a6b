//! What running calls ask people: answers to questions, and to make themselves known.

use crate::approvals::answers;
use crate::fixture::{Probe, call, outline, permissive, registry, reply, resource, scope, write};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{ReplyStatus, Schema, ToolError};
use haft_tools_core::{
    AccessMode, Approval, Approver, AskedQuestion, Batch, CallContext, CallOutcome, Limits, LocalExecutor,
    LocalExecutorBuilder, PendingCall, Policy, Question, QuestionOutcome, Resumption, Rule,
    ToolExecutor as _, Wants, answering_within, approver_fn,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Is a person who answers every question like this.
struct Says(QuestionOutcome);

#[async_trait]
impl Approver for Says {
    async fn approve(&self, _: &PendingCall) -> Approval {
        Approval::Approve
    }

    async fn answer(&self, _: &AskedQuestion) -> QuestionOutcome {
        self.0.clone()
    }
}

fn answered(answer: Value) -> Says {
    Says(QuestionOutcome::Answered { answer })
}

/// Is a tool that asks, and tells what it was answered.
fn asks(question: Question) -> Probe {
    Probe::new("asks").run(move |_, cx: CallContext| {
        let question = question.clone();
        async move {
            match cx.ask(question).await {
                Ok(answer) => Ok(answer.to_string().into()),
                Err(none) => Err(ToolError::failed(none.to_string())),
            }
        }
    })
}

async fn check(question: Question, approver: impl Approver, expect: Expect) {
    let executor = permissive([asks(question)]).approver(approver).build();
    expect.assert_eq(&outline(&reply(&executor, "asks", json!({})).await));
}

fn form() -> Question {
    let schema =
        json!({ "type": "object", "properties": { "age": { "type": "integer" } }, "required": ["age"] });
    Question::form("How old?", Schema::new(schema).unwrap())
}

#[tokio::test]
async fn an_answer_is_of_the_kind_that_was_asked_for() {
    check(
        Question::text("Why?"),
        answered(json!("because")),
        expect![[r#"
        ok
        "because""#]],
    )
    .await;
    check(
        Question::text("Why?"),
        answered(json!(5)),
        expect![[r#"
            error: failed
            what the user answered does not fit the question; ask again, or go on without the answer"#]],
    )
    .await;
    check(
        Question::confirm("Really?"),
        answered(json!(true)),
        expect![[r#"
        ok
        true"#]],
    )
    .await;
    check(
        Question::confirm("Really?"),
        answered(json!("yes")),
        expect![[r#"
        error: failed
        what the user answered does not fit the question; ask again, or go on without the answer"#]],
    )
    .await;
    check(
        Question::choice("Which?", ["a", "b"]),
        answered(json!("b")),
        expect![[r#"
        ok
        "b""#]],
    )
    .await;
    check(
        Question::choice("Which?", ["a", "b"]),
        answered(json!("c")),
        expect![[r#"
        error: failed
        what the user answered does not fit the question; ask again, or go on without the answer"#]],
    )
    .await;
    check(
        form(),
        answered(json!({ "age": 7 })),
        expect![[r#"
        ok
        {"age":7}"#]],
    )
    .await;
    check(
        form(),
        answered(json!({ "age": "seven" })),
        expect![[r#"
            error: failed
            what the user answered does not fit the question; ask again, or go on without the answer"#]],
    )
    .await;
}

/// Is a person who never comes back.
struct Away;
#[async_trait]
impl Approver for Away {
    async fn approve(&self, _: &PendingCall) -> Approval {
        Approval::Nobody
    }

    async fn answer(&self, _: &AskedQuestion) -> QuestionOutcome {
        std::future::pending().await
    }
}

/// Is a person whose screen breaks.
struct Breaks;
#[async_trait]
impl Approver for Breaks {
    async fn approve(&self, _: &PendingCall) -> Approval {
        Approval::Nobody
    }

    async fn answer(&self, _: &AskedQuestion) -> QuestionOutcome {
        panic!("the screen is gone")
    }
}

#[tokio::test(start_paused = true)]
async fn no_answer_says_why_there_is_none() {
    check(
        Question::text("Why?"),
        Says(QuestionOutcome::Declined),
        expect![[r#"
        error: failed
        the user does not want to answer; go on without the answer"#]],
    )
    .await;
    check(
        Question::text("Why?"),
        answers(Approval::Approve),
        expect![[r#"
        error: failed
        nobody can be asked here; go on without the answer"#]],
    )
    .await;
    check(
        Question::text("Why?"),
        answering_within(Duration::from_secs(90), Away),
        expect![[r#"
        error: failed
        nobody answered within 90 s; go on without the answer, or ask again later"#]],
    )
    .await;
    check(
        Question::text("Why?"),
        Breaks,
        expect![[r#"
        error: failed
        nobody can be asked here; go on without the answer"#]],
    )
    .await;
}

/// Is a person who takes an hour.
struct Slow;

#[async_trait]
impl Approver for Slow {
    async fn approve(&self, _: &PendingCall) -> Approval {
        tokio::time::sleep(Duration::from_hours(1)).await;
        Approval::Approve
    }

    async fn answer(&self, question: &AskedQuestion) -> QuestionOutcome {
        assert_eq!((question.tool.as_str(), question.call.as_str()), ("asks", "c1"));
        tokio::time::sleep(Duration::from_hours(1)).await;
        QuestionOutcome::Answered { answer: json!("at last") }
    }
}

#[tokio::test(start_paused = true)]
async fn the_clock_stands_still_while_a_question_is_open() {
    let limits = Limits { timeout: Duration::from_secs(1), ..Limits::default() };
    let executor = permissive([asks(Question::text("Why?"))]).approver(Slow).limits(limits).build();
    expect![[r#"
        ok
        "at last""#]]
    .assert_eq(&outline(&reply(&executor, "asks", json!({})).await));
}

#[tokio::test(start_paused = true)]
async fn a_question_goes_with_its_call() {
    let executor = permissive([asks(Question::text("Why?"))]).approver(Slow).build();
    let token = CancellationToken::new();
    let batch = Batch::new(scope(), vec![call("c1", "asks", json!({}))]).cancelled_by(token.clone());
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(executor.execute_batch(batch), cancel);
    expect![[r#"
        cancelled
        the call was cancelled before it was done; see what it has done so far before you repeat it"#]]
    .assert_eq(&outline(&outcome.into_replies().unwrap()[0]));
}

/// A tool that wants a person to be known to a service, until they were so often.
fn guarded(wants: usize, in_place: bool) -> (Probe, Arc<AtomicUsize>) {
    let tries = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&tries);
    let tool = Probe::new("fetch").declare(|_| Ok(write("file:cache").into())).run(move |_, _| {
        let count = Arc::clone(&count);
        async move {
            if !in_place {
                tokio::task::yield_now().await;
            }
            if count.fetch_add(1, Ordering::Relaxed) < wants {
                return Err(ToolError::unauthenticated(
                    "https://example.org/login",
                    "the service does not know you yet; log in",
                ));
            }
            Ok("fetched".into())
        }
    });
    (tool, tries)
}

/// Keeps what it is shown, and answers.
fn shows(answer: Approval) -> (impl Approver, Arc<Mutex<Vec<PendingCall>>>) {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&shown);
    let approver = approver_fn(move |pending: &PendingCall| {
        sink.lock().unwrap().push(pending.clone());
        answer.clone()
    });
    (approver, shown)
}

fn fetching(tool: Probe) -> LocalExecutorBuilder {
    LocalExecutor::builder(registry([tool]))
        .policy(Policy::new().allow(Rule::tools("fetch".parse().unwrap())))
}

#[tokio::test]
async fn who_has_made_themselves_known_has_the_call_made_again() {
    for in_place in [true, false] {
        let (tool, tries) = guarded(1, in_place);
        let (approver, shown) = shows(Approval::Approve);
        let reply = reply(&fetching(tool).approver(approver).build(), "fetch", json!({})).await;
        expect![[r#"
            ok
            fetched"#]]
        .assert_eq(&outline(&reply));
        let shown = shown.lock().unwrap();
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].wants, Wants::Authentication { url: "https://example.org/login".to_owned() });
        assert!(!shown[0].can_be_remembered());
        assert_eq!(tries.load(Ordering::Relaxed), 2);
    }
}

#[tokio::test]
async fn who_does_not_make_themselves_known_gets_what_the_service_said() {
    for answer in
        [Approval::Deny { reason: "no".to_owned() }, Approval::Nobody, Approval::TimedOut { after_ms: 5 }]
    {
        let (tool, tries) = guarded(1, true);
        let reply = reply(&fetching(tool).approver(answers(answer)).build(), "fetch", json!({})).await;
        expect![[r#"
            error: unauthenticated
            the service does not know you yet; log in"#]]
        .assert_eq(&outline(&reply));
        assert_eq!(tries.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test]
async fn a_service_that_never_knows_anybody_is_not_asked_for_ever() {
    let (tool, tries) = guarded(usize::MAX, false);
    let reply = reply(&fetching(tool).approver(answers(Approval::Approve)).build(), "fetch", json!({})).await;
    expect![[r#"
        error: unauthenticated
        the service does not know you yet; log in"#]]
    .assert_eq(&outline(&reply));
    assert_eq!(tries.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn a_call_can_wait_until_a_person_is_known_and_then_go_on() {
    for in_place in [true, false] {
        let (tool, tries) = guarded(1, in_place);
        let executor = fetching(tool).approver(answers(Approval::Later)).build();
        let batch = Batch::new(scope(), vec![call("c1", "fetch", json!({}))]);
        let [outcome] = executor.execute_batch(batch).await.into_outcomes().try_into().unwrap();
        let CallOutcome::Pending(pending) = outcome else { panic!("{outcome:?}") };
        assert_eq!(pending.wants, Wants::Authentication { url: "https://example.org/login".to_owned() });
        let outcome = executor.resume(Resumption::new(scope(), *pending, Approval::Approve)).await.unwrap();
        let CallOutcome::Replied(reply) = outcome else { panic!("{outcome:?}") };
        assert!(reply.status.is_ok());
        assert_eq!(tries.load(Ordering::Relaxed), 2);
    }
}

/// A tool that wants a person to be known once, and from then on touches something else, too.
fn shifting() -> (Probe, Arc<AtomicUsize>) {
    let (tool, tries) = guarded(1, true);
    let count = Arc::clone(&tries);
    let tool = tool.declare(move |_| {
        let file = if count.load(Ordering::Relaxed) == 0 { "file:cache" } else { "file:secret" };
        Ok(write(file).into())
    });
    (tool, tries)
}

/// Lets it write its cache; the secret is asked about.
fn caching() -> Policy {
    Policy::new().allow(Rule::access(AccessMode::Write, resource("file:cache")))
}

#[tokio::test]
async fn who_makes_themselves_known_does_not_open_what_a_rule_denies() {
    let (tool, tries) = shifting();
    let (approver, shown) = shows(Approval::Approve);
    let policy = caching().deny(Rule::access(AccessMode::Write, resource("file:secret")));
    let executor = fetching(tool).policy(policy).approver(approver).build();
    expect![[r#"
        denied
        `fetch` is not permitted to do this (write file:secret: deny by the rule write(file:secret)); do not try it again, find another way or say what you would need"#]].assert_eq(&outline(&reply(&executor, "fetch", json!({})).await));
    assert!(shown.lock().unwrap().is_empty());
    assert_eq!(tries.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn who_makes_themselves_known_is_first_asked_what_was_never_approved() {
    let (tool, tries) = shifting();
    let (approver, shown) = shows(Approval::Approve);
    let executor = fetching(tool).policy(caching()).approver(approver).build();
    assert!(reply(&executor, "fetch", json!({})).await.status.is_ok());
    let shown = shown.lock().unwrap();
    let wants: Vec<_> = shown.iter().map(|pending| (&pending.wants, pending.unmet.len())).collect();
    assert_eq!(wants, [(&Wants::Approval, 1)], "the login is asked for again if it is still needed");
    assert_eq!(tries.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_login_does_not_approve_what_has_to_be_asked_about_since() {
    let (tool, tries) = guarded(1, true);
    let executor = fetching(tool).approver(answers(Approval::Later)).build();
    let batch = Batch::new(scope(), vec![call("c1", "fetch", json!({}))]);
    let [outcome] = executor.execute_batch(batch).await.into_outcomes().try_into().unwrap();
    let CallOutcome::Pending(pending) = outcome else { panic!("{outcome:?}") };
    let (tool, later) = guarded(0, true);
    let (approver, shown) = shows(Approval::Deny { reason: "asked".to_owned() });
    let executor = LocalExecutor::builder(registry([tool])).approver(approver).build();
    let outcome = executor.resume(Resumption::new(scope(), *pending, Approval::Approve)).await.unwrap();
    let CallOutcome::Replied(reply) = outcome else { panic!("{outcome:?}") };
    assert_eq!(reply.status, ReplyStatus::Denied);
    assert_eq!(shown.lock().unwrap().len(), 1);
    assert_eq!([tries.load(Ordering::Relaxed), later.load(Ordering::Relaxed)], [1, 0]);
}
