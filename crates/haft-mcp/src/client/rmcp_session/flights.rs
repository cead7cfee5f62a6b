use crate::client::session::Watch;
use haft_core::RunId;
use rmcp::model::RequestId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Knows which requests are under way, and who watches each.
#[derive(Default)]
pub(super) struct Flights {
    table: Mutex<Table>,
    strays: AtomicU64,
}

#[derive(Default)]
struct Table {
    flights: HashMap<i64, Flight>,
    /// The request of each progress token.
    tokens: HashMap<i64, i64>,
}

struct Flight {
    token: Option<i64>,
    watch: Option<Arc<dyn Watch>>,
    /// A server ends it by cancelling it.
    is_subscription: bool,
}

/// Rides with a request to where it is sent; it is not sent itself.
#[derive(Clone)]
pub(super) struct Watched(pub(super) Arc<dyn Watch>);

impl Flights {
    /// Takes note of a request that is about to be sent.
    pub(super) fn depart(
        &self,
        id: i64,
        token: Option<i64>,
        watch: Option<Arc<dyn Watch>>,
        is_subscription: bool,
    ) {
        let mut table = self.table();
        table.flights.insert(id, Flight { token, watch, is_subscription });
        if let Some(token) = token {
            table.tokens.insert(token, id);
        }
    }

    /// Takes note that a request is answered, cancelled or was never sent; tells whether it was under way.
    pub(super) fn arrive(&self, id: i64) -> bool {
        let mut table = self.table();
        let flight = table.flights.remove(&id);
        if let Some(token) = flight.as_ref().and_then(|flight| flight.token) {
            table.tokens.remove(&token);
        }
        flight.is_some()
    }

    /// Takes note that a server has cancelled something: what it was asked, if that is a subscription. Anything else that it
    /// cancels is its own, and may have the same id.
    pub(super) fn cancelled_by_server(&self, id: i64) {
        if self.table().flights.get(&id).is_some_and(|flight| flight.is_subscription) {
            self.arrive(id);
        }
    }

    /// Whoever watches the request of a progress token.
    pub(super) fn watch_of_token(&self, token: i64) -> Option<Arc<dyn Watch>> {
        let table = self.table();
        table.flights.get(table.tokens.get(&token)?)?.watch.clone()
    }

    /// Whoever watches a request.
    pub(super) fn watch_of(&self, id: &RequestId) -> Option<Arc<dyn Watch>> {
        self.table().flights.get(&number(id)?)?.watch.clone()
    }

    /// Whoever watches the newest request that is watched, as long as all of them are of one run.
    ///
    /// What is asked for one of several runs must not be answered by who is behind another.
    pub(super) fn newest_watch(&self) -> Option<Arc<dyn Watch>> {
        let table = self.table();
        let watched = || table.flights.iter().filter_map(|(id, flight)| Some((id, flight.watch.as_ref()?)));
        let (_, newest) = watched().max_by_key(|(id, _)| **id)?;
        let run = run_of(newest);
        watched().all(|(_, watch)| run_of(watch) == run).then(|| Arc::clone(newest))
    }

    /// Forgets all requests: their answers are late from now on.
    pub(super) fn clear(&self) {
        *self.table() = Table::default();
    }

    /// Counts an answer that nobody waits for; gives how many there were with it.
    pub(super) fn stray(&self) -> u64 {
        self.strays.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How many requests are under way, and how many answers came that nobody waited for.
    #[cfg(test)]
    pub(super) fn counts(&self) -> (usize, u64) {
        (self.table().flights.len(), self.strays.load(Ordering::Relaxed))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run_of(watch: &Arc<dyn Watch>) -> Option<&RunId> {
    watch.call().map(|call| call.scope().run())
}

/// The number that an id is, or is written as: some servers answer with a text.
pub(super) fn number(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Number(number) => Some(*number),
        RequestId::String(text) => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::Flights;
    use crate::client::session::Watch;
    use haft_tools_core::{CallContext, CallScope};
    use std::sync::Arc;

    struct Watched(Option<CallContext>);

    impl Watch for Watched {
        fn progress(&self, _: f64, _: Option<f64>, _: Option<&str>) {}

        fn call(&self) -> Option<&CallContext> {
            self.0.as_ref()
        }
    }

    fn of(run: &str) -> Arc<dyn Watch> {
        let call = CallContext::detached("c1".parse().unwrap(), CallScope::new(run.parse().unwrap()));
        Arc::new(Watched(Some(call)))
    }

    #[test]
    fn what_is_asked_for_one_of_several_runs_is_asked_of_nobody() {
        let flights = Flights::default();
        assert!(flights.newest_watch().is_none());
        flights.depart(1, None, Some(of("alice")), false);
        flights.depart(2, None, None, false);
        flights.depart(3, None, Some(of("alice")), false);
        assert!(flights.newest_watch().is_some());
        flights.depart(4, None, Some(of("bob")), false);
        assert!(flights.newest_watch().is_none());
        flights.arrive(4);
        assert!(flights.newest_watch().is_some());
        flights.depart(5, None, Some(Arc::new(Watched(None))), false);
        assert!(flights.newest_watch().is_none());
    }
}
