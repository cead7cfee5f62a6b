use super::config::Rate;
use crate::server::caller::Principal;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How many callers are remembered at once.
const CALLERS: usize = 10_000;

/// Knows how often each caller asked: a bucket for each, out of which every request takes a token, and which fills again.
#[derive(Debug)]
pub(super) struct Rates {
    usual: Rate,
    named: HashMap<Principal, Rate>,
    buckets: Mutex<HashMap<Principal, Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    filled: Instant,
    served: usize,
}

/// Is the place of a request among those of its caller that are being served; dropping it gives the place back.
#[derive(Debug)]
pub(super) struct Place {
    rates: Arc<Rates>,
    principal: Principal,
}

impl Rates {
    pub(super) fn new(usual: Rate, named: HashMap<Principal, Rate>) -> Self {
        Self { usual, named, buckets: Mutex::default() }
    }

    /// Takes a place for a request, or says after how long there will be one.
    pub(super) fn take(self: &Arc<Self>, principal: &Principal) -> Result<Place, Duration> {
        let rate = *self.named.get(principal).unwrap_or(&self.usual);
        let now = Instant::now();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= CALLERS && !buckets.contains_key(principal) {
            self.forget(&mut buckets, now);
        }
        let bucket = buckets.entry(principal.clone()).or_insert_with(|| Bucket {
            tokens: rate.burst,
            filled: now,
            served: 0,
        });
        bucket.fill(&rate, now);
        if bucket.tokens < 1.0 {
            let missing = (1.0 - bucket.tokens) / rate.per_second.max(1e-6);
            return Err(Duration::try_from_secs_f64(missing).unwrap_or(Duration::MAX));
        }
        if bucket.served >= rate.at_once {
            return Err(Duration::from_secs(1));
        }
        bucket.tokens -= 1.0;
        bucket.served += 1;
        Ok(Place { rates: Arc::clone(self), principal: principal.clone() })
    }

    /// Forgets those of whom nothing has to be remembered, and if there are none, half of those that are not served.
    fn forget(&self, buckets: &mut HashMap<Principal, Bucket>, now: Instant) {
        buckets.retain(|principal, bucket| {
            let rate = self.named.get(principal).unwrap_or(&self.usual);
            bucket.fill(rate, now);
            bucket.served > 0 || bucket.tokens < rate.burst
        });
        if buckets.len() >= CALLERS {
            let mut keep = false;
            buckets.retain(|_, bucket| {
                keep = !keep;
                keep || bucket.served > 0
            });
        }
    }
}

impl Bucket {
    fn fill(&mut self, rate: &Rate, now: Instant) {
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.tokens = (self.tokens + passed * rate.per_second).min(rate.burst);
        self.filled = now;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut buckets = self.rates.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(&self.principal) {
            bucket.served = bucket.served.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_caller_has_a_rate_of_their_own() {
        let named = HashMap::from([(Principal::new("slow"), Rate::new(1.0, 1.0))]);
        let rates = Arc::new(Rates::new(Rate::new(10.0, 2.0), named));
        let (usual, slow) = (Principal::new("usual"), Principal::new("slow"));
        for _ in 0..2 {
            rates.take(&usual).unwrap();
        }
        assert_eq!(rates.take(&usual).unwrap_err(), Duration::from_millis(100));
        rates.take(&slow).unwrap();
        assert_eq!(rates.take(&slow).unwrap_err(), Duration::from_secs(1));
        tokio::time::advance(Duration::from_millis(100)).await;
        rates.take(&usual).unwrap();
        rates.take(&usual).unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_is_given_back() {
        let rates = Arc::new(Rates::new(Rate::new(100.0, 100.0).at_once(1), HashMap::new()));
        let caller = Principal::new("a");
        let place = rates.take(&caller).unwrap();
        assert_eq!(rates.take(&caller).unwrap_err(), Duration::from_secs(1));
        drop(place);
        rates.take(&caller).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn callers_do_not_add_up_without_end() {
        let rates = Arc::new(Rates::new(Rate::default(), HashMap::new()));
        let first = rates.take(&Principal::new("first")).unwrap();
        for caller in 0..3 * CALLERS {
            rates.take(&Principal::new(caller.to_string())).unwrap();
        }
        assert!(rates.buckets.lock().unwrap().len() <= CALLERS);
        assert!(rates.buckets.lock().unwrap().contains_key(&first.principal));
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_of_nothing_lets_nobody_in() {
        let rates = Arc::new(Rates::new(Rate::new(0.0, 0.0), HashMap::new()));
        rates.take(&Principal::new("a")).unwrap_err();
    }
}
