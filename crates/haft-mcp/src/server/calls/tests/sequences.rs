use super::super::fixture::{Stage, Told, accept, approval};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Is one request that a client, or somebody who has seen its requests, may make.
#[derive(Debug, Clone)]
struct Step {
    principal: usize,
    input: usize,
    /// Which of the states that were given so far is echoed, if any.
    state: Option<usize>,
    /// Which byte of it is changed, if any.
    tampered: Option<usize>,
    answer: usize,
}

const PRINCIPALS: [&str; 2] = ["ada", "bob"];
const INPUTS: [&str; 2] = ["a", "b"];

fn step() -> impl Strategy<Value = Step> {
    let state = prop_oneof![1 => Just(None), 4 => (0..12_usize).prop_map(Some)];
    let tampered = prop_oneof![4 => Just(None), 1 => (0..200_usize).prop_map(Some)];
    (0..2_usize, 0..2_usize, state, tampered, 0..5_usize).prop_map(
        |(principal, input, state, tampered, answer)| Step { principal, input, state, tampered, answer },
    )
}

fn answers(answer: usize) -> Value {
    match answer {
        0 | 1 => approval("once"),
        2 => json!({ "approval": accept(json!({ "answer": "deny" })) }),
        3 => json!({ "approval": 12345 }),
        _ => json!({}),
    }
}

/// Changes one character of a text.
fn changed(text: &str, place: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let place = place % bytes.len();
    bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).unwrap()
}

/// Plays the steps against two instances by turns, and tells for each run whether a person approved exactly that, once.
async fn play(steps: Vec<Step>) {
    let store = std::sync::Arc::new(haft_tools_core::MemoryPending::new());
    let stages = [(); 2].map(|()| {
        Stage::instance([], super::super::ParkedLimits::default(), std::sync::Arc::clone(&store) as _)
    });
    let mut given: Vec<(String, usize, usize)> = Vec::new();
    // How often each state may still let its call run.
    let mut rights: HashMap<String, u32> = HashMap::new();
    for (turn, Step { principal, input, state, tampered, answer }) in steps.into_iter().enumerate() {
        let server = &stages[turn % 2];
        let known = state.and_then(|state| given.get(state % given.len().max(1)).cloned());
        let echoed = known.as_ref().map(|(state, ..)| match tampered {
            Some(place) => changed(state, place),
            None => state.clone(),
        });
        let before: usize = stages.iter().map(|server| server.ran.all().len()).sum();
        let told = server
            .round_of(
                PRINCIPALS[principal],
                "write",
                json!({ "path": INPUTS[input] }),
                (echoed.as_deref(), answers(answer)),
            )
            .await;
        let after: usize = stages.iter().map(|server| server.ran.all().len()).sum();
        if after > before {
            assert_eq!(after, before + 1);
            assert_eq!(server.ran.all().last(), Some(&json!({ "path": INPUTS[input] })));
            let (state, by, about) = known.expect("a state was echoed");
            assert!(tampered.is_none() && (by, about) == (principal, input) && answer < 2);
            let right = rights.get_mut(&state).expect("it was given");
            assert_eq!(*right, 1, "an approval lets a call run once");
            *right = 0;
        }
        match told {
            Told::Asks(_, state) => {
                rights.insert(state.clone(), 1);
                given.push((state, principal, input));
            }
            Told::Reply(_) | Told::Fault(-32602) => {}
            other => panic!("{other:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sequence_of_requests_runs_a_call_more_than_once_for_each_approval(
        steps in prop::collection::vec(step(), 1..24)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(play(steps));
    }
}
