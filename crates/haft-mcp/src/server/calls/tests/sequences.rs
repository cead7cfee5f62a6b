use super::super::ParkedLimits;
use super::super::fixture::{Stage, Told, accept, through};
use haft_tools_core::MemoryPending;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Says who requests what: the tool is asked about itself, or it makes a call that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Request {
    principal: &'static str,
    tool: &'static str,
    path: &'static str,
}

/// Is one request that a client, or somebody who has seen its requests, may make.
#[derive(Debug, Clone)]
struct Step {
    instance: usize,
    request: Request,
    /// Which of the states that were given so far is echoed, if any.
    state: Option<usize>,
    /// Which byte of it is changed, if any.
    tampered: Option<usize>,
    answer: usize,
}

fn request() -> impl Strategy<Value = Request> {
    let of = (
        prop::sample::select(vec!["ada", "bob"]),
        prop::sample::select(vec!["write", "through"]),
        prop::sample::select(vec!["a", "b"]),
    );
    of.prop_map(|(principal, tool, path)| Request { principal, tool, path })
}

fn step() -> impl Strategy<Value = Step> {
    let state = prop_oneof![1 => Just(None), 4 => (0..12_usize).prop_map(Some)];
    let tampered = prop_oneof![4 => Just(None), 1 => (0..200_usize).prop_map(Some)];
    (0..2_usize, request(), state, tampered, 0..5_usize).prop_map(
        |(instance, request, state, tampered, answer)| Step { instance, request, state, tampered, answer },
    )
}

/// Answers every question that there could be.
fn answers(answer: usize) -> Value {
    let answer = match answer {
        0 | 1 => accept(json!({ "answer": "once" })),
        2 => accept(json!({ "answer": "deny" })),
        3 => json!(12345),
        _ => return json!({}),
    };
    json!({ "approval": answer, "approval-1": answer })
}

/// Changes one character of a text.
fn changed(text: &str, place: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let place = place % bytes.len();
    bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).unwrap()
}

/// Plays the steps against two instances; whatever runs was approved, exactly that, and once.
async fn play(steps: Vec<Step>) {
    let store = Arc::new(MemoryPending::new());
    let server = || Stage::instance([through()], ParkedLimits::default(), Arc::clone(&store) as _);
    let servers = [server(), server()];
    let runs = || servers.iter().map(|server| server.ran.all().len()).sum::<usize>();
    let mut given: Vec<(String, Request)> = Vec::new();
    // Whether each state may still let its call run.
    let mut rights: HashMap<String, bool> = HashMap::new();
    for Step { instance, request, state, tampered, answer } in steps {
        let server = &servers[instance];
        // Half of the time, the same request is made that the state was given for.
        let known = state.and_then(|state| given.get(state % given.len().max(1)).cloned());
        let request = match &known {
            Some((_, same)) if answer % 2 == 0 => *same,
            _ => request,
        };
        let echoed = known.as_ref().map(|(state, _)| match tampered {
            Some(place) => changed(state, place),
            None => state.clone(),
        });
        let Request { principal, tool, path } = request;
        let input = if tool == "write" { json!({ "path": path }) } else { json!({ "of": path }) };
        let before = runs();
        let told = server.round_of(principal, tool, input, (echoed.as_deref(), answers(answer))).await;
        let after = runs();
        if after > before {
            assert_eq!(after, before + 1);
            assert_eq!(server.ran.all().last(), Some(&json!({ "path": path })));
            let (echoed, about) = known.expect("a state was echoed");
            assert!(tampered.is_none() && about == request && answer < 2);
            let may_run = rights.insert(echoed, false);
            assert_eq!(may_run, Some(true), "an approval lets a call run once");
        }
        match told {
            Told::Asks(_, next) => {
                rights.insert(next.clone(), true);
                given.push((next, request));
            }
            Told::Reply(_) | Told::Fault(-32602) => {}
            other => panic!("{other:?}"),
        }
    }
    let ran: usize = rights.values().filter(|may_run| !**may_run).count();
    assert_eq!(ran, runs());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_sequence_of_requests_runs_a_call_more_than_once_for_each_approval(
        steps in prop::collection::vec(step(), 1..24)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(play(steps));
    }
}
