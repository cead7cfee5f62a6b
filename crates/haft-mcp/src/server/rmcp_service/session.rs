use crate::LogLevel;
use crate::server::toolbox::Toolset;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OnceCell;

use super::list_changes::ListChanges;

/// How many documents one session follows, and how long their addresses are at most.
const MOST_SUBSCRIBED: usize = 1000;
const MOST_URI: usize = 4096;

/// How many subscriptions may be about to begin at once.
const MOST_BEGINNING: usize = 16;

/// Is the place of a toolset, once it was asked for.
pub(super) type ToolsetCell = Arc<OnceCell<Arc<Toolset>>>;

/// Keeps what is known of one connection, or of one session over HTTP; of a single request little.
#[derive(Default)]
pub(super) struct Session {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    toolset: ToolsetCell,
    least: Option<LogLevel>,
    subscribed: BTreeSet<String>,
    beginning: VecDeque<ListChanges>,
}

impl Session {
    /// Where the session's toolset is kept.
    pub(super) fn toolset(&self) -> ToolsetCell {
        self.state().toolset.clone()
    }

    /// Has the toolset looked for anew: the client's roots are others.
    pub(super) fn forget_toolset(&self) {
        self.state().toolset = ToolsetCell::default();
    }

    /// Which lines of the log the client wants, if it said so.
    pub(super) fn least(&self) -> Option<LogLevel> {
        self.state().least
    }

    pub(super) fn set_least(&self, least: LogLevel) {
        self.state().least = Some(least);
    }

    /// Follows a document; false if it follows too many, or the address is too long.
    pub(super) fn subscribe(&self, uri: String) -> bool {
        let mut state = self.state();
        let fits = uri.len() <= MOST_URI && state.subscribed.len() < MOST_SUBSCRIBED;
        if fits {
            state.subscribed.insert(uri);
        }
        fits
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        self.state().subscribed.remove(uri);
    }

    pub(super) fn is_subscribed(&self, uri: &str) -> bool {
        self.state().subscribed.contains(uri)
    }

    /// Keeps what is looked out for from the moment at which a subscription is accepted until it begins.
    pub(super) fn accept(&self, changes: ListChanges) {
        let mut state = self.state();
        if state.beginning.len() == MOST_BEGINNING {
            state.beginning.pop_front();
        }
        state.beginning.push_back(changes);
    }

    pub(super) fn accepted(&self) -> Option<ListChanges> {
        self.state().beginning.pop_front()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}
