//! Patterns as a tree of their steps, along which a path is walked once for all of them.

mod edges;

use super::parse::Step;
use edges::Edges;

/// No pattern.
const NONE: u32 = u32::MAX;

/// The nodes where patterns begin that start in the working directory, and those that start in `/`.
const INSIDE: u32 = 0;
const TOP: u32 = 1;

/// Where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// In the working directory.
    Inside,
    /// In `/`.
    Top,
}

/// Says what a pattern means besides the paths that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Nothing.
    Itself,
    /// All that lies below them.
    Tree,
}

/// Says what becomes of patterns that mean the whole working directory because they mean something above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AboveRoot {
    Counts,
    Ignored,
}

/// One pattern of a [`PathTree`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    /// Its place in the list; the first one that matches is sought.
    pub(super) index: usize,
    pub(super) start: Start,
    pub(super) steps: &'a [Step],
    pub(super) extent: Extent,
}

/// Patterns by their steps.
///
/// A walk along a path is at several nodes at a time: at those of names and of forms of names that it took, and at those of
/// `**`, where it stays whatever name comes. The nodes are a tree, so a walk comes to each by one way at most, but for
/// the latter.
#[derive(Debug, Clone)]
pub(super) struct PathTree {
    nodes: Vec<Node>,
    inside: Walk,
    top: Walk,
}

#[derive(Debug, Clone)]
struct Node {
    above: u32,
    edges: Edges,
    /// The node of the `**` behind this one.
    deep: Option<u32>,
    is_deep: bool,
    /// The first pattern that ends here and means all below, and the first that means no more than what it matches.
    tree: u32,
    itself: u32,
    /// The first pattern that ends here or further on.
    lowest: u32,
}

/// Where a walk is, and the first pattern it met that means everything from there on.
#[derive(Debug, Clone)]
struct Walk {
    at: Vec<u32>,
    met: u32,
}

impl Walk {
    fn new() -> Self {
        Self { at: Vec::with_capacity(8), met: NONE }
    }
}

impl PathTree {
    /// Makes the tree. `root` has the names above and of the working directory, where that is known: patterns that start in
    /// `/` lead on into it.
    pub(super) fn new<'a>(
        entries: impl IntoIterator<Item = Entry<'a>>,
        root: Option<&[Box<str>]>,
        above_root: AboveRoot,
    ) -> Self {
        let nodes = vec![Node::below(INSIDE), Node::below(TOP)];
        let mut tree = Self { nodes, inside: Walk::new(), top: Walk::new() };
        for entry in entries {
            tree.insert(entry);
        }
        tree.find_lowest();
        tree.top = tree.entered(TOP, Walk::new());
        let ways_in = match (root, above_root) {
            (None, _) => Walk::new(),
            (Some(root), AboveRoot::Counts) => tree.walk(Start::Top, root.iter()),
            (Some(root), AboveRoot::Ignored) => tree.without_trees().walk(Start::Top, root.iter()),
        };
        tree.inside = tree.entered(INSIDE, ways_in);
        tree
    }

    /// Finds the first pattern that means everything that a path, or with a subtree all at and below it, stands for.
    pub(super) fn containing<N: AsRef<str>>(
        &self,
        start: Start,
        names: impl Iterator<Item = N>,
        extent: Extent,
    ) -> Option<usize> {
        let walk = self.walk(start, names);
        let ends = (extent == Extent::Itself).then(|| walk.at.iter().map(|node| self.node(*node).itself));
        index(ends.into_iter().flatten().fold(walk.met, u32::min))
    }

    /// Finds the first pattern that means anything that a path, or with a subtree anything at or below it, stands for.
    pub(super) fn touching<N: AsRef<str>>(
        &self,
        start: Start,
        names: impl Iterator<Item = N>,
        extent: Extent,
    ) -> Option<usize> {
        let walk = self.walk(start, names);
        let ends = walk.at.iter().map(|node| match extent {
            Extent::Itself => self.node(*node).itself,
            Extent::Tree => self.node(*node).lowest,
        });
        index(ends.fold(walk.met, u32::min))
    }

    /// The first pattern that starts in the working directory.
    pub(super) fn first_inside(&self) -> Option<usize> {
        index(self.node(INSIDE).lowest)
    }

    fn insert(&mut self, Entry { index, start, steps, extent }: Entry<'_>) {
        let mut at = match start {
            Start::Inside => INSIDE,
            Start::Top => TOP,
        };
        for step in steps {
            at = self.next(at, step);
        }
        let node = &mut self.nodes[at as usize];
        let end = match extent {
            Extent::Itself => &mut node.itself,
            Extent::Tree => &mut node.tree,
        };
        *end = (*end).min(u32::try_from(index).unwrap_or(NONE));
    }

    /// The node to which a step leads, which is made where there is none.
    fn next(&mut self, from: u32, step: &Step) -> u32 {
        let node = self.node(from);
        let known = if *step == Step::Deep { node.deep } else { node.edges.get(step) };
        if let Some(known) = known {
            return known;
        }
        let new = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(Node { is_deep: *step == Step::Deep, ..Node::below(from) });
        let node = &mut self.nodes[from as usize];
        match step {
            Step::Deep => node.deep = Some(new),
            step => node.edges.insert(step, new),
        }
        new
    }

    fn find_lowest(&mut self) {
        // A node comes before all that are below it.
        for at in (0..self.nodes.len()).rev() {
            let node = &mut self.nodes[at];
            node.lowest = node.lowest.min(node.tree).min(node.itself);
            let Node { above, lowest, .. } = *node;
            let above = &mut self.nodes[above as usize];
            above.lowest = above.lowest.min(lowest);
        }
    }

    fn without_trees(&self) -> Self {
        let mut tree = self.clone();
        tree.nodes.iter_mut().for_each(|node| node.tree = NONE);
        tree.top = tree.entered(TOP, Walk::new());
        tree
    }

    fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    fn walk<N: AsRef<str>>(&self, start: Start, names: impl Iterator<Item = N>) -> Walk {
        let start = match start {
            Start::Inside => &self.inside,
            Start::Top => &self.top,
        };
        let mut walk = start.clone();
        let mut next = Vec::with_capacity(8);
        for name in names {
            let name = name.as_ref();
            for from in &walk.at {
                let node = &self.nodes[*from as usize];
                if node.is_deep {
                    self.enter(*from, &mut next, &mut walk.met);
                }
                node.edges.each(name, |to| self.enter(to, &mut next, &mut walk.met));
            }
            std::mem::swap(&mut walk.at, &mut next);
            next.clear();
        }
        walk
    }

    /// Goes to a node, unless no pattern from there on could come before the one that was met.
    fn enter(&self, at: u32, list: &mut Vec<u32>, met: &mut u32) {
        let node = self.node(at);
        if node.lowest >= *met || (node.is_deep && list.contains(&at)) {
            return;
        }
        *met = (*met).min(node.tree);
        list.push(at);
        if let Some(deep) = node.deep {
            self.enter(deep, list, met);
        }
    }

    fn entered(&self, at: u32, mut walk: Walk) -> Walk {
        self.enter(at, &mut walk.at, &mut walk.met);
        walk
    }
}

impl Node {
    fn below(above: u32) -> Self {
        Self {
            above,
            edges: Edges::default(),
            deep: None,
            is_deep: false,
            tree: NONE,
            itself: NONE,
            lowest: NONE,
        }
    }
}

fn index(number: u32) -> Option<usize> {
    (number != NONE).then_some(number as usize)
}
