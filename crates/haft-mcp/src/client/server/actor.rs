//! Keeps the connection to one server: makes it when it is wanted, reads the tools, and makes it anew when it has ended.

use super::budget::Budget;
use super::standing::{Connection, Failure};
use super::{Ear, ServerState, Shared, Wants};
use crate::client::listing::{Listing, Reading, Unjudged, read_tools};
use crate::client::session::{Counterpart, DialError, Fault, Request, Session};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

/// How long is waited for more when a server tells that its tools changed.
const SETTLING: Duration = Duration::from_millis(100);

/// How long the tools are not read again after they have been.
const SPACING: Duration = Duration::from_millis(250);

/// How much longer than the time for a start a dial may take: it bounds itself, and knows better why it was in vain.
const SLACK: Duration = Duration::from_secs(1);

/// How long is waited for a connection to end, and for a server to take note of what it need not do any more.
const ENDING: Duration = Duration::from_secs(10);

/// Runs until it is aborted.
pub(super) async fn run(shared: Arc<Shared>) {
    let limits = shared.config.limits;
    let wants = shared.wants.subscribe();
    // The ask that this was begun for is still to be answered.
    let mut actor = Actor {
        seen: Wants::default(),
        budget: Budget::new(limits.restarts, limits.restart_window),
        wants,
        shared,
    };
    let mut next = Next::Rest;
    loop {
        next = match next {
            Next::Rest => actor.rest().await,
            Next::Wait(delay) => actor.wait(delay).await,
            Next::Connect => actor.connect().await,
            Next::Serve(connection) => actor.serve(connection).await,
        };
    }
}

struct Actor {
    shared: Arc<Shared>,
    wants: watch::Receiver<Wants>,
    /// What of it has been done.
    seen: Wants,
    budget: Budget,
}

/// Says what the actor does next.
enum Next {
    /// It waits until a connection is asked for.
    Rest,
    /// It makes another connection after a while.
    Wait(Duration),
    Connect,
    Serve(Connection),
}

impl Actor {
    /// Waits until a connection is asked for that has not been.
    async fn rest(&mut self) -> Next {
        let (seen, free_at) = (self.seen, self.budget.free_at());
        let state = self.shared.standing.borrow().state;
        let (failed, wants_login) = (state == ServerState::Failed, state == ServerState::NeedsLogin);
        let shared = Arc::clone(&self.shared);
        let mut wants = self.wants.clone();
        let woken = until(&mut wants, |wants| {
            let is_asked = !failed && wants.asked > seen.asked;
            wants.stopped > seen.stopped || wants.open && (is_asked || wants.restarted > seen.restarted)
        });
        let wants = tokio::select! {
            biased;
            wants = woken => wants,
            () = sleep_until(free_at), if failed => {
                // What was asked for in vain meanwhile has been answered.
                self.seen.asked = self.wants.borrow().asked;
                self.stand(ServerState::Configured);
                return Next::Rest;
            }
            () = shared.dial.logged_in(), if wants_login => return Next::Connect,
        };
        if wants.stopped > seen.stopped {
            return self.obey(Interrupted::Stopped);
        }
        if wants.restarted > seen.restarted {
            self.budget.refill();
        }
        Next::Connect
    }

    /// Waits before the connection is made anew.
    async fn wait(&mut self, delay: Duration) -> Next {
        let until = Instant::now() + delay;
        self.shared.standing.send_modify(|standing| {
            standing.state = ServerState::Backoff;
            standing.retry_at = Some(until);
        });
        let next = tokio::select! {
            biased;
            interrupted = interrupted(&mut self.wants, self.seen) => self.obey(interrupted),
            () = sleep_until(until) => Next::Connect,
        };
        self.shared.standing.send_modify(|standing| standing.retry_at = None);
        next
    }

    async fn connect(&mut self) -> Next {
        let wants = *self.wants.borrow();
        (self.seen.asked, self.seen.restarted) = (wants.asked, wants.restarted);
        self.stand(ServerState::Starting);
        let shared = Arc::clone(&self.shared);
        let time = shared.config.limits.start_timeout + SLACK;
        let dialing = async {
            // The semaphore is never closed.
            let _turn = shared.starts.acquire().await.ok();
            let ear: Arc<Ear> = Arc::clone(&shared.ear);
            let dialing = timeout(time, shared.dial.dial(ear as Arc<dyn Counterpart>)).await;
            let late = |_| DialError::Silent {
                seconds: shared.config.limits.start_timeout.as_secs(),
                farewell: None,
            };
            dialing.unwrap_or_else(|elapsed| Err(late(elapsed)))
        };
        let dialed = tokio::select! {
            biased;
            interrupted = interrupted(&mut self.wants, self.seen) => return self.obey(interrupted),
            dialed = dialing => dialed,
        };
        // Told together with what came of it, which is what those who wait look at.
        self.shared.standing.send_if_modified(|standing| {
            standing.attempts += 1;
            false
        });
        match dialed {
            Ok(session) => Next::Serve(self.open(session)),
            Err(error) => {
                let failure = Failure::of_dialing(&error);
                if failure.login.is_none() {
                    return self.fail(failure);
                }
                self.shared.standing.send_modify(|standing| {
                    standing.state = ServerState::NeedsLogin;
                    standing.failure = Some(failure);
                });
                Next::Rest
            }
        }
    }

    /// Lets the connection be used.
    fn open(&self, session: Arc<dyn Session>) -> Connection {
        let generation = self.shared.standing.borrow().generation + 1;
        let connection = Connection { session, generation };
        self.shared.standing.send_modify(|standing| {
            standing.state = ServerState::Ready;
            standing.generation = generation;
            standing.failure = None;
            standing.unread = None;
            standing.connection = Some(connection.clone());
        });
        connection
    }

    /// Reads the tools as often as need be, until the connection has ended or is not wanted any more.
    async fn serve(&mut self, connection: Connection) -> Next {
        let shared = Arc::clone(&self.shared);
        let (mut due, mut last) = (Some(Instant::now()), None::<Instant>);
        let mut reading = None;
        let mut refreshed = *self.wants.borrow();
        let mut wants = self.wants.clone();
        let mut telling = FuturesUnordered::new();
        let next = loop {
            let wants_login = shared.standing.borrow().state == ServerState::NeedsLogin;
            let changed = async {
                tokio::select! {
                    () = shared.ear.tools_changed.notified() => SETTLING,
                    _ = until(&mut wants, |wants| wants.refreshed > refreshed.refreshed) => Duration::ZERO,
                }
            };
            tokio::select! {
                biased;
                () = connection.session.ended().cancelled() => break None,
                interrupted = interrupted(&mut self.wants, self.seen) => break Some(interrupted),
                settling = changed, if due.is_none() => {
                    refreshed = *shared.wants.borrow();
                    let spaced = last.map(|last| last + SPACING);
                    due = Some(spaced.into_iter().fold(Instant::now() + settling, Instant::max));
                }
                () = shared.dial.logged_in(), if due.is_none() && wants_login => due = Some(Instant::now()),
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() && reading.is_none() => {
                    (due, last) = (None, Some(Instant::now()));
                    reading = Some(Box::pin(read(Arc::clone(&shared), connection.clone())));
                }
                Some(read) = async { Some(reading.as_mut()?.await) }, if reading.is_some() => {
                    reading = None;
                    self.take_note(&connection, read);
                }
                () = shared.orphaned.notified() => {
                    let left = shared.take_orphans();
                    let ours = left.into_iter().filter(|orphan| orphan.generation == connection.generation);
                    telling.extend(ours.map(|orphan| cancel(connection.clone(), orphan.task)));
                }
                Some(()) = telling.next() => {}
            }
        };
        drop((reading, telling));
        self.shared.standing.send_modify(|standing| standing.connection = None);
        let farewell = next.is_none().then(|| connection.farewell());
        // What does not end by itself in time is ended when it is dropped.
        let _ = timeout(ENDING, connection.session.close()).await;
        match (next, farewell) {
            (Some(interrupted), _) => self.obey(interrupted),
            (None, farewell) => self.fail(Failure::of_ending(&farewell.unwrap_or_default())),
        }
    }

    /// Takes note of the tools, or of why they could not be read.
    fn take_note(&self, connection: &Connection, read: Result<(u64, Listing), Fault>) {
        let mut has_changed = false;
        self.shared.standing.send_modify(|standing| {
            standing.readings += 1;
            match read {
                Ok((told, listing)) => {
                    standing.told = told;
                    standing.state =
                        if listing.is_partial() { ServerState::Degraded } else { ServerState::Ready };
                    standing.unread = None;
                    has_changed =
                        standing.listing.as_ref().is_none_or(|(_, before)| !before.is_like(&listing));
                    standing.stale_at = listing.ttl.and_then(|ttl| Instant::now().checked_add(ttl));
                    standing.listing = Some((connection.generation, listing));
                }
                Err(fault) => {
                    let failure = Failure::of_reading(&fault);
                    let wants_login = failure.login.is_some();
                    standing.state =
                        if wants_login { ServerState::NeedsLogin } else { ServerState::Degraded };
                    standing.unread = Some(failure);
                }
            }
        });
        if has_changed {
            self.shared.changes.raise();
        }
    }

    /// Takes note that the server failed or ended, and decides when it is started again.
    fn fail(&mut self, failure: Failure) -> Next {
        let delay = self.budget.spend();
        self.shared.standing.send_modify(|standing| {
            standing.state = if delay.is_some() { ServerState::Backoff } else { ServerState::Failed };
            standing.unread = None;
            standing.failure = Some(failure);
        });
        delay.map_or(Next::Rest, Next::Wait)
    }

    fn obey(&mut self, interrupted: Interrupted) -> Next {
        match interrupted {
            Interrupted::Stopped => {
                let wants = *self.wants.borrow();
                // What was asked for since then still counts.
                (self.seen.stopped, self.seen.asked) = (wants.stopped, wants.voided);
                self.shared.standing.send_modify(|standing| {
                    standing.state = ServerState::Configured;
                    standing.stopped = wants.stopped;
                });
                Next::Rest
            }
            Interrupted::Restarted => {
                self.budget.refill();
                Next::Connect
            }
        }
    }

    fn stand(&self, state: ServerState) {
        self.shared.standing.send_modify(|standing| standing.state = state);
    }
}

#[derive(Clone, Copy)]
enum Interrupted {
    Stopped,
    Restarted,
}

/// Waits until what is going on is not wanted any more.
async fn interrupted(wants: &mut watch::Receiver<Wants>, seen: Wants) -> Interrupted {
    let is_over = |wants: &Wants| wants.stopped > seen.stopped || wants.restarted > seen.restarted;
    let wants = until(wants, is_over).await;
    if wants.stopped > seen.stopped { Interrupted::Stopped } else { Interrupted::Restarted }
}

async fn until(wants: &mut watch::Receiver<Wants>, is_so: impl FnMut(&Wants) -> bool) -> Wants {
    let wanted = wants.wait_for(is_so).await.map(|wants| *wants);
    match wanted {
        Ok(wants) => wants,
        // The sender is held by the actor.
        Err(_) => std::future::pending().await,
    }
}

/// Reads the tools; gives with them how often the server had told before that they changed.
async fn read(shared: Arc<Shared>, connection: Connection) -> Result<(u64, Listing), Fault> {
    let told = shared.ear.tools_told();
    let reading = match read_tools(&*connection.session, shared.config.limits.start_timeout).await {
        Ok(read) => read,
        Err(Fault::Refused { code: -32601, .. }) if !has_tools(&*connection.session) => Reading::default(),
        Err(fault) => return Err(fault),
    };
    let before = shared.standing.borrow().listing.clone().map(|(_, listing)| listing).unwrap_or_default();
    let name = shared.config.name.clone();
    let taking = tokio::task::spawn_blocking(move || Unjudged::of(&name, reading, &before));
    let unjudged = taking.await.map_err(|error| Fault::Broken(error.to_string()))?;
    let verdicts = shared.judge.judge(&shared.config, &unjudged.listed).await;
    Ok((told, unjudged.judged(verdicts)))
}

/// Tells whether a server says of itself that it has tools.
fn has_tools(session: &dyn Session) -> bool {
    session.server().capabilities.get("tools").is_some()
}

/// Tells a server that nobody waits for a task any more.
async fn cancel(connection: Connection, task: String) {
    let request = Request { method: "tasks/cancel", params: json!({ "taskId": task }) };
    // Whether it took note makes no difference here.
    let _ = timeout(ENDING, connection.request(request, None)).await;
}
