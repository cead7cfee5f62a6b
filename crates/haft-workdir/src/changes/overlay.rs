use super::look::state_at;
use super::record::{PathState, place_of};
use crate::workdir::Workdir;
use std::collections::{BTreeMap, HashMap};

/// Is a tree as it will be once changes are made that are only planned.
#[derive(Debug)]
pub(super) struct Overlay<'w> {
    workdir: &'w Workdir,
    /// The changes, in the order in which they will be made.
    pub(super) layers: Vec<Layer>,
    /// What was looked at already.
    seen: HashMap<String, PathState>,
}

/// Is a part of the planned changes.
#[derive(Debug)]
pub(super) enum Layer {
    /// Places that become something else, each with what is there before.
    Set(BTreeMap<String, (PathState, PathState)>),
    /// An entry that is moved.
    Move { from: String, to: String },
}

impl<'w> Overlay<'w> {
    pub(super) fn new(workdir: &'w Workdir) -> Self {
        Self { workdir, layers: Vec::new(), seen: HashMap::new() }
    }

    /// Tells whether a path is in one of the roots.
    pub(super) fn reaches(&self, path: &str) -> bool {
        place_of(self.workdir, path).is_some()
    }

    /// Says what is at a path then.
    pub(super) fn get(&mut self, path: &str) -> PathState {
        let mut path = path.to_owned();
        for layer in self.layers.iter().rev() {
            match layer {
                Layer::Set(places) => {
                    if let Some((_, then)) = places.get(&path) {
                        return then.clone();
                    }
                }
                Layer::Move { from, to } => {
                    if let Some(rest) = below(&path, to) {
                        path = format!("{from}{rest}");
                    } else if below(&path, from).is_some() {
                        return PathState::Absent;
                    }
                }
            }
        }
        if let Some(state) = self.seen.get(&path) {
            return state.clone();
        }
        let state = match place_of(self.workdir, &path) {
            // One that cannot be looked up, as behind a link, is not what was recorded, whatever it is.
            Some(place) => state_at(self.workdir, &place, u64::MAX).unwrap_or(PathState::Other),
            None => PathState::Other,
        };
        self.seen.insert(path, state.clone());
        state
    }

    /// Plans that a place becomes something else.
    pub(super) fn set(&mut self, path: &str, now: PathState, then: PathState) {
        if !matches!(self.layers.last(), Some(Layer::Set(_))) {
            self.layers.push(Layer::Set(BTreeMap::new()));
        }
        if let Some(Layer::Set(places)) = self.layers.last_mut() {
            places.entry(path.to_owned()).and_modify(|(_, last)| *last = then.clone()).or_insert((now, then));
        }
    }

    /// Plans a move.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        self.layers.push(Layer::Move { from: from.to_owned(), to: to.to_owned() });
    }
}

/// Gives what of a path is below another, with the slash before it; nothing of that itself.
pub(super) fn below<'p>(path: &'p str, base: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(base)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}
