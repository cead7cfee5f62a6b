#[cfg(feature = "server")]
use crate::CallingClient;
use crate::client::session::Watch;
use haft_tools_core::{CallContext, CallScope};
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

    /// Whoever watches the newest request that is watched, as long as all of them are of one run and one client.
    ///
    /// What is asked for one of several must not be answered by who is behind another.
    pub(super) fn newest_watch(&self) -> Option<Arc<dyn Watch>> {
        let table = self.table();
        let watched = || table.flights.iter().filter_map(|(id, flight)| Some((id, flight.watch.as_ref()?)));
        let (_, newest) = watched().max_by_key(|(id, _)| **id)?;
        watched().all(|(_, watch)| is_of_same(watch.call(), newest.call())).then(|| Arc::clone(newest))
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

fn is_of_same(one: Option<&CallContext>, other: Option<&CallContext>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            let (one, other) = (one.scope(), other.scope());
            one.run() == other.run() && has_same_client(one, other)
        }
        (None, None) => true,
        _ => false,
    }
}

/// Tells whether two calls are surely of one client: those of the newer era may share a run, and have no session to tell
/// them apart by.
#[cfg(feature = "server")]
fn has_same_client(one: &CallScope, other: &CallScope) -> bool {
    match (one.extension::<CallingClient>(), other.extension::<CallingClient>()) {
        (Some(one), Some(other)) => {
            let (session, principal) = (&one.caller().session, &one.caller().principal);
            let is_in_session = session.is_some() && *session == other.caller().session;
            Arc::ptr_eq(&one.0, &other.0) || is_in_session && *principal == other.caller().principal
        }
        (None, None) => true,
        _ => false,
    }
}

#[cfg(not(feature = "server"))]
fn has_same_client(_: &CallScope, _: &CallScope) -> bool {
    true
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

    fn within(scope: CallScope) -> Arc<dyn Watch> {
        Arc::new(Watched(Some(CallContext::detached("c1".parse().unwrap(), scope))))
    }

    fn of(run: &str) -> Arc<dyn Watch> {
        within(CallScope::new(run.parse().unwrap()))
    }

    #[cfg(feature = "server")]
    #[test]
    fn what_is_asked_for_one_of_several_clients_of_a_run_is_asked_of_nobody() {
        use crate::CallingClient;
        use crate::server::Paper;

        let call = |client: &Arc<Paper>| {
            let scope = CallScope::new("shared".parse().unwrap());
            within(scope.with_extension(CallingClient(Arc::clone(client) as _)))
        };
        let flights = Flights::default();
        let [one, other] = [(); 2].map(|()| Arc::new(Paper::modern("token")));
        flights.depart(1, None, Some(call(&one)), false);
        flights.depart(2, None, Some(call(&one)), false);
        assert!(flights.newest_watch().is_some());
        flights.depart(3, None, Some(call(&other)), false);
        assert!(flights.newest_watch().is_none());
        flights.arrive(3);
        assert!(flights.newest_watch().is_some());
        flights.depart(4, None, Some(of("shared")), false);
        assert!(flights.newest_watch().is_none());
    }

    #[cfg(feature = "server")]
    #[test]
    fn calls_of_one_session_are_of_one_client() {
        use crate::CallingClient;
        use crate::server::Paper;

        let flights = Flights::default();
        for id in 1..=2 {
            let scope = CallScope::new("shared".parse().unwrap());
            let client = CallingClient(Arc::new(Paper::legacy(|_| None)));
            flights.depart(id, None, Some(within(scope.with_extension(client))), false);
        }
        assert!(flights.newest_watch().is_some());
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
