use std::collections::HashMap;

/// Names a call, or a meeting point of several, in the order.
pub(super) type NodeId = u64;

/// Says who waits for whom.
#[derive(Default)]
pub(super) struct Graph {
    next: NodeId,
    nodes: HashMap<NodeId, Node>,
}

#[derive(Default)]
struct Node {
    /// Those this one waits for.
    blockers: Vec<NodeId>,
    /// How many of the blockers are still there.
    left: usize,
    /// Those that wait for this one.
    blocked: Vec<NodeId>,
    /// Whether it is a meeting point: it ends by itself when nothing blocks it.
    is_join: bool,
}

impl Graph {
    pub(super) fn add(&mut self) -> NodeId {
        self.insert(Node::default())
    }

    /// Makes one node that ends when all of these have ended; gives the one itself where there is only one.
    pub(super) fn join(&mut self, nodes: &[NodeId]) -> Option<NodeId> {
        let active: Vec<NodeId> = nodes.iter().copied().filter(|node| self.is_active(*node)).collect();
        match active.as_slice() {
            [] => None,
            [one] => Some(*one),
            _ => {
                let join = self.insert(Node { is_join: true, ..Node::default() });
                for node in active {
                    self.block(join, node);
                }
                Some(join)
            }
        }
    }

    fn insert(&mut self, node: Node) -> NodeId {
        let id = self.next;
        self.next += 1;
        self.nodes.insert(id, node);
        id
    }

    /// Has `node` wait for `blocker`, if that is still there.
    pub(super) fn block(&mut self, node: NodeId, blocker: NodeId) {
        if node == blocker {
            return;
        }
        let Some(ahead) = self.nodes.get_mut(&blocker) else { return };
        // Several accesses of one call can meet the same blocker; the last entry tells without a search.
        if ahead.blocked.last() == Some(&node) {
            return;
        }
        ahead.blocked.push(node);
        if let Some(node) = self.nodes.get_mut(&node) {
            node.blockers.push(blocker);
            node.left += 1;
        }
    }

    pub(super) fn is_active(&self, node: NodeId) -> bool {
        self.nodes.contains_key(&node)
    }

    pub(super) fn is_blocked(&self, node: NodeId) -> bool {
        self.nodes.get(&node).is_some_and(|node| node.left > 0)
    }

    pub(super) fn blockers(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.nodes.get(&node).into_iter().flat_map(|node| node.blockers.iter().copied())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Ends a node, and the meeting points that waited for nothing else; gives the calls that nothing blocks now.
    ///
    /// One that is blocked itself, because its call gave up, becomes a meeting point: those behind it count on it having
    /// waited for those before it.
    pub(super) fn remove(&mut self, node: NodeId) -> Vec<NodeId> {
        if let Some(blocked) = self.nodes.get_mut(&node).filter(|node| node.left > 0) {
            blocked.is_join = true;
            return Vec::new();
        }
        let mut freed = Vec::new();
        let mut ended = vec![node];
        while let Some(node) = ended.pop().and_then(|id| self.nodes.remove(&id)) {
            for behind in node.blocked {
                let Some(waiting) = self.nodes.get_mut(&behind) else { continue };
                waiting.left = waiting.left.saturating_sub(1);
                match (waiting.left, waiting.is_join) {
                    (0, true) => ended.push(behind),
                    (0, false) => freed.push(behind),
                    _ => {}
                }
            }
        }
        // Those that entered first go first.
        freed.sort_unstable();
        freed
    }
}

#[cfg(test)]
impl Graph {
    /// Counts the waits that are kept, which is what memory goes into.
    pub(super) fn waits(&self) -> usize {
        self.nodes.values().map(|node| node.blockers.len()).sum()
    }
}
