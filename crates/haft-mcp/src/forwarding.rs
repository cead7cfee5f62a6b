//! What MCP servers ask of clients, passed on to the client whose call they work on: for a host that uses servers and serves
//! clients at the same time.
//!
//! Questions to a person and progress need nothing of this: they are of the call, and so of its client.

mod client_roots;
mod client_sampler;
#[cfg(test)]
mod tests;

pub use client_roots::ClientRoots;
pub use client_sampler::ClientSampler;

use crate::{Ability, Ask, AskKind, CallingClient};
use haft_core::ToolError;
use haft_tools_core::CallContext;
use serde_json::Value;

/// What a question is called that is passed on; another one of the same call is told apart by a number.
const KEY: &str = "forwarded";

/// Finds the client whose call this is.
fn client(cx: &CallContext) -> Option<&CallingClient> {
    cx.scope().extension::<CallingClient>()
}

/// Asks the client, and gives what it answered.
async fn answer_of(client: &CallingClient, kind: AskKind) -> Result<Value, ToolError> {
    let answer = client.ask(vec![Ask::new(KEY, kind)]).await.remove(KEY);
    answer.unwrap_or(Ok(Value::Null)).map_err(|error| ToolError::failed(error.to_string()).with_source(error))
}

/// Says that a client lacks what it is asked for.
fn lacks(ability: Ability) -> ToolError {
    ToolError::failed(match ability {
        Ability::Sampling => {
            "the client whose call this is takes no turns of a model (it has no `sampling`); go on without it"
        }
        _ => "the client whose call this is tells of no directories (it has no `roots`); go on without it",
    })
}
