use haft_workdir::WorkdirPath;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where something comes in the order of the paths; compared as bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(Arc<[u8]>);

impl Key {
    /// The place of an entry. No name has a NUL byte, so with that between the names bytes compare as names do.
    pub(super) fn of(path: &WorkdirPath) -> Self {
        Self(bytes(path, 0).into())
    }

    /// The place of an entry of a directory.
    pub(super) fn of_entry(directory: &WorkdirPath, name: &str) -> Self {
        let mut bytes = bytes(directory, name.len() + 1);
        // The root of a file system ends in what divides names, and the main root has no name.
        if bytes.len() > 1 && bytes.last() != Some(&0) {
            bytes.push(0);
        }
        bytes.extend_from_slice(name.as_bytes());
        Self(bytes.into())
    }

    /// The place of what is in a directory, right behind the directory itself.
    pub(super) fn inside(path: &WorkdirPath) -> Self {
        let mut bytes = bytes(path, 1);
        bytes.push(0);
        Self(bytes.into())
    }
}

fn bytes(path: &WorkdirPath, more: usize) -> Vec<u8> {
    let is_main_root = path.is_root() && !path.is_absolute();
    let text = if is_main_root { "" } else { path.as_str() };
    let mut bytes = Vec::with_capacity(text.len() + 1 + more);
    bytes.push(u8::from(path.is_absolute()));
    bytes.extend(text.bytes().map(|byte| if byte == b'/' { 0 } else { byte }));
    bytes
}

/// All parts that were not handed on yet, in their order.
pub(super) struct Board<T, P> {
    parts: BTreeMap<Key, Part<T, P>>,
    queued: BTreeSet<Key>,
    /// What the parts weigh that are done.
    waiting: usize,
}

enum Part<T, P> {
    Queued(T),
    Taken,
    Done(P, usize),
}

impl<T, P> Board<T, P> {
    pub(super) fn new() -> Self {
        Self { parts: BTreeMap::new(), queued: BTreeSet::new(), waiting: 0 }
    }

    pub(super) fn add(&mut self, key: Key, task: T) {
        self.queued.insert(key.clone());
        self.parts.insert(key, Part::Queued(task));
    }

    /// Adds a part that somebody is at.
    pub(super) fn add_taken(&mut self, key: Key) {
        self.parts.insert(key, Part::Taken);
    }

    pub(super) fn add_done(&mut self, key: Key, part: P, weight: usize) {
        self.waiting += weight;
        self.parts.insert(key, Part::Done(part, weight));
    }

    /// Takes the first part that nobody has taken.
    pub(super) fn claim(&mut self) -> Option<(Key, T)> {
        let key = self.queued.pop_first()?;
        match self.parts.get_mut(&key).map(|part| std::mem::replace(part, Part::Taken)) {
            Some(Part::Queued(task)) => Some((key, task)),
            _ => None,
        }
    }

    pub(super) fn finish(&mut self, key: &Key, part: P, weight: usize) {
        if let Some(taken) = self.parts.get_mut(key) {
            self.waiting += weight;
            *taken = Part::Done(part, weight);
        }
    }

    /// Hands on the first part, if it is done.
    pub(super) fn next_done(&mut self) -> Option<P> {
        let first = self.parts.first_entry()?;
        if !matches!(first.get(), Part::Done(..)) {
            return None;
        }
        let Part::Done(part, weight) = first.remove() else { return None };
        self.waiting -= weight;
        Some(part)
    }

    pub(super) fn queued(&self) -> usize {
        self.queued.len()
    }

    /// Tells whether nobody is at the first part of all, nor was.
    pub(super) fn is_first_queued(&self) -> bool {
        self.parts.first_key_value().is_some_and(|(_, part)| matches!(part, Part::Queued(_)))
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Tells whether all parts were handed on.
    pub(super) fn is_done(&self) -> bool {
        self.parts.is_empty()
    }

    /// Takes out the tasks that nobody has taken.
    pub(super) fn unfinished(&mut self) -> Vec<T> {
        let mut tasks = Vec::new();
        while let Some((_, task)) = self.claim() {
            tasks.push(task);
        }
        tasks
    }

    /// Gives all that is done, in its order, with gaps where it is not.
    pub(super) fn into_done(self) -> impl Iterator<Item = P> {
        self.parts.into_values().filter_map(|part| match part {
            Part::Done(part, _) => Some(part),
            Part::Queued(_) | Part::Taken => None,
        })
    }
}
