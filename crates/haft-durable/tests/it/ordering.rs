use haft_core::{Event, EventKind, ReplyStatus, ToolCall, ToolError, ToolOutput, ToolReply};
use haft_durable::in_order;
use haft_tools_core::{
    Access, Accesses, Batch, CallContext, CallOutcome, CallScope, Events, HeldCall, Resource, Scheme, Steer,
    ToolRegistry, tool_fn,
};
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

const NOTE: Scheme = Scheme::new("note");

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {
    place: String,
}

fn registry() -> ToolRegistry {
    let touched = |input: &Input| {
        Ok::<Accesses, ToolError>(Access::write(Resource::exact(NOTE, input.place.as_str())).into())
    };
    let write = tool_fn("write", "Writes.", touched, |_: Input, _: CallContext| async {
        Ok::<_, ToolError>("this is never run")
    });
    ToolRegistry::new().with(write.unwrap()).unwrap()
}

fn batch(places: &[&str]) -> Batch {
    let call = |(number, place): (usize, &&str)| {
        ToolCall::new(format!("c{number}").parse().unwrap(), "write", json!({ "place": place }))
    };
    Batch::new(CallScope::new("r".parse().unwrap()), places.iter().enumerate().map(call).collect())
}

fn done(held: HeldCall) -> CallOutcome {
    let call = held.call;
    CallOutcome::Replied(ToolReply::new(call.id, call.name, ReplyStatus::Ok, ToolOutput::text("done")))
}

/// Runs a batch and lists when each call began and ended.
async fn course_of(batch: Batch, registry: Option<&ToolRegistry>) -> String {
    let said = Mutex::new(Vec::new());
    let run = |held: HeldCall, _| {
        let said = &said;
        async move {
            said.lock().unwrap().push(format!("{}+", held.call.id));
            tokio::task::yield_now().await;
            said.lock().unwrap().push(format!("{}-", held.call.id));
            done(held)
        }
    };
    in_order(&batch, registry, &Events::default(), run).await;
    said.into_inner().unwrap().join(" ")
}

#[tokio::test]
async fn calls_that_conflict_wait_for_each_other() {
    assert_eq!(course_of(batch(&["a", "a"]), Some(&registry())).await, "c0+ c0- c1+ c1-");
}

#[tokio::test]
async fn calls_that_are_not_declared_wait_for_all() {
    assert_eq!(course_of(batch(&["a", "b"]), None).await, "c0+ c0- c1+ c1-");
}

#[tokio::test]
async fn what_is_alone_is_not_prepared_to_be_ordered() {
    let prepared = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&prepared);
    let touched = move |_: &Input| {
        *counted.lock().unwrap() += 1;
        Ok::<Accesses, ToolError>(Accesses::none())
    };
    let write = tool_fn("write", "Writes.", touched, |_: Input, _: CallContext| async {
        Ok::<_, ToolError>("this is never run")
    });
    let registry = ToolRegistry::new().with(write.unwrap()).unwrap();
    assert_eq!(course_of(batch(&["a"]), Some(&registry)).await, "c0+ c0-");
    assert_eq!(*prepared.lock().unwrap(), 0);
    course_of(batch(&["a", "b"]), Some(&registry)).await;
    assert_eq!(*prepared.lock().unwrap(), 2);
}

#[tokio::test]
async fn the_registry_of_a_batch_comes_first() {
    let own = batch(&["a", "b"]).with_registry(registry());
    assert_eq!(course_of(own, Some(&ToolRegistry::new())).await, "c0+ c1+ c0- c1-");
}

#[tokio::test]
async fn calls_that_do_not_conflict_overlap() {
    let (barrier, registry) = (Barrier::new(3), registry());
    let run = |held: HeldCall, _| {
        let barrier = &barrier;
        async move {
            barrier.wait().await;
            done(held)
        }
    };
    let batch = batch(&["a", "b", "c"]);
    assert_eq!(
        in_order(&batch, Some(&registry), &Events::default(), run).await.into_replies().unwrap().len(),
        3
    );
}

async fn statuses(batch: Batch) -> Vec<String> {
    let run = |held: HeldCall, _| async move { done(held) };
    let outcome = in_order(&batch, None, &Events::default(), run).await;
    outcome.into_replies().unwrap().into_iter().map(|reply| reply.status.to_string()).collect()
}

#[tokio::test]
async fn steering_that_cancels_or_breaks_cancels_this_batch_only() {
    let stop = CancellationToken::new();
    let cancels = batch(&["a", "a", "a"])
        .cancelled_by(stop.clone())
        .steered_by(|next: &ToolCall| if next.id.as_str() == "c0" { Steer::Continue } else { Steer::Cancel });
    assert_eq!(statuses(cancels).await, ["ok", "cancelled", "cancelled"]);
    assert!(!stop.is_cancelled());

    let breaks =
        batch(&["a", "a"]).steered_by(|next: &ToolCall| -> Steer { panic!("no word on {}", next.id) });
    assert_eq!(statuses(breaks).await, ["cancelled", "cancelled"]);
}

#[tokio::test]
async fn observers_are_told_once_when_each_call_starts_and_when_it_is_answered() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    let observer = move |event: &Event| {
        let kind = match &event.kind {
            EventKind::Started { name, .. } => format!("starts {name}"),
            EventKind::Finished { reply } => reply.status.to_string(),
            other => format!("{other:?}"),
        };
        sink.lock().unwrap().push(format!("{} {kind}", event.call.as_ref().unwrap()));
    };
    let skips = |next: &ToolCall| match next.id.as_str() {
        "c1" => Steer::SkipRemaining { message: "enough".to_owned() },
        _ => Steer::Continue,
    };
    let events = Events::default();
    let mut reader = events.subscribe(8);
    let batch = batch(&["a", "a"]).steered_by(skips).observed_by(Arc::new(observer));
    let run = |held: HeldCall, _| async move { done(held) };
    in_order(&batch, None, &events, run).await;
    assert_eq!(*told.lock().unwrap(), ["c0 starts write", "c0 ok", "c1 starts write", "c1 skipped"]);
    assert_eq!(std::iter::from_fn(|| reader.try_next()).count(), 4);
}

#[tokio::test]
async fn observers_are_told_that_a_call_is_over_for_them_when_its_batch_is_dropped() {
    let events = Events::default();
    let mut reader = events.subscribe(0);
    let batch = batch(&["a"]);
    {
        let run = |_: HeldCall, _| std::future::pending::<CallOutcome>();
        let running = std::pin::pin!(in_order(&batch, None, &events, run));
        assert!(futures_util::poll!(running).is_pending());
    }
    let told: Vec<_> = std::iter::from_fn(|| reader.try_next()).map(|delivery| delivery.event).collect();
    assert!(matches!(told[0].kind, EventKind::Started { .. }));
    assert!(matches!(&told[1].kind, EventKind::Finished { reply } if reply.status == ReplyStatus::Cancelled));
    assert_eq!(told.len(), 2);
}
