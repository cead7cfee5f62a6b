use super::graph::{Graph, NodeId};
use crate::access::Extent;
use crate::{Access, Accesses};
use std::collections::BTreeMap;
use std::ops::Bound;

/// With fewer spots than this, looking for dead ones is not worth it.
const FEW_SPOTS: usize = 64;

/// Knows, for every place that is touched, the last calls that a new one has to wait for.
///
/// Only the last ones are kept: who waits for them has waited for all before them. Calls that merely look are gathered
/// and met as one, so that the cost of entering does not grow with the number of calls that are there already.
#[derive(Default)]
pub(super) struct Frontier {
    /// By scheme and path, `scheme:path`; the empty key stands above all schemes, for what cannot be told.
    spots: BTreeMap<Box<str>, Spot>,
    /// How many spots were kept when the dead ones were looked for last.
    kept: usize,
}

#[derive(Default)]
struct Spot {
    /// Who touches exactly this path.
    exact: Users,
    /// Who touches the path and everything below it.
    tree: Users,
    /// Who changes something below, once somebody has looked at the whole tree.
    changed_below: Option<Gathering>,
}

#[derive(Default)]
struct Users {
    /// The last that changed it.
    last: Option<NodeId>,
    /// Those that looked at it since.
    readers: Gathering,
}

/// Holds calls that can be waited for as one.
#[derive(Default)]
struct Gathering {
    joined: Option<NodeId>,
    since: Vec<NodeId>,
}

impl Gathering {
    fn push(&mut self, node: NodeId) {
        self.since.push(node);
    }

    /// Gives one node that ends when all that are gathered have ended.
    fn as_one(&mut self, graph: &mut Graph) -> Option<NodeId> {
        if !self.since.is_empty() {
            self.since.extend(self.joined.take());
            self.joined = graph.join(&self.since);
            self.since.clear();
        }
        self.joined
    }

    fn is_over(&self, graph: &Graph) -> bool {
        self.joined.iter().chain(&self.since).all(|node| !graph.is_active(*node))
    }
}

impl Users {
    /// Has the node wait for everyone who must not overlap with a call that looks, or with one that changes.
    fn hold(&mut self, graph: &mut Graph, node: NodeId, shared: bool) {
        if let Some(last) = self.last {
            graph.block(node, last);
        }
        if !shared && let Some(readers) = self.readers.as_one(graph) {
            graph.block(node, readers);
        }
    }

    fn add(&mut self, node: NodeId, shared: bool) {
        if shared {
            self.readers.push(node);
        } else {
            *self = Self { last: Some(node), readers: Gathering::default() };
        }
    }

    fn is_over(&self, graph: &Graph) -> bool {
        self.last.is_none_or(|last| !graph.is_active(last)) && self.readers.is_over(graph)
    }
}

impl Frontier {
    /// Has a new call wait for those before it, and those after it wait for it.
    pub(super) fn enter(&mut self, graph: &mut Graph, node: NodeId, accesses: &Accesses) {
        // All waits are found before the call is entered anywhere, so that no access of it meets another of its own.
        for access in accesses {
            self.hold(graph, node, access);
        }
        for access in accesses {
            self.add(node, access);
        }
    }

    fn hold(&mut self, graph: &mut Graph, node: NodeId, access: &Access) {
        let shared = access.is_shared();
        let (key, subtree) = key_of(access);
        for above in ancestors(&key) {
            if let Some(spot) = self.spots.get_mut(above) {
                spot.tree.hold(graph, node, shared);
            }
        }
        if let Some(spot) = self.spots.get_mut(&*key) {
            spot.exact.hold(graph, node, shared);
            spot.tree.hold(graph, node, shared);
        }
        if !subtree {
            return;
        }
        if shared {
            self.hold_for_changes_below(graph, node, &key);
        } else {
            for (_, spot) in self.below_mut(&key) {
                spot.exact.hold(graph, node, shared);
                spot.tree.hold(graph, node, shared);
            }
        }
    }

    fn hold_for_changes_below(&mut self, graph: &mut Graph, node: NodeId, key: &str) {
        let known = self.spots.get(key).is_some_and(|spot| spot.changed_below.is_some());
        if !known {
            let since = self
                .below_mut(key)
                .flat_map(|(_, spot)| [spot.exact.last, spot.tree.last])
                .flatten()
                .collect();
            let spot = self.spots.entry(key.into()).or_default();
            spot.changed_below = Some(Gathering { joined: None, since });
        }
        let changed = self.spots.get_mut(key).and_then(|spot| spot.changed_below.as_mut());
        if let Some(changes) = changed.and_then(|changed| changed.as_one(graph)) {
            graph.block(node, changes);
        }
    }

    fn add(&mut self, node: NodeId, access: &Access) {
        let shared = access.is_shared();
        let (key, subtree) = key_of(access);
        if !shared {
            for above in ancestors(&key) {
                if let Some(changed) = self.spots.get_mut(above).and_then(|spot| spot.changed_below.as_mut())
                {
                    changed.push(node);
                }
            }
            if subtree {
                // Whoever comes to a place below waits for this call, and so for everyone that is forgotten here.
                let below: Vec<Box<str>> = self.below_mut(&key).map(|(key, _)| key.clone()).collect();
                for key in below {
                    self.spots.remove(&key);
                }
            }
        }
        let spot = self.spots.entry(key).or_default();
        if subtree {
            if !shared {
                *spot = Spot::default();
            }
            spot.tree.add(node, shared);
        } else {
            spot.exact.add(node, shared);
        }
    }

    /// Iterates over the spots below a key, without that of the key itself.
    fn below_mut(&mut self, key: &str) -> impl Iterator<Item = (&Box<str>, &mut Spot)> {
        let prefix = if key.is_empty() || key.ends_with(':') { key.to_owned() } else { format!("{key}/") };
        let (from, itself) = (prefix.clone(), key.to_owned());
        self.spots
            .range_mut::<str, _>((Bound::Included(from.as_str()), Bound::Unbounded))
            .take_while(move |(key, _)| key.starts_with(&prefix))
            .filter(move |(key, _)| ***key != *itself)
    }

    /// Forgets places that nobody touches any more, once they could be the most of what is kept.
    pub(super) fn forget(&mut self, graph: &Graph) {
        if graph.is_empty() {
            self.spots.clear();
        } else if self.spots.len() > FEW_SPOTS + 2 * self.kept {
            self.spots.retain(|_, spot| !spot.is_over(graph));
        } else {
            return;
        }
        self.kept = self.spots.len();
    }
}

impl Spot {
    fn is_over(&self, graph: &Graph) -> bool {
        let changes = self.changed_below.as_ref().is_none_or(|changed| changed.is_over(graph));
        changes && self.exact.is_over(graph) && self.tree.is_over(graph)
    }
}

/// Gives the key of what is touched, and whether all below it is concerned; what cannot be told is everything.
fn key_of(access: &Access) -> (Box<str>, bool) {
    match access.place() {
        None => ("".into(), true),
        Some(place) => (key(place), place.subtree || !access.is_shared()),
    }
}

fn key(place: Extent<'_>) -> Box<str> {
    let (scheme, path) = (place.scheme.as_str(), place.path);
    let mut key = String::with_capacity(scheme.len() + 1 + path.len());
    key.push_str(scheme);
    key.push(':');
    key.push_str(path);
    key.into()
}

/// Iterates over the keys above one: that of everything, that of the scheme, and those of the directories.
fn ancestors(key: &str) -> impl Iterator<Item = &str> {
    let scheme = key.find(':').map_or(0, |colon| colon + 1);
    let everything = (!key.is_empty()).then_some("");
    let all_of_scheme = (key.len() > scheme).then(|| &key[..scheme]);
    let directories = key[scheme..].match_indices('/').map(move |(slash, _)| &key[..scheme + slash]);
    everything.into_iter().chain(all_of_scheme).chain(directories)
}

#[cfg(test)]
impl Frontier {
    pub(super) fn is_empty(&self) -> bool {
        self.spots.is_empty()
    }
}
