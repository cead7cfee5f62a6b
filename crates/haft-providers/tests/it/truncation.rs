//! An answer that is not whole is never taken for a turn.

use crate::server::{Answer, Server};
use crate::wire::{ALL, Wire, ask, quick, take_turn};
use haft_core::Message;
use haft_model::{ModelError, ModelRequest};

const WHOLE: [(Wire, &str); 10] = [
    (Wire::Anthropic, "tools"),
    (Wire::Anthropic, "text"),
    (Wire::Anthropic, "odd"),
    (Wire::Anthropic, "refusal"),
    (Wire::Chat, "tools"),
    (Wire::Chat, "reasoning"),
    (Wire::Chat, "deepseek"),
    (Wire::Chat, "refusal"),
    (Wire::Responses, "tools"),
    (Wire::Responses, "cut"),
];

/// The places behind each event but the last.
fn boundaries(transcript: &str) -> Vec<usize> {
    let all: Vec<usize> = transcript.match_indices("\n\n").map(|(at, _)| at + 2).collect();
    all[..all.len() - 1].to_vec()
}

async fn check(wire: Wire, name: &str, answer: Answer) {
    let server = Server::start([answer]).await;
    let model = wire.patient_model(server.address, quick().retries(0));
    let (_, turn) = take_turn(&*model, ModelRequest::new([Message::user("Go on.")])).await;
    match turn {
        Err(error) => assert!(error.can_retry(), "{wire:?} {name}: {error}"),
        Ok(turn) => panic!("{wire:?} {name}: {turn:?}"),
    }
}

#[tokio::test]
async fn an_answer_that_ends_behind_any_event_but_its_last_is_no_turn() {
    for (wire, name) in WHOLE {
        let transcript = wire.transcript(name);
        for end in boundaries(&transcript) {
            check(wire, name, Answer::events(&transcript[..end])).await;
            check(wire, name, Answer::events(&transcript[..end]).then_broken()).await;
        }
        check(wire, name, Answer::events("")).await;
    }
}

#[tokio::test]
async fn an_answer_that_ends_within_an_event_is_no_turn() {
    for wire in ALL {
        let transcript = wire.transcript("tools");
        let last = transcript.trim_end().len();
        for end in (1..last).step_by(61).chain(last - 30..last) {
            check(wire, "tools", Answer::events(&transcript.as_bytes()[..end])).await;
        }
    }
}

#[tokio::test]
async fn an_answer_that_lacks_any_one_event_is_no_other_turn() {
    // Whatever event is lost, the answer is refused, or loses nothing but what that event said.
    for wire in ALL {
        let transcript = wire.transcript("tools");
        let whole = ask(&Server::start([Answer::events(&transcript)]).await, wire).await.1.unwrap();
        let events: Vec<&str> = transcript.split_inclusive("\n\n").collect();
        for left_out in 0..events.len() {
            let rest: String = events
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != left_out)
                .map(|(_, event)| *event)
                .collect();
            let server = Server::start([Answer::events(rest)]).await;
            let model = wire.patient_model(server.address, quick().retries(0));
            let (_, turn) = take_turn(&*model, ModelRequest::new([Message::user("Go on.")])).await;
            match turn {
                Ok(turn) => assert!(turn.message.tool_calls().count() <= whole.message.tool_calls().count()),
                Err(error) => assert!(
                    matches!(error, ModelError::Truncated | ModelError::Protocol(_)),
                    "{wire:?} without event {left_out}: {error}"
                ),
            }
        }
    }
}
