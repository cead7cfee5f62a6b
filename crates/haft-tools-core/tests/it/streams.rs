use crate::fixture::{Probe, call, permissive, replies, scope};
use expect_test::expect;
use futures_util::{FutureExt as _, StreamExt as _};
use haft_core::{Decision, EventKind, StopReason, ToolReply, Usage};
use haft_tools_core::{CallContext, Delivery, EventReader, Events};
use proptest::prelude::*;
use serde_json::json;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

fn text(text: &str) -> EventKind {
    EventKind::TextDelta { text: text.to_owned() }
}

fn emit(events: &Events, kind: EventKind) {
    events.emit(&scope(), None, || kind);
}

fn emit_all(events: &Events, kinds: impl IntoIterator<Item = EventKind>) {
    for kind in kinds {
        emit(events, kind);
    }
}

/// Prints what is in the queue: each number, after how many are missing before it.
fn drained(reader: &mut EventReader) -> String {
    std::iter::from_fn(|| reader.try_next()).map(|delivery| outline(&delivery)).collect::<Vec<_>>().join(" ")
}

fn outline(delivery: &Delivery) -> String {
    let sequence = delivery.event.sequence;
    if delivery.lost_before == 0 {
        sequence.to_string()
    } else {
        format!("-{} {sequence}", delivery.lost_before)
    }
}

/// Makes one event of each kind.
fn every_kind() -> Vec<EventKind> {
    let reply = ToolReply::new("c1".parse().unwrap(), "t", haft_core::ReplyStatus::Ok, "done".into());
    vec![
        EventKind::TurnStarted { turn: 1 },
        text("a"),
        EventKind::ReasoningDelta { text: "b".to_owned() },
        EventKind::TurnFinished { turn: 1, stop: StopReason::ToolCalls, usage: Usage::default() },
        EventKind::Started { name: "t".to_owned(), input: json!({}) },
        EventKind::ApprovalRequested { accesses: Vec::new(), preview: String::new() },
        EventKind::Decided { decision: Decision::Allow, reason: "approved".to_owned() },
        EventKind::Updated { output: "half".into() },
        EventKind::Progressed { progress: 0.5.into() },
        EventKind::Finished { reply: Box::new(reply) },
    ]
}

#[test]
fn a_reader_that_wants_no_news_still_gets_every_start_end_decision_question_and_turn() {
    let events = Events::default();
    let mut reader = events.subscribe(0);
    emit_all(&events, every_kind());
    expect!["0 -2 3 4 5 6 -2 9"].assert_eq(&drained(&mut reader));
    assert_eq!(reader.lost(), 4);
}

#[test]
fn what_is_lost_at_the_end_is_counted_though_nothing_comes_after_it() {
    let events = Events::default();
    let mut reader = events.subscribe(0);
    emit(&events, text("a"));
    drop(events);
    assert_eq!((reader.try_next(), reader.lost(), reader.is_ended()), (None, 1, true));
}

#[test]
fn each_reader_has_a_queue_of_its_own_from_when_it_came() {
    let events = Events::default();
    emit(&events, text("nobody reads yet"));
    let mut early = events.subscribe(2);
    emit(&events, text("a"));
    let mut late = events.subscribe(9);
    emit_all(&events, ["b", "c", "d"].map(text));
    assert_eq!(drained(&mut early), "-2 2 3");
    assert_eq!(drained(&mut late), "1 2 3");
}

#[test]
fn nothing_is_made_or_kept_for_a_reader_that_is_gone() {
    let events = Events::default();
    let (mut reader, unread) = (events.subscribe(9), events.subscribe(9));
    emit(&events, text("a"));
    let Delivery { event, .. } = reader.try_next().unwrap();
    assert_eq!(Arc::strong_count(&event), 2);
    drop(unread);
    assert_eq!(Arc::strong_count(&event), 1);
    assert!(events.is_observed());
    drop(reader);
    assert!(!events.is_observed());
    events.emit(&scope(), None, || panic!("nobody reads"));
    assert_eq!(format!("{events:?}"), "Events(0 observers, 0 readers)");
}

#[test]
fn an_event_whose_making_panics_leaves_no_gap() {
    let events = Events::default();
    let mut reader = events.subscribe(9);
    let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        events.emit(&scope(), None, || panic!("it cannot be made"));
    }));
    assert!(made.is_err());
    emit(&events, text("a"));
    assert_eq!(drained(&mut reader), "0");
}

#[test]
fn a_reader_ends_when_the_last_who_could_cause_an_event_is_gone() {
    let events = Events::default();
    let mut reader = events.subscribe(9);
    let clone = events.clone();
    emit(&events, text("a"));
    drop(events);
    assert!(!reader.is_ended());
    drop(clone);
    assert!(!reader.is_ended());
    assert_eq!(
        reader.next().now_or_never().flatten().map(|delivery| outline(&delivery)),
        Some("0".to_owned())
    );
    assert!(reader.is_ended());
    assert_eq!(reader.next().now_or_never(), Some(None));
}

#[tokio::test]
async fn a_reader_that_waits_is_woken_by_an_event_and_by_the_end() {
    let events = Events::default();
    let mut reader = events.subscribe(9);
    let reading = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(delivery) = reader.next().await {
            seen.push(outline(&delivery));
        }
        seen
    });
    tokio::task::yield_now().await;
    emit(&events, text("a"));
    tokio::task::yield_now().await;
    emit(&events, text("b"));
    tokio::task::yield_now().await;
    drop(events);
    assert_eq!(reading.await.unwrap(), ["0", "1"]);
}

#[test]
fn dropping_a_read_that_waits_loses_nothing() {
    let events = Events::default();
    let mut reader = events.subscribe(9);
    {
        let mut reading = pin!(reader.next());
        let task = futures_util::task::noop_waker();
        assert_eq!(reading.as_mut().poll(&mut Context::from_waker(&task)), Poll::Pending);
        emit(&events, text("a"));
    }
    assert_eq!(drained(&mut reader), "0");
}

#[tokio::test]
async fn a_reader_is_a_stream() {
    let events = Events::default();
    let reader = events.subscribe(9);
    emit(&events, text("a"));
    emit(&events, text("b"));
    drop(events);
    let seen: Vec<String> = reader.map(|delivery| outline(&delivery)).collect().await;
    assert_eq!(seen, ["0", "1"]);
}

#[tokio::test]
async fn observers_and_readers_see_the_same_events() {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let observer = move |_: &haft_core::Event| {
        counter.fetch_add(1, Ordering::Relaxed);
    };
    let events = Events::new([Arc::new(observer) as _]);
    let mut reader = events.subscribe(9);
    let probe = Probe::new("t").run(|_, cx: CallContext| {
        cx.progress("half");
        std::future::ready(Ok("done".into()))
    });
    let executor = permissive([probe]).events(events).build();
    replies(&executor, vec![call("c1", "t", json!({}))]).await;
    assert_eq!(drained(&mut reader), "0 1 2 3");
    assert_eq!(count.load(Ordering::Relaxed), 4);
}

#[test]
fn many_who_emit_at_once_keep_one_order() {
    const EACH: u32 = 500;
    let events = Events::default();
    let mut reader = events.subscribe(8);
    let (mut kept, mut droppable, mut expected) = (0, 0, 0);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            let events = events.clone();
            threads.spawn(move || {
                for turn in 0..EACH {
                    emit(&events, EventKind::TurnStarted { turn });
                    emit(&events, text("a"));
                }
            });
        }
        drop(events);
        while !reader.is_ended() {
            let Some(delivery) = reader.try_next() else {
                std::thread::yield_now();
                continue;
            };
            assert_eq!(delivery.event.sequence, expected + delivery.lost_before);
            expected = delivery.event.sequence + 1;
            match delivery.event.kind {
                EventKind::TurnStarted { .. } => kept += 1,
                _ => droppable += 1,
            }
        }
    });
    assert_eq!((kept, droppable + reader.lost()), (4 * EACH, u64::from(4 * EACH)));
}

/// What the test does next: causes an event that is kept or one that can be dropped, or reads.
#[derive(Debug, Clone, Copy)]
enum Step {
    Keep,
    Droppable,
    Read,
    Drain,
}

proptest! {
    #[test]
    fn a_slow_reader_loses_the_oldest_droppable_events_and_is_told_where(
        capacity in 0usize..5,
        steps in prop::collection::vec(
            prop_oneof![
                3 => Just(Step::Keep), 6 => Just(Step::Droppable), 4 => Just(Step::Read), 1 => Just(Step::Drain),
            ],
            0..120,
        ),
    ) {
        let events = Events::default();
        let mut reader = events.subscribe(capacity);
        // The plain way: one list, searched from its start for what to drop.
        let mut list: VecDeque<(u64, bool)> = VecDeque::new();
        let (mut next, mut expected, mut lost) = (0, 0, 0);
        let mut kinds = every_kind().into_iter().cycle();
        for step in steps.into_iter().chain([Step::Drain]) {
            let reads = match step {
                Step::Keep | Step::Droppable => {
                    let droppable = matches!(step, Step::Droppable);
                    let of_kind = |kind: &EventKind| droppable == matches!(
                        kind,
                        EventKind::TextDelta { .. } | EventKind::ReasoningDelta { .. }
                            | EventKind::Updated { .. } | EventKind::Progressed { .. }
                    );
                    emit(&events, kinds.find(of_kind).unwrap());
                    list.push_back((next, droppable));
                    next += 1;
                    if list.iter().filter(|(_, droppable)| *droppable).count() > capacity {
                        let oldest = list.iter().position(|(_, droppable)| *droppable).unwrap();
                        list.remove(oldest);
                        lost += 1;
                    }
                    0
                }
                Step::Read => 1,
                Step::Drain => list.len() + 1,
            };
            for _ in 0..reads {
                let told = reader.try_next().map(|delivery| (delivery.event.sequence, delivery.lost_before));
                let model = list.pop_front().map(|(sequence, _)| (sequence, sequence - expected));
                prop_assert_eq!(told, model);
                expected = told.map_or(expected, |(sequence, _)| sequence + 1);
            }
            prop_assert_eq!(reader.lost(), lost);
        }
    }
}
