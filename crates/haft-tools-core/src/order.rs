//! Orders calls by what they touch: a call starts when every earlier call it conflicts with has ended.
//!
//! Calls enter an [`AccessOrder`] one after the other, in the order in which they would run if they ran one at a time,
//! and each waits for its [`Ticket`] to be granted. The order is shared by everything that works on the same things, so
//! the calls of other batches and of other agents are respected too.
//!
//! A call waits only for calls that entered before it, so waiting cannot go in a circle. A call made by a running call
//! is the exception: it entered late and runs in its caller's place. It waits for the calls that run and for those before
//! its caller, not for those that queue behind it, and it does not wait where that would close a circle.

mod frontier;
mod graph;

use crate::Accesses;
use frontier::Frontier;
use graph::{Graph, NodeId};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Orders the calls of one tree of runs; clones are the same order.
#[derive(Clone, Default)]
pub(crate) struct AccessOrder(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    graph: Graph,
    frontier: Frontier,
    /// Calls that may run, each with what it touches.
    running: BTreeMap<NodeId, Accesses>,
    /// Calls that wait for their turn, each with what it touches and whom to tell.
    waiting: BTreeMap<NodeId, Waiting>,
    /// Calls that entered late, in the place of a running one: by whom they were made.
    late: BTreeMap<NodeId, NodeId>,
}

struct Waiting {
    accesses: Accesses,
    tell: Option<oneshot::Sender<()>>,
}

/// Names a call's place in the order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(NodeId);

/// Holds a call's place in the order; dropping it lets those behind it go.
pub(crate) struct Ticket {
    order: AccessOrder,
    node: NodeId,
    granted: Option<oneshot::Receiver<()>>,
}

impl AccessOrder {
    /// Takes the next place for a call that touches these things; `None` for one that touches nothing.
    pub(crate) fn enter(&self, accesses: &Accesses) -> Option<Ticket> {
        if accesses.is_empty() {
            return None;
        }
        let mut state = self.lock();
        let State { graph, frontier, .. } = &mut *state;
        let node = graph.add();
        frontier.enter(graph, node, accesses);
        Some(self.queue(&mut state, node, accesses.clone()))
    }

    /// Takes a place beside another, for a call that is made there or for what a call turned out to touch.
    pub(crate) fn enter_beside(&self, place: Place, accesses: &Accesses) -> Option<Ticket> {
        if accesses.is_empty() {
            return None;
        }
        let mut state = self.lock();
        let node = state.graph.add();
        state.late.insert(node, place.0);
        let conflicting = state.conflicting_with(node, accesses);
        for blocker in conflicting {
            if !state.leads_to(blocker, node) {
                state.graph.block(node, blocker);
            }
        }
        Some(self.queue(&mut state, node, accesses.clone()))
    }

    fn queue(&self, state: &mut State, node: NodeId, accesses: Accesses) -> Ticket {
        state.waiting.insert(node, Waiting { accesses, tell: None });
        state.grant(node);
        let granted = state.waiting.get_mut(&node).map(|waiting| {
            let (tell, granted) = oneshot::channel();
            waiting.tell = Some(tell);
            granted
        });
        Ticket { order: self.clone(), node, granted }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that is called under the lock panics half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// Names the place.
    pub(crate) fn place(&self) -> Place {
        Place(self.node)
    }

    /// Tells whether the call has to wait, as far as it has not done so.
    pub(crate) fn waits(&self) -> bool {
        self.granted.is_some()
    }

    /// Waits until every earlier call that this one conflicts with has ended.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the place is kept until the ticket is dropped.
    pub(crate) async fn granted(&mut self) {
        if let Some(granted) = &mut self.granted {
            // The sender goes only with the whole order, and then there is nobody left to wait for.
            let _ = granted.await;
            self.granted = None;
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.order.lock().leave(self.node);
    }
}

impl State {
    /// Lets a call run if nothing blocks it; one that entered late can still stand in the way of one that queued.
    fn grant(&mut self, node: NodeId) {
        if self.graph.is_blocked(node) {
            return;
        }
        if !self.late.contains_key(&node)
            && let Some(Waiting { accesses, .. }) = self.waiting.get(&node)
        {
            let late: Vec<NodeId> = self
                .late
                .keys()
                .copied()
                .filter(|late| self.accesses(*late).is_some_and(|theirs| theirs.conflict_with(accesses)))
                // One whose place is behind this call waits for it, and not the other way round.
                .filter(|late| self.root(*late) < node)
                // One that already waits for this call, if only through others, starts after it anyway.
                .filter(|late| !self.leads_to(*late, node))
                .collect();
            for blocker in late {
                self.graph.block(node, blocker);
            }
            if self.graph.is_blocked(node) {
                return;
            }
        }
        if let Some(Waiting { accesses, tell }) = self.waiting.remove(&node) {
            self.running.insert(node, accesses);
            if let Some(tell) = tell {
                // Whoever waited may have given up; its ticket is then on its way back.
                let _ = tell.send(());
            }
        }
    }

    fn leave(&mut self, node: NodeId) {
        self.running.remove(&node);
        self.waiting.remove(&node);
        if let Some(caller) = self.late.remove(&node) {
            // Calls that it made and that go on without it keep its place.
            for made in self.late.values_mut().filter(|by| **by == node) {
                *made = caller;
            }
        }
        for freed in self.graph.remove(node) {
            self.grant(freed);
        }
        self.frontier.forget(&self.graph);
    }

    /// Lists what a late call has to wait for: what runs, what is before it in the order, and what entered late before it;
    /// not its callers, and not those that queue behind them.
    fn conflicting_with(&self, node: NodeId, accesses: &Accesses) -> Vec<NodeId> {
        let root = self.root(node);
        let queued = self.waiting.keys().filter(|other| **other < root || self.late.contains_key(other));
        self.running
            .keys()
            .chain(queued)
            .copied()
            .filter(|other| *other != node && !self.is_ancestor(*other, node))
            .filter(|other| self.accesses(*other).is_some_and(|theirs| theirs.conflict_with(accesses)))
            .collect()
    }

    /// Finds the call in whose place a late one runs; any other is its own.
    fn root(&self, node: NodeId) -> NodeId {
        std::iter::successors(Some(node), |node| self.late.get(node).copied()).last().unwrap_or(node)
    }

    fn accesses(&self, node: NodeId) -> Option<&Accesses> {
        self.running.get(&node).or_else(|| self.waiting.get(&node).map(|waiting| &waiting.accesses))
    }

    fn is_ancestor(&self, ancestor: NodeId, node: NodeId) -> bool {
        std::iter::successors(Some(node), |node| self.late.get(node).copied()).any(|node| node == ancestor)
    }

    /// Tells whether waiting for `from` would in the end be waiting for a caller of `node`.
    fn leads_to(&self, from: NodeId, node: NodeId) -> bool {
        let mut seen = HashSet::from([from]);
        let mut open = vec![from];
        while let Some(current) = open.pop() {
            if self.is_ancestor(current, node) {
                return true;
            }
            let made = self.late.iter().filter(|(_, caller)| **caller == current).map(|(made, _)| *made);
            for next in made.chain(self.graph.blockers(current)) {
                if self.graph.is_active(next) && seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
