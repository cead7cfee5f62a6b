//! What the crate promises, from the outside.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod assembling;
mod dialects;
mod divergences;
mod recordings;
mod scripts;
mod sessions;
mod strategies;

use haft_core::Message;
use haft_model::{Model, ModelError, ModelRequest, ModelTurn, assemble};
use std::error::Error;
use std::fmt::Write as _;
use tokio_util::sync::CancellationToken;

/// Runs a future that waits for nothing but itself.
fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Asks for the next turn of a transcript.
async fn ask(model: &dyn Model, transcript: &[Message]) -> Result<ModelTurn, ModelError> {
    let request = ModelRequest::new(transcript.iter().cloned());
    assemble(model.stream(request, CancellationToken::new()).await?, |_| {}).await
}

/// Prints a turn, or everything an error says.
fn outline(turn: Result<ModelTurn, ModelError>) -> String {
    match turn {
        Ok(turn) => {
            let mut text = String::new();
            let Message::Assistant { parts } = &turn.message else {
                panic!("a turn is an assistant message")
            };
            for part in parts {
                writeln!(text, "{}", serde_json::to_string(part).unwrap()).unwrap();
            }
            writeln!(text, "{:?}, {} tokens in, {} out", turn.stop, turn.usage.input, turn.usage.output)
                .unwrap();
            text
        }
        Err(error) => chain(&error),
    }
}

fn chain(error: &dyn Error) -> String {
    let mut text = format!("{error}\n");
    let mut source = error.source();
    while let Some(error) = source {
        writeln!(text, "because: {error}").unwrap();
        source = error.source();
    }
    text
}
