use crate::fixture::{
    Log, Probe, anything, call, call_of, permissive, registry, replies, reply, resume, scope,
};
use expect_test::expect;
use haft_core::{Content, EventKind, Origin, ToolError, ToolOutput};
use haft_tools_core::{
    Approval, Batch, CallContext, Events, Layer, LocalExecutor, Observer, PendingCall, Policy, Redactor,
    Rule, Strategy, ToolExecutor as _, approver_fn,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// Tells of everything a call can tell of, with a wait between.
async fn chatter(input: Value, cx: CallContext) -> Result<ToolOutput, ToolError> {
    cx.progress("started");
    cx.update(|| "half".into());
    tokio::time::sleep(Duration::from_millis(input["ms"].as_u64().unwrap_or_default())).await;
    cx.progress(0.75);
    match input["ends"].as_str() {
        Some("fails") => Err(ToolError::failed("it fails")),
        Some("panics") => panic!("it panics"),
        _ => Ok("whole".into()),
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_told_of_from_start_to_finish() {
    let log = Log::default();
    let executor = permissive([Probe::new("t").run(chatter)]).events(log.events()).build();
    replies(&executor, vec![call("c1", "t", json!({})), call("c2", "u", json!("{"))]).await;
    expect![[r#"
        c1 started t {}
        c1 decided allow: allow by the rule *
        c2 started u "{"
        c1 progressed Progress { message: Some("started"), fraction: None }
        c1 updated half
        c1 progressed Progress { message: None, fraction: Some(0.75) }
        c1 finished ok: whole
        c2 finished error: unknown tool: there is no tool `u`; the only tool is `t`
    "#]]
    .assert_eq(&log.outline());
    let events = log.all();
    assert!(events.iter().all(|event| event.run.as_str() == "run-1" && event.parent_run.is_none()));
    let sequence: Vec<u64> = events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequence, (0..events.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_call_that_waits_is_started_once_and_finished_once() {
    let log = Log::default();
    let executor = LocalExecutor::builder(registry([Probe::new("t").says("done")]))
        .approver(approver_fn(|_: &PendingCall| Approval::Later))
        .events(log.events())
        .build();
    let batch = Batch::new(scope(), vec![call("c1", "t", json!({}))]);
    let waiting = executor.execute_batch(batch).await.into_replies().unwrap_err();
    resume(&executor, waiting.iter().next().unwrap().clone(), Approval::Approve).await;
    expect![[r#"
        c1 started t {}
        c1 decided ask: ask, no rule speaks of it
        c1 asked ["nothing outside its own memory"] ""
        c1 decided ask: ask, no rule speaks of it
        c1 decided allow: approved
        c1 finished ok: done
    "#]]
    .assert_eq(&log.outline());
}

#[tokio::test]
async fn the_answer_of_a_person_is_told_of() {
    let outline = async |approval: Approval| {
        let log = Log::default();
        let executor = LocalExecutor::builder(registry([Probe::new("t").says("done")]))
            .policy(Policy::new())
            .approver(approver_fn(move |_: &PendingCall| approval.clone()))
            .events(log.events())
            .build();
        reply(&executor, "t", json!({})).await;
        log.outline()
    };
    expect![[r#"
        c1 started t {}
        c1 decided ask: ask, no rule speaks of it
        c1 asked ["nothing outside its own memory"] ""
        c1 decided allow: approved
        c1 finished ok: done
    "#]]
    .assert_eq(&outline(Approval::Approve).await);
    expect![[r#"
        c1 started t {}
        c1 decided ask: ask, no rule speaks of it
        c1 asked ["nothing outside its own memory"] ""
        c1 decided deny: not approved: not today
        c1 finished denied: this call was not approved: not today; do not repeat it, find another way or say what you would need
    "#]].assert_eq(&outline(Approval::Deny { reason: "not today".to_owned() }).await);
    expect![[r#"
        c1 started t {}
        c1 decided ask: ask, no rule speaks of it
        c1 asked ["nothing outside its own memory"] ""
        c1 decided ask: ask, no rule speaks of it
        c1 decided allow: approved with other arguments
        c1 finished ok: done
        [the arguments were changed: the whole: edited by the user, who then approved the call ({} → {"n":1})]
    "#]]
    .assert_eq(&outline(Approval::Edit { input: json!({ "n": 1 }) }).await);
}

#[tokio::test]
async fn what_a_rule_decides_is_told_of() {
    let log = Log::default();
    let policy = anything().deny(Rule::tools("u".parse().unwrap()));
    let executor = LocalExecutor::builder(registry([Probe::new("t"), Probe::new("u")]))
        .policy(policy)
        .events(log.events());
    replies(&executor.build(), vec![call("c1", "t", json!({})), call("c2", "u", json!({}))]).await;
    expect![[r#"
        c1 started t {}
        c1 decided allow: allow by the rule *
        c2 started u {}
        c2 decided deny: deny by the rule u
        c1 finished ok: {}
        c2 finished denied: `u` is not permitted to do this (deny by the rule u); do not try it again, find another way or say what you would need
    "#]].assert_eq(&log.outline());
}

#[tokio::test]
async fn a_child_run_is_told_of_with_its_parent() {
    let log = Log::default();
    let executor = permissive([Probe::new("t")]).events(log.events()).build();
    let child = scope().child("run-2".parse().unwrap());
    executor.execute_batch(Batch::new(child, vec![call("c1", "t", json!({}))])).await;
    for event in log.all() {
        assert_eq!(
            (event.run.as_str(), event.parent_run.as_ref().map(haft_core::RunId::as_str)),
            ("run-2", Some("run-1"))
        );
    }
}

#[tokio::test]
async fn what_is_said_after_the_end_goes_nowhere() {
    let (log, kept) = (Log::default(), Arc::new(Mutex::new(None)));
    let keeps = Arc::clone(&kept);
    let probe = Probe::new("t").run(move |_, cx| {
        *keeps.lock().unwrap() = Some(cx);
        std::future::ready(Ok("done".into()))
    });
    reply(&permissive([probe]).events(log.events()).build(), "t", json!({})).await;
    let told = log.all().len();
    let cx = kept.lock().unwrap().take().unwrap();
    cx.progress("still here");
    cx.update(|| panic!("nobody is told"));
    assert_eq!(log.all().len(), told);
}

#[tokio::test]
async fn an_update_that_is_made_while_its_call_ends_goes_nowhere() {
    let (log, thread) = (Log::default(), Arc::new(Mutex::new(None)));
    let (end, ended) = mpsc::channel();
    let (ended, spawned) = (Mutex::new(Some(ended)), Arc::clone(&thread));
    let probe = Probe::new("t").run(move |_, cx: CallContext| {
        let (making, made) = tokio::sync::oneshot::channel();
        let ended = ended.lock().unwrap().take().unwrap();
        *spawned.lock().unwrap() = Some(std::thread::spawn(move || {
            cx.update(|| {
                making.send(()).unwrap();
                ended.recv().unwrap();
                "too late".into()
            });
        }));
        async move {
            made.await.unwrap();
            Ok("done".into())
        }
    });
    reply(&permissive([probe]).events(log.events()).build(), "t", json!({})).await;
    end.send(()).unwrap();
    thread.lock().unwrap().take().unwrap().join().unwrap();
    expect![[r#"
        c1 started t {}
        c1 decided allow: allow by the rule *
        c1 finished ok: done
    "#]]
    .assert_eq(&log.outline());
}

#[tokio::test]
async fn an_update_is_not_made_where_nobody_observes() {
    let probe = Probe::new("t").run(|_, cx: CallContext| {
        cx.update(|| panic!("nobody observes"));
        std::future::ready(Ok("done".into()))
    });
    assert!(reply(&permissive([probe.clone()]).build(), "t", json!({})).await.status.is_ok());
    let nobody = permissive([probe]).events(Events::new([])).build();
    assert!(reply(&nobody, "t", json!({})).await.status.is_ok());
}

#[tokio::test]
async fn an_observer_that_panics_disturbs_nobody() {
    let log = Log::default();
    let broken: Arc<dyn Observer> = Arc::new(|_: &haft_core::Event| panic!("the log is full"));
    let events = Events::new([broken, Arc::new(log.clone()) as _]);
    let reply =
        reply(&permissive([Probe::new("t").run(chatter)]).events(events).build(), "t", json!({})).await;
    assert!(reply.status.is_ok());
    expect![[r#"
        c1 started t {}
        c1 decided allow: allow by the rule *
        c1 progressed Progress { message: Some("started"), fraction: None }
        c1 updated half
        c1 progressed Progress { message: None, fraction: Some(0.75) }
        c1 finished ok: whole
    "#]]
    .assert_eq(&log.outline());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_call_has_one_start_and_one_finish_with_all_else_between(
        calls in prop::collection::vec((prop::sample::select(vec!["t", "missing"]), 0u64..20, prop::sample::select(vec!["", "fails", "panics"])), 0..10),
        parallel in any::<bool>(),
    ) {
        let (log, count) = (Log::default(), calls.len());
        let strategy = if parallel { Strategy::Parallel } else { Strategy::Sequential };
        let executor = permissive([Probe::new("t").run(chatter)]).strategy(strategy).events(log.events()).build();
        let calls = (0..).zip(calls).map(|(n, (name, ms, ends))| call(&format!("c{n}"), name, json!({ "ms": ms, "ends": ends })));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(replies(&executor, calls.collect()));
        let mut of_call: BTreeMap<String, Vec<EventKind>> = BTreeMap::new();
        let mut last = None;
        for event in log.all() {
            prop_assert!(last.is_none_or(|last| event.sequence == last + 1));
            last = Some(event.sequence);
            of_call.entry(call_of(&event)).or_default().push(event.kind);
        }
        prop_assert_eq!(of_call.len(), count);
        for (call, kinds) in of_call {
            let is_end = |kind: &EventKind| matches!(kind, EventKind::Started { .. } | EventKind::Finished { .. });
            let ends: Vec<usize> = kinds.iter().enumerate().filter(|(_, kind)| is_end(kind)).map(|(place, _)| place).collect();
            prop_assert_eq!(ends, vec![0, kinds.len() - 1], "{} {:?}", call, kinds);
        }
    }
}

#[tokio::test]
async fn what_a_call_tells_is_bounded_and_can_be_seen() {
    let secret = "hunter2-hunter2";
    let chatty = |name: &str| {
        Probe::new(name).run(move |_, cx| async move {
            cx.update(|| ToolOutput::text(format!("{secret}{}\u{202e}", "x".repeat(32 * 1024 - 6))));
            cx.update(|| ToolOutput::new(vec![Content::json(json!("y".repeat(4 << 20))), "end".into()]));
            cx.progress(format!("{}{secret}", "x".repeat(1020)));
            cx.progress("a\u{202e}b");
            Ok("done".into())
        })
    };
    let origin = Origin::Mcp { server: "s".into(), tool: "t".into() };
    let (log, redactor) = (Log::default(), Redactor::new());
    redactor.add(secret).unwrap();
    let foreign = chatty("foreign").spec(|spec| spec.with_origin(origin.clone()));
    let executor = permissive([chatty("own"), foreign]).events(log.events()).redactor(redactor).build();
    for name in ["own", "foreign"] {
        reply(&executor, name, json!({})).await;
    }
    let x = |count: usize| "x".repeat(count);
    let told: Vec<String> = log
        .all()
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Updated { output } => Some(output.to_text()),
            EventKind::Progressed { progress } => progress.message.clone(),
            _ => None,
        })
        .collect();
    let update = |end: &str| format!("[… of 32780 bytes the end …]\ned]{}{end}", x(32 * 1024 - 6));
    let json = "[… of 39 bytes the end …]\n[JSON that is too large to be shown]end".to_owned();
    let cut = format!("{}…", x(1020));
    let expected = [
        [update("\u{202e}"), json.clone(), cut.clone(), "a\u{202e}b".into()],
        [update("\\u{202e}"), json, cut, "a\\u{202e}b".into()],
    ];
    let short = |text: &String| text.replace(&x(1000), "X");
    assert_eq!(
        told.iter().map(short).collect::<Vec<_>>(),
        expected.concat().iter().map(short).collect::<Vec<_>>()
    );
}

#[tokio::test(start_paused = true)]
async fn an_update_that_a_layer_suppresses_takes_no_turn() {
    struct NotTheFirst;
    #[async_trait::async_trait]
    impl Layer for NotTheFirst {
        fn before_update(&self, _: &CallContext, output: ToolOutput) -> Option<ToolOutput> {
            (output.to_text() != "first").then_some(output)
        }
    }
    let log = Log::default();
    let updates = Probe::new("t").run(|_, cx| async move {
        for text in ["first", "second", "third"] {
            cx.update(|| text.into());
        }
        Ok("done".into())
    });
    let executor = LocalExecutor::builder(registry([updates]))
        .policy(anything())
        .layer(NotTheFirst)
        .events(log.events())
        .build();
    reply(&executor, "t", json!({})).await;
    assert!(log.outline().contains("updated second\nc1 finished"), "{}", log.outline());
}
