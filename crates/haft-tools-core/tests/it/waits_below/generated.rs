//! Whatever is answered when, every call below runs as often as a person said it may, and the outer call is answered once.

use super::world::{World, delegate, gone_on, kept};
use crate::approvals::deny;
use haft_core::EventKind;
use haft_tools_core::{Approval, CallOutcome, PendingCall, ResumptionError};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a person says to one call below.
#[derive(Debug, Clone, Copy)]
enum Said {
    Yes,
    No,
    Otherwise,
}

/// What happens in one round: which of the leaves are answered, how, and how often the outer call is gone on with at once.
#[derive(Debug, Clone)]
struct Round {
    answers: Vec<Option<Said>>,
    at_once: usize,
    ends: bool,
    restarts: bool,
}

fn said() -> impl Strategy<Value = Said> {
    prop_oneof![3 => Just(Said::Yes), 1 => Just(Said::No), 1 => Just(Said::Otherwise)]
}

fn round() -> impl Strategy<Value = Round> {
    (prop::collection::vec(prop::option::of(said()), 6), 1..4_usize, prop::bool::weighted(0.1), any::<bool>())
        .prop_map(|(answers, at_once, ends, restarts)| Round { answers, at_once, ends, restarts })
}

/// How many leaves each task has: one by itself, or those of a call of `delegate` of its own.
fn tasks() -> impl Strategy<Value = Vec<Option<usize>>> {
    prop::collection::vec(prop::option::of(0..3_usize), 1..4)
}

fn input(tasks: &[Option<usize>]) -> Value {
    let mut count = 0;
    let mut path = || {
        count += 1;
        json!(format!("file:{count:02}"))
    };
    let tasks: Vec<Value> = tasks
        .iter()
        .map(|task| match task {
            None => path(),
            Some(below) => json!({ "tasks": (0..*below).map(|_| path()).collect::<Vec<_>>() }),
        })
        .collect();
    json!({ "tasks": tasks })
}

async fn check(in_place: bool, tasks: Vec<Option<usize>>, rounds: Vec<Round>) {
    let mut world = World::new(in_place);
    let mut outcome = world.run(vec![delegate("c1", input(&tasks))]).await.remove(0);
    // By the file that each was to write: what it may have written.
    let mut expected: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut rounds = rounds.into_iter();
    let mut events = Vec::new();
    let mut was_denied = false;
    while let CallOutcome::Pending(outer) = &outcome {
        let outer = kept(outer);
        let last = Round { answers: vec![Some(Said::Yes); 16], at_once: 1, ends: false, restarts: false };
        let round = rounds.next().unwrap_or(last);
        let leaves: Vec<PendingCall> = outer.leaves().cloned().collect();
        let mut waiting = world.waiting().await;
        waiting.retain(|call| !call.waits_below());
        waiting.sort_by(|one, other| one.call.input["path"].as_str().cmp(&other.call.input["path"].as_str()));
        assert_eq!(leaves, waiting, "the leaves are what waits for a person, in the order of the tasks");
        if round.ends {
            outcome = world.resume(&outer, deny("enough")).await;
            was_denied = true;
            break;
        }
        for (leaf, said) in leaves.iter().zip(round.answers) {
            let Some(said) = said else { continue };
            let path = leaf.call.input["path"].as_str().unwrap().to_owned();
            let other = format!("{path}-other");
            let (approval, wrote) = match said {
                Said::Yes => (Approval::Approve, Some(path.clone())),
                Said::No => (deny("no"), None),
                Said::Otherwise => (Approval::Edit { input: json!({ "path": other }) }, Some(other)),
            };
            world.answer(leaf, approval).await;
            expected.insert(path, wrote);
        }
        if round.restarts {
            events.extend(world.events.all());
            world = World::new(in_place).over(&world);
        }
        let all = (0..round.at_once).map(|_| world.try_resume(&outer, Approval::Approve));
        let (went_on, refused): (Vec<_>, Vec<_>) =
            futures_util::future::join_all(all).await.into_iter().partition(Result::is_ok);
        assert!(refused.iter().all(|refused| matches!(refused, Err(ResumptionError::ResumedBefore { .. }))));
        let [Ok(next)] = <[_; 1]>::try_from(went_on).unwrap() else { unreachable!("it is ok") };
        outcome = next;
        let mut wrote: Vec<String> = expected.values().flatten().cloned().collect();
        wrote.sort();
        assert_eq!(world.wrote(), wrote, "what was answered is done, once");
    }
    events.extend(world.events.all());
    let reply = gone_on(&outcome);
    let mut wrote: Vec<String> = expected.values().flatten().cloned().collect();
    wrote.sort();
    assert_eq!(world.wrote(), wrote);
    assert!(world.waiting().await.is_empty());
    assert_eq!(world.given_up().len(), usize::from(was_denied), "{:?}", world.given_up());
    let of_outer = |event: &&haft_core::Event| {
        event.run.as_str() == "run-1" && event.call.as_ref().is_some_and(|call| call.as_str() == "c1")
    };
    let count = |wanted: fn(&EventKind) -> bool| {
        events.iter().filter(of_outer).filter(|event| wanted(&event.kind)).count()
    };
    assert_eq!(count(|kind| matches!(kind, EventKind::Started { .. })), 1);
    assert_eq!(count(|kind| matches!(kind, EventKind::Finished { .. })), 1);
    if !was_denied {
        let told: Vec<String> = expected
            .values()
            .map(|wrote| wrote.as_ref().map_or_else(|| "denied".to_owned(), |path| format!("wrote {path}")))
            .collect();
        let text = reply.output.to_text();
        let said: Vec<&str> =
            text.lines().filter(|line| !line.is_empty() && !line.starts_with('[')).collect();
        assert_eq!(said, told, "in the order of the tasks");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_answer_counts_once(
        in_place in any::<bool>(),
        tasks in tasks(),
        rounds in prop::collection::vec(round(), 0..5),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(in_place, tasks, rounds));
    }
}
