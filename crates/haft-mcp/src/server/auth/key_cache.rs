use super::key_set::KeySet;
use futures_util::future::BoxFuture;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

/// After how long keys are fetched again, while those that are there are used.
const FRESH: Duration = Duration::from_hours(1);
/// After how long keys that cannot be fetched again count no more.
const STALE: Duration = Duration::from_hours(24);
/// How long is waited from one fetch to the next.
const BETWEEN: Duration = Duration::from_mins(1);

type Fetch = Box<dyn Fn() -> BoxFuture<'static, Result<KeySet, String>> + Send + Sync>;

/// Keeps the keys of an authorization server, and fetches them at most once in a minute, however many tokens name keys that
/// are not known.
pub(super) struct KeyCache {
    fetch: Fetch,
    shared: Arc<Shared>,
    /// The fetch that runs; it goes on when whoever asked for it is gone.
    running: Mutex<Option<AbortOnDropHandle<()>>>,
}

struct Shared {
    state: Mutex<State>,
    is_running: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    keys: Option<(Arc<KeySet>, Instant)>,
    begun: Option<Instant>,
    failure: Option<String>,
}

impl KeyCache {
    pub(super) fn new(fetch: Fetch) -> Self {
        let shared = Shared { state: Mutex::default(), is_running: watch::Sender::new(false) };
        Self { fetch, shared: Arc::new(shared), running: Mutex::default() }
    }

    /// Gives the keys; fetches them if these do not suffice.
    ///
    /// # Errors
    ///
    /// When there are none that count; the text says why.
    pub(super) async fn keys(&self, suffices: impl Fn(&KeySet) -> bool) -> Result<Arc<KeySet>, String> {
        if let Some((keys, age)) = self.shared.keys()
            && suffices(&keys)
        {
            if age > FRESH {
                self.begin();
            }
            return Ok(keys);
        }
        let mut is_running = self.shared.is_running.subscribe();
        if self.begin() {
            // The sender is here, so that it cannot be gone.
            is_running.wait_for(|running| !running).await.ok();
        }
        let failure = || self.shared.state().failure.clone().unwrap_or_else(|| "no keys were fetched".into());
        self.shared.keys().map(|(keys, _)| keys).ok_or_else(failure)
    }

    /// Begins to fetch, unless that was done within the last minute; tells whether there is something to wait for.
    fn begin(&self) -> bool {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if *self.shared.is_running.borrow() {
            return true;
        }
        let now = Instant::now();
        {
            let mut state = self.shared.state();
            if state.begun.is_some_and(|begun| now.duration_since(begun) < BETWEEN) {
                return false;
            }
            state.begun = Some(now);
        }
        self.shared.is_running.send_replace(true);
        let (fetched, ends) = ((self.fetch)(), Ends(Arc::clone(&self.shared)));
        *running = Some(AbortOnDropHandle::new(tokio::spawn(async move {
            let fetched = fetched.await;
            let mut state = ends.0.state();
            match fetched {
                Ok(keys) => (state.keys, state.failure) = (Some((Arc::new(keys), Instant::now())), None),
                Err(failure) => state.failure = Some(failure),
            }
        })));
        true
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The keys that count still, and how old they are.
    fn keys(&self) -> Option<(Arc<KeySet>, Duration)> {
        let (keys, fetched) = self.state().keys.clone()?;
        let age = fetched.elapsed();
        (age <= STALE).then_some((keys, age))
    }
}

/// Tells those who wait that a fetch is over, however it ended.
struct Ends(Arc<Shared>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.is_running.send_replace(false);
    }
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Counts its fetches, and answers those before the first that fails.
    fn cache(good: u32) -> (Arc<AtomicU32>, KeyCache) {
        let count = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&count);
        let fetch = move || -> BoxFuture<'static, _> {
            let number = counted.fetch_add(1, Ordering::SeqCst);
            Box::pin(async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                if number < good { Ok(KeySet::default()) } else { Err("it is down".to_owned()) }
            })
        };
        (count, KeyCache::new(Box::new(fetch)))
    }

    async fn check(cache: &KeyCache, suffices: bool, expected: Result<(), &str>) {
        let keys = cache.keys(|_| suffices).await;
        assert_eq!(keys.map(|_| ()).map_err(|why| why.clone()), expected.map_err(str::to_owned));
    }

    #[tokio::test(start_paused = true)]
    async fn keys_that_are_not_known_are_asked_for_once_in_a_minute() {
        let (count, cache) = cache(9);
        for _ in 0..1_000 {
            check(&cache, false, Ok(())).await;
        }
        assert_eq!(count.load(Ordering::SeqCst), 1);
        tokio::time::advance(BETWEEN).await;
        let all = futures_util::future::join_all((0..1_000).map(|_| check(&cache, false, Ok(()))));
        all.await;
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn keys_are_used_for_a_day_if_there_are_no_others() {
        let (count, cache) = cache(1);
        check(&cache, true, Ok(())).await;
        tokio::time::advance(FRESH).await;
        check(&cache, true, Ok(())).await;
        assert_eq!(count.load(Ordering::SeqCst), 1);
        tokio::time::advance(Duration::from_secs(1)).await;
        // They are fetched again, and nobody waits for that.
        let before = Instant::now();
        check(&cache, true, Ok(())).await;
        assert_eq!((count.load(Ordering::SeqCst), before.elapsed()), (2, Duration::ZERO));
        tokio::time::advance(STALE).await;
        check(&cache, true, Err("it is down")).await;
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_goes_away_does_not_end_the_fetch() {
        let (count, cache) = cache(9);
        let gone = tokio::time::timeout(Duration::from_millis(10), cache.keys(|_| true)).await;
        assert!(gone.is_err());
        check(&cache, true, Ok(())).await;
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}
