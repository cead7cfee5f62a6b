//! Asks again while that can help.

use crate::Patience;
use crate::complaint::Fault;
use haft_model::{ModelError, RetryObserver};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Begins an answer, as often as the patience allows and while what went wrong may pass by itself.
pub(crate) async fn insist<T, F>(
    patience: &Patience,
    retries: &RetryObserver,
    cancel: &CancellationToken,
    attempt: impl Fn() -> F,
) -> Result<T, ModelError>
where
    F: Future<Output = Result<T, Fault>>,
{
    let mut wait = patience.delay;
    let mut left = patience.retries;
    loop {
        let fault = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            tried = attempt() => match tried {
                Ok(answer) => return Ok(answer),
                Err(fault) => fault,
            },
        };
        let Fault { error, again: true } = fault else { return Err(fault.error) };
        let pause = error.retry_after().unwrap_or_else(|| jittered(wait));
        if left == 0 || pause > patience.longest_delay {
            return Err(error);
        }
        tracing::debug!(%error, ?pause, left, "a model is asked again");
        retries.asked_again(&error, pause);
        left -= 1;
        wait = (wait * 2).min(Duration::from_secs(8).max(patience.delay));
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ModelError::Cancelled),
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Takes up to a quarter off, so that those who were refused together do not come again together.
fn jittered(wait: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(0);
    wait.mul_f64(1.0 - 0.25 * f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_shortened_by_a_quarter_at_most() {
        let wait = Duration::from_secs(4);
        for _ in 0..1000 {
            let shorter = jittered(wait);
            assert!(shorter <= wait && shorter >= Duration::from_secs(3), "{shorter:?}");
        }
    }
}
