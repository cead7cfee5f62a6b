use super::{CollisionPolicy, Entry, Inner, RegistryError, ToolRegistry};
use ahash::RandomState;
use haft_core::{Exposure, ToolName, ToolSpec};
use std::collections::HashMap;
use std::collections::btree_map::{self, BTreeMap};
use std::sync::{Arc, OnceLock};

/// Collects tools and aliases; no name is in both maps.
#[derive(Default)]
pub(crate) struct Builder {
    pub(super) entries: BTreeMap<ToolName, Arc<Entry>>,
    pub(super) aliases: BTreeMap<ToolName, ToolName>,
}

impl Builder {
    pub(crate) fn add(
        &mut self,
        entry: Arc<Entry>,
        collisions: CollisionPolicy,
    ) -> Result<(), RegistryError> {
        let name = entry.spec.name().clone();
        let holder = self.aliases.get(&name).and_then(|target| self.entries.get(target)).cloned();
        if let Some(holder) = holder {
            match collisions {
                CollisionPolicy::Refuse => return Err(collision(name, &holder.spec, &entry.spec)),
                CollisionPolicy::KeepFirst => return Ok(()),
                CollisionPolicy::KeepLast => self.aliases.remove(&name),
            };
        }
        match self.entries.entry(name) {
            btree_map::Entry::Vacant(place) => {
                place.insert(entry);
            }
            btree_map::Entry::Occupied(mut place) => match collisions {
                CollisionPolicy::Refuse => {
                    return Err(collision(place.key().clone(), &place.get().spec, &entry.spec));
                }
                CollisionPolicy::KeepFirst => {}
                CollisionPolicy::KeepLast => {
                    place.insert(entry);
                }
            },
        }
        Ok(())
    }

    pub(crate) fn alias(
        &mut self,
        alias: ToolName,
        target: ToolName,
        collisions: CollisionPolicy,
    ) -> Result<(), RegistryError> {
        let holder = self.entries.get(&alias).or_else(|| self.entries.get(self.aliases.get(&alias)?));
        if let (Some(holder), Some(entry)) = (holder, self.entries.get(&target)) {
            match collisions {
                CollisionPolicy::Refuse => return Err(collision(alias, &holder.spec, &entry.spec)),
                CollisionPolicy::KeepFirst => return Ok(()),
                CollisionPolicy::KeepLast => {
                    // A tool never gives way to an alias: that would take the tool away.
                    if self.entries.contains_key(&alias) {
                        return Ok(());
                    }
                }
            }
        }
        self.aliases.insert(alias, target);
        Ok(())
    }

    pub(crate) fn get(&self, name: &ToolName) -> Option<&Arc<Entry>> {
        self.entries.get(name)
    }

    pub(crate) fn finish(self) -> ToolRegistry {
        let entries: Vec<Arc<Entry>> = self.entries.into_values().collect();
        let mut index: HashMap<ToolName, usize, RandomState> =
            entries.iter().enumerate().map(|(place, entry)| (entry.spec.name().clone(), place)).collect();
        for (alias, target) in self.aliases {
            if let Some(place) = index.get(&target).copied() {
                index.insert(alias, place);
            }
        }
        let direct = entries
            .iter()
            .filter(|entry| entry.spec.exposure() == Exposure::Direct)
            .map(|entry| Arc::clone(&entry.spec))
            .collect();
        ToolRegistry(Arc::new(Inner { entries, index, direct, search: OnceLock::new() }))
    }
}

fn collision(name: ToolName, first: &ToolSpec, second: &ToolSpec) -> RegistryError {
    RegistryError::Collision {
        name,
        first: Box::new(first.origin().clone()),
        second: Box::new(second.origin().clone()),
    }
}
