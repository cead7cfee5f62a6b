use crate::approvals::{answers, asking, deny, edit, reading};
use crate::fixture::{Probe, call, outline, registry, reply, resource, scope, write};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::{Decision, Event, EventKind};
use haft_tools_core::{
    Access, AccessMode, Accesses, Approval, Approver, Approvers, Batch, CallScope, Events, Grant, GrantPlace,
    GrantStore, GrantTerm, Grants, LocalExecutor, LocalExecutorBuilder, MemoryGrants, Mode, ModeSwitch,
    Observer, PendingCall, Policy, Resumption, Rule, Rules, StoreError, ToolExecutor as _, answering_within,
    approver_fn,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Gives its answers one after the other, and then denies with `asked`.
fn answers_in_turn(answers: impl IntoIterator<Item = Approval>) -> impl Approver {
    let answers: Mutex<Vec<Approval>> = Mutex::new(answers.into_iter().collect());
    approver_fn(move |_: &PendingCall| {
        let mut answers = answers.lock().unwrap();
        if answers.is_empty() { deny("asked") } else { answers.remove(0) }
    })
}

fn granted(term: GrantTerm) -> Approval {
    Approval::ApproveFor { term }
}

fn never(term: GrantTerm) -> Approval {
    Approval::Never { term, reason: String::new() }
}

fn remembering(store: &Arc<MemoryGrants>) -> Grants {
    Grants::kept_in(Arc::clone(store) as Arc<dyn GrantStore>)
}

/// Edits these paths one after the other; tells of each whether it was done, denied or asked about.
async fn edits(executor: &LocalExecutor, scope: &CallScope, paths: &[&str]) -> String {
    let mut lines = Vec::new();
    for path in paths {
        let batch = Batch::new(scope.clone(), vec![call("c1", "edit", json!({ "path": path }))]);
        let replies = executor.execute_batch(batch).await.into_replies().unwrap();
        let text = replies[0].output.to_text();
        let short = text
            .split_once(": asked")
            .map_or_else(|| outline(&replies[0]).replace('\n', ": "), |_| "asked".to_owned());
        lines.push(format!("{path}: {short}\n"));
    }
    lines.concat()
}

async fn check(executor: LocalExecutorBuilder, paths: &[&str], expect: Expect) {
    expect.assert_eq(&edits(&executor.build(), &scope(), paths).await);
}

#[tokio::test]
async fn a_grant_answers_for_what_was_shown_and_nothing_else() {
    check(
        asking(answers_in_turn([granted(GrantTerm::Run)])),
        &["a", "a", "b", "a/b"],
        expect![[r#"
            a: ok: {"path":"a"}
            a: ok: {"path":"a"}
            b: asked
            a/b: asked
        "#]],
    )
    .await;
}

#[tokio::test]
async fn an_approval_is_not_remembered() {
    check(
        asking(answers_in_turn([Approval::Approve])),
        &["a", "a"],
        expect![[r#"
            a: ok: {"path":"a"}
            a: asked
        "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_never_to_be_is_not_asked_again() {
    check(
        asking(answers_in_turn([never(GrantTerm::Always)])),
        &["a", "a", "b"],
        expect![[r#"
            a: denied: this call was not approved; do not repeat it, find another way or say what you would need
            a: denied: the user has said before that this is never to be done (`write(file:a)`); do not try it again, find another way
            b: asked
        "#]],
    )
    .await;
}

#[tokio::test]
async fn never_weighs_more_than_a_grant() {
    let store = Arc::new(MemoryGrants::new());
    for decision in [Decision::Allow, Decision::Deny] {
        store.add(&Grant::new(decision, "write(file:**)", None, GrantPlace::Always)).await.unwrap();
    }
    check(asking(answers_in_turn([])).grants(remembering(&store)), &["a"], expect![[r#"
        a: denied: the user has said before that this is never to be done (`write(file:**)`); do not try it again, find another way
    "#]]).await;
}

#[tokio::test]
async fn a_grant_is_for_one_agent_and_one_place() {
    let store = Arc::new(MemoryGrants::new());
    let executor = |answers: Vec<Approval>, workspace: &str| {
        asking(answers_in_turn(answers))
            .grants(remembering(&store).session("s1").workspace(workspace))
            .build()
    };
    let run = |run: &str| CallScope::new(run.parse().unwrap());
    let first = executor(
        vec![granted(GrantTerm::Run), granted(GrantTerm::Session), granted(GrantTerm::Workspace)],
        "/w",
    );
    edits(&first, &run("run-1"), &["run", "session", "workspace"]).await;
    let check = async |executor: LocalExecutor, scope: CallScope, expect: Expect| {
        expect.assert_eq(&edits(&executor, &scope, &["run", "session", "workspace"]).await);
    };
    check(
        executor(vec![], "/w"),
        run("run-1"),
        expect![[r#"
        run: ok: {"path":"run"}
        session: ok: {"path":"session"}
        workspace: ok: {"path":"workspace"}
    "#]],
    )
    .await;
    check(
        executor(vec![], "/w"),
        run("run-2"),
        expect![[r#"
        run: asked
        session: ok: {"path":"session"}
        workspace: ok: {"path":"workspace"}
    "#]],
    )
    .await;
    check(
        executor(vec![], "/elsewhere"),
        run("run-2"),
        expect![[r#"
        run: asked
        session: ok: {"path":"session"}
        workspace: asked
    "#]],
    )
    .await;
    check(
        executor(vec![], "/w"),
        run("run-1").with_agent("explorer"),
        expect![[r#"
        run: asked
        session: asked
        workspace: asked
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_grant_is_over_when_it_is_revoked_or_expires() {
    let store = Arc::new(MemoryGrants::new());
    let executor = asking(answers_in_turn([granted(GrantTerm::Always)])).grants(remembering(&store)).build();
    edits(&executor, &scope(), &["a"]).await;
    let grants = store.list_grants().await.unwrap();
    let [grant] = grants.as_slice() else { panic!("{grants:?}") };
    assert_eq!((grant.rule.as_str(), grant.place.to_string().as_str()), ("write(file:a)", "always"));
    assert!(store.revoke(&grant.id).await.unwrap());
    assert!(!store.revoke(&grant.id).await.unwrap());
    expect!["a: asked\n"].assert_eq(&edits(&executor, &scope(), &["a"]).await);
    let grants = remembering(&store).lifetime(Duration::ZERO);
    let executor = asking(answers_in_turn([granted(GrantTerm::Always)])).grants(grants).build();
    expect![[r#"
        a: ok: {"path":"a"}
        a: asked
    "#]]
    .assert_eq(&edits(&executor, &scope(), &["a", "a"]).await);
}

#[tokio::test]
async fn what_cannot_be_told_is_never_granted_for_longer_than_a_call() {
    let script = edit().declare(|_| Ok(Accesses::from([write("file:a"), Access::opaque("a script")])));
    let executor = LocalExecutor::builder(registry([script]))
        .policy(reading())
        .approver(answers_in_turn([granted(GrantTerm::Always)]));
    check(
        executor,
        &["a", "a"],
        expect![[r#"
        a: ok: {"path":"a"}
        a: asked
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_tool_that_touches_nothing_is_granted_by_its_name() {
    let answers = answers_in_turn([granted(GrantTerm::Run)]);
    let executor =
        LocalExecutor::builder(registry([Probe::new("now"), Probe::new("later")])).approver(answers).build();
    assert!(reply(&executor, "now", json!({})).await.status.is_ok());
    assert!(reply(&executor, "now", json!({})).await.status.is_ok());
    assert!(!reply(&executor, "later", json!({})).await.status.is_ok());
}

#[tokio::test]
async fn a_grant_takes_nothing_from_what_a_rule_denies() {
    let store = Arc::new(MemoryGrants::new());
    store.add(&Grant::new(Decision::Allow, "write(file:**)", None, GrantPlace::Always)).await.unwrap();
    store.add(&Grant::new(Decision::Allow, "write(", None, GrantPlace::Always)).await.unwrap();
    let denied = reading().deny(haft_tools_core::RuleLanguage::new().rule("write(file:a)").unwrap());
    check(asking(answers_in_turn([])).policy(denied).grants(remembering(&store)), &["a", "b"], expect![[r#"
        a: denied: `edit` is not permitted to do this (write file:a: deny by the rule write(file:a)); do not try it again, find another way or say what you would need
        b: ok: {"path":"b"}
    "#]]).await;
}

/// Is a store that cannot be read.
struct Broken;

#[async_trait]
impl GrantStore for Broken {
    async fn add(&self, _: &Grant) -> Result<(), StoreError> {
        Err(StoreError::new("keep the grant", "the disk is gone"))
    }

    async fn holding(&self, _: Option<&str>, _: &[GrantPlace]) -> Result<Vec<Arc<Grant>>, StoreError> {
        Err(StoreError::new("read the grants", "the disk is gone"))
    }

    async fn list_grants(&self) -> Result<Vec<Arc<Grant>>, StoreError> {
        self.holding(None, &[]).await
    }

    async fn revoke(&self, _: &str) -> Result<bool, StoreError> {
        Ok(false)
    }
}

#[tokio::test]
async fn who_cannot_be_reminded_of_what_is_forbidden_is_not_asked() {
    let executor =
        asking(answers_in_turn([granted(GrantTerm::Always)])).grants(Grants::kept_in(Arc::new(Broken)));
    check(
        executor,
        &["a", "a"],
        expect![[r#"
            a: denied: the host cannot read at the moment what people have answered before, and runs nothing that may have been forbidden; nothing was done, so say so and stop
            a: denied: the host cannot read at the moment what people have answered before, and runs nothing that may have been forbidden; nothing was done, so say so and stop
        "#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn who_does_not_answer_in_time_has_not_denied() {
    struct Away;

    #[async_trait]
    impl Approver for Away {
        async fn approve(&self, _: &PendingCall) -> Approval {
            std::future::pending().await
        }
    }

    let minute = Duration::from_mins(1);
    check(asking(answering_within(minute, Away)), &["a"], expect![[r#"
        a: denied: nobody answered within 60 s whether this call may run, so it was not run; go on without it, or ask again later
    "#]]).await;
    let then = |next: Approval| Approvers::new().then(answering_within(minute, Away)).then(answers(next));
    check(
        asking(then(Approval::Approve)),
        &["a"],
        expect![[r#"
        a: ok: {"path":"a"}
    "#]],
    )
    .await;
    check(asking(then(Approval::Nobody)), &["a"], expect![[r#"
        a: denied: nobody answered within 60 s whether this call may run, so it was not run; go on without it, or ask again later
    "#]]).await;
    check(asking(Approvers::new()), &["a"], expect![[r#"
        a: denied: this call was not approved: nobody can be asked here; do not repeat it, find another way or say what you would need
    "#]]).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let second = approver_fn(move |_: &PendingCall| {
        counted.fetch_add(1, Ordering::Relaxed);
        Approval::Approve
    });
    check(asking(Approvers::new().then(answers(deny("no"))).then(second)), &["a"], expect![[r#"
        a: denied: this call was not approved: no; do not repeat it, find another way or say what you would need
    "#]]).await;
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

/// Leaves an edit to wait, changes what was kept of it, approves it for the run, and tells what is remembered.
async fn remembered_of(change: impl FnOnce(&mut PendingCall), then: Policy) -> Vec<String> {
    let store = Arc::new(MemoryGrants::new());
    let executor = |approver: Approval, policy: Policy| {
        asking(answers(approver)).policy(policy).grants(remembering(&store)).build()
    };
    let batch = Batch::new(scope(), vec![call("c1", "edit", json!({ "path": "a" }))]);
    let waiting = executor(Approval::Later, reading()).execute_batch(batch).await;
    let mut pending = waiting.into_replies().unwrap_err().iter().next().unwrap().clone();
    change(&mut pending);
    let resumption = Resumption::new(scope(), pending, granted(GrantTerm::Run));
    executor(deny("asked again"), then).resume(resumption).await.unwrap();
    store.list_grants().await.unwrap().iter().map(|grant| grant.rule.clone()).collect()
}

#[tokio::test]
async fn a_later_answer_is_remembered_only_for_what_is_asked_when_it_counts() {
    assert_eq!(remembered_of(|_| {}, reading()).await, ["write(file:a)"]);
    let forged = |pending: &mut PendingCall| pending.unmet[0].grant = Some("write(file:**)".to_owned());
    assert_eq!(remembered_of(forged, reading()).await, [""; 0], "only what was shown is remembered");
    let other = |pending: &mut PendingCall| pending.call.input = json!({ "path": "b" });
    assert_eq!(remembered_of(other, reading()).await, [""; 0], "the answer was to another call");
    let denied = reading().deny(Rule::access(AccessMode::Write, resource("file:a")));
    assert_eq!(remembered_of(|_| {}, denied).await, [""; 0], "a rule denies it by now");
}

#[tokio::test]
async fn a_tool_that_was_granted_by_its_name_is_granted_only_what_touches_nothing() {
    let touches = |input: &Value| match input["touches"].as_str() {
        Some("nothing") => Ok(Accesses::none()),
        Some("a file") => Ok(write("file:a").into()),
        _ => Ok(Access::opaque("anything").into()),
    };
    for answer in [granted(GrantTerm::Always), never(GrantTerm::Always)] {
        let tool = Probe::new("bash").declare(touches);
        let executor =
            LocalExecutor::builder(registry([tool])).approver(answers_in_turn([answer.clone()])).build();
        let mut seen = Vec::new();
        for what in ["nothing", "nothing", "a file", "what is not known"] {
            let reply = reply(&executor, "bash", json!({ "touches": what })).await;
            let asked = reply.output.to_text().contains("asked");
            seen.push(if asked { "asked".to_owned() } else { reply.status.to_string() });
        }
        let own = if answer.approves() { "ok" } else { "denied" };
        assert_eq!(seen, [own, own, "asked", "asked"]);
    }
}

#[tokio::test]
async fn a_tool_whose_name_is_another_rule_is_asked_about_each_time_and_grants_nothing_else() {
    for name in ["opaque", "read", "write", "exec", "connect", "call"] {
        let store = Arc::new(MemoryGrants::new());
        let declare = |input: &Value| match input["touches"].as_str() {
            Some("nothing") => Ok(Accesses::none()),
            _ => Ok(Access::opaque("anything").into()),
        };
        let executor = LocalExecutor::builder(registry([Probe::new(name).declare(declare)]))
            .approver(answers_in_turn([granted(GrantTerm::Always)]))
            .grants(remembering(&store))
            .build();
        let mut seen = Vec::new();
        for what in ["nothing", "nothing", "what is not known"] {
            let reply = reply(&executor, name, json!({ "touches": what })).await;
            let asked = reply.output.to_text().contains("asked");
            seen.push(if asked { "asked".to_owned() } else { reply.status.to_string() });
        }
        assert_eq!(seen, ["ok", "asked", "asked"], "{name}");
    }
}

#[tokio::test]
async fn what_is_never_to_be_done_is_not_done_in_a_wider_mode() {
    let store = Arc::new(MemoryGrants::new());
    let mode = ModeSwitch::default();
    let policy =
        reading().accept_edits(Rules::new().allow(Rule::access(AccessMode::Write, resource("file:**"))));
    let executor = asking(answers_in_turn([never(GrantTerm::Always)]))
        .policy(policy)
        .mode(&mode)
        .grants(remembering(&store))
        .build();
    let before = edits(&executor, &scope(), &["a"]).await;
    mode.set(Mode::AcceptEdits);
    let after = edits(&executor, &scope(), &["a", "b"]).await;
    expect![[r#"
        a: denied: this call was not approved; do not repeat it, find another way or say what you would need
        a: denied: the user has said before that this is never to be done (`write(file:a)`); do not try it again, find another way
        b: ok: {"path":"b"}
    "#]].assert_eq(&format!("{before}{after}"));
}

#[tokio::test]
async fn what_is_never_to_be_done_is_not_done_where_the_mode_changes_while_that_is_looked_up() {
    let store = Arc::new(MemoryGrants::new());
    store.add(&Grant::new(Decision::Deny, "write(file:a)", None, GrantPlace::Always)).await.unwrap();
    let mode = ModeSwitch::new(Mode::AcceptEdits);
    let switch = mode.clone();
    // As if a person set the mode right after the call was let run by the one before, and ahead of all else.
    let sets: Arc<dyn Observer> = Arc::new(move |event: &Event| {
        if matches!(event.kind, EventKind::Decided { .. }) {
            switch.set(Mode::Plan);
        }
    });
    let policy =
        reading().accept_edits(Rules::new().allow(Rule::access(AccessMode::Write, resource("file:**"))));
    let executor = asking(answers_in_turn([]))
        .policy(policy)
        .mode(&mode)
        .grants(remembering(&store))
        .events(Events::new([sets]));
    check(executor, &["a"], expect![[r#"
        a: denied: the user has said before that this is never to be done (`write(file:a)`); do not try it again, find another way
    "#]]).await;
    assert_eq!(mode.get(), Mode::Plan);
}
