//! Asks for turns, whoever the model is.

use haft_model::{Delta, Model, ModelError, ModelRequest, ModelTurn, assemble};
use haft_providers::Patience;
use std::error::Error as _;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub(crate) fn quick() -> Patience {
    Patience::default().retries(2).delay(Duration::from_millis(1)).idle_timeout(Duration::from_secs(20))
}

/// Asks for a turn, and gives it with the deltas that were seen.
pub(crate) async fn take_turn(
    model: &dyn Model,
    request: ModelRequest,
) -> (Vec<Delta>, Result<ModelTurn, ModelError>) {
    let mut seen = Vec::new();
    let turn = match model.stream(request, CancellationToken::new()).await {
        Ok(stream) => assemble(stream, |delta| seen.push(delta.clone())).await,
        Err(error) => Err(error),
    };
    (seen, turn)
}

/// Writes an error with its causes.
pub(crate) fn told(error: &ModelError) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(this) = cause {
        told = format!("{told}: {this}");
        cause = this.source();
    }
    told
}
