use crate::{Error, retry_after};
use http::{Method, Response, StatusCode};
use std::time::Duration;
use tokio::time::Instant;

/// Says how often a request is made again, and how long is waited before that.
///
/// A request of an idempotent method (RFC 9110, section 9.2.2) is made again if there was no connection, if it broke or
/// nothing came in time before the head of the answer was there, and if the answer is 408, 429, 502, 503 or 504. Any other
/// is made again only where the answer says that it was not acted on and when to come back: 429 (RFC 6585, section 4) or 503
/// with `Retry-After`. What a policy refuses, a certificate that is not trusted, and a body that breaks off are final.
///
/// The wait doubles each time, and between a half of it and all of it is really waited, so that those who failed together do
/// not come back together. If the answer names a time, that is waited, and at most the shortest wait besides; never less. If
/// it is longer than is waited at all, the answer is handed out as it is.
///
/// ```
/// use haft_http::{Exchange, Retries};
/// use std::time::Duration;
///
/// let retries = Retries::default().most(5).longest_delay(Duration::from_secs(10));
/// let exchange = Exchange::default().retries(retries);
/// # let _ = exchange;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Retries {
    most: u8,
    delay: Duration,
    longest_delay: Duration,
    within: Duration,
}

/// Two, after some 250 and 500 ms.
impl Default for Retries {
    fn default() -> Self {
        Self {
            most: 2,
            delay: Duration::from_millis(250),
            longest_delay: Duration::from_secs(30),
            within: Duration::from_mins(1),
        }
    }
}

impl Retries {
    /// Makes no request again.
    pub fn never() -> Self {
        Self::default().most(0)
    }

    /// How often a request is made again at most, its redirects included; 2 by default.
    pub fn most(mut self, times: u8) -> Self {
        self.most = times;
        self
    }

    /// How long is waited before the first time, at most; 250 ms by default.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The longest wait, whatever an answer says; 30 s by default.
    pub fn longest_delay(mut self, delay: Duration) -> Self {
        self.longest_delay = delay;
        self
    }

    /// How long after the first attempt another may still begin; 1 minute by default.
    pub fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// How long to wait before an attempt after so many that failed, or none if there is no other; `chance` is from 0 to 1.
    fn wait(self, failed: u8, method: &Method, failure: Failure, chance: f64) -> Option<Duration> {
        if failed > self.most || !failure.may_pass(method) {
            return None;
        }
        let said = match failure {
            Failure::Broken => None,
            Failure::Status(_, said) => said,
        };
        match said {
            Some(said) if said > self.longest_delay => None,
            Some(said) => Some(said.saturating_add(part(self.delay, chance)).min(self.longest_delay)),
            None => {
                let times = 1_u32.checked_shl(u32::from(failed) - 1).unwrap_or(u32::MAX);
                let longest = self.delay.saturating_mul(times).min(self.longest_delay);
                Some(part(longest, f64::midpoint(1.0, chance)))
            }
        }
    }
}

/// Gives a part of a duration, from none of it (0) to all of it (1).
fn part(of: Duration, share: f64) -> Duration {
    // The longest durations are beyond what can be told with a fraction.
    Duration::try_from_secs_f64(of.as_secs_f64() * share).map_or(of, |part| part.min(of))
}

/// Is how an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// There is no answer.
    Broken,
    /// The answer has this status, and says to wait so long.
    Status(StatusCode, Option<Duration>),
}

impl Failure {
    fn of<B>(outcome: &Result<Response<B>, Error>) -> Option<Self> {
        match outcome {
            Ok(answer) => Some(Self::Status(answer.status(), retry_after(answer.headers()))),
            Err(Error::Connect { .. } | Error::Silent { .. } | Error::Interrupted { .. }) => {
                Some(Self::Broken)
            }
            Err(_) => None,
        }
    }

    /// Tells whether the same request may fare better, and does no harm if the last one was acted on.
    fn may_pass(self, method: &Method) -> bool {
        let (may_pass, was_not_acted_on) = match self {
            Self::Broken => (true, false),
            Self::Status(StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, said) => {
                (true, said.is_some())
            }
            Self::Status(status, _) => {
                let passing =
                    [StatusCode::REQUEST_TIMEOUT, StatusCode::BAD_GATEWAY, StatusCode::GATEWAY_TIMEOUT];
                (passing.contains(&status), false)
            }
        };
        may_pass && (method.is_idempotent() || was_not_acted_on)
    }
}

/// Counts the attempts of one exchange.
#[derive(Debug)]
pub(crate) struct Retrying {
    retries: Retries,
    failed: u8,
    began: Instant,
}

impl Retrying {
    pub(crate) fn begin(retries: Retries) -> Self {
        Self { retries, failed: 0, began: Instant::now() }
    }

    /// Tells whether there may be another attempt at all, so that the request has to be kept.
    pub(crate) fn has_more(&self) -> bool {
        self.failed < self.retries.most
    }

    /// How long to wait before the next attempt, if there is one that begins while there is time left.
    pub(crate) fn wait<B>(
        &mut self,
        method: &Method,
        outcome: &Result<Response<B>, Error>,
        left: Duration,
    ) -> Option<Duration> {
        let failed = self.failed.saturating_add(1);
        let wait = self.retries.wait(failed, method, Failure::of(outcome)?, fastrand::f64())?;
        let is_in_time = wait < left && self.began.elapsed().saturating_add(wait) <= self.retries.within;
        self.failed = failed;
        is_in_time.then_some(wait)
    }
}

#[cfg(test)]
mod tests;
