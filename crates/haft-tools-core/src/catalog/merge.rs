use super::CatalogChange;
use super::admission::{Admitted, AdmittedTool};
use crate::registry::{Builder, Entry};
use crate::run_tools::SEARCH_TOOLS;
use crate::{CollisionPolicy, RefusedTool, RegistryError, Selector, ToolRegistry};
use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

/// Holds the tools of all sources, and for each source how many of them are its own and what was left out.
pub(super) struct Merged {
    pub(super) registry: ToolRegistry,
    pub(super) sources: Vec<(usize, Vec<RefusedTool>)>,
}

/// Puts the tools of all sources together, in the order of the sources.
pub(super) fn merge<'a>(
    sources: impl Iterator<Item = &'a Admitted> + Clone,
    selectors: &[Selector],
    collisions: CollisionPolicy,
) -> Merged {
    let mut builder = Builder::default();
    let mut refusals: Vec<Vec<RefusedTool>> = Vec::new();
    for source in sources.clone() {
        let mut refused = source.refused.clone();
        let is_chosen =
            |tool: &&AdmittedTool| selectors.iter().all(|chosen| chosen.matches(&tool.entry.spec));
        for tool in source.tools.iter().filter(is_chosen) {
            let name = tool.entry.spec.name();
            let added = if name.as_str() == SEARCH_TOOLS {
                Err(RegistryError::Reserved { name: name.clone() })
            } else {
                builder.add(Arc::clone(&tool.entry), collisions)
            };
            if let Err(error) = added {
                refused.push(RefusedTool::new(tool.position, error));
            }
        }
        for (alias, target) in &source.aliases {
            // Where another source's tool has the name, the alias would stand for that one.
            let is_own = builder.get(target).is_some_and(|holder| holds(source, holder));
            // An alias that is taken is only a second name: the tool itself is there.
            if is_own && alias.as_str() != SEARCH_TOOLS {
                let _ = builder.alias(alias.clone(), target.clone(), collisions);
            }
        }
        refused.sort_by_key(|refused| refused.position);
        refusals.push(refused);
    }
    let registry = builder.finish();
    // What several sources give as one is the tool of the one whose word counts.
    let mut counted = HashSet::new();
    let mut count = |source: &Admitted| {
        let mut is_own = |entry: &Arc<Entry>| {
            let holder = registry.entry(entry.spec.name().as_str());
            holder.is_some_and(|holder| Arc::ptr_eq(holder, entry)) && counted.insert(Arc::as_ptr(entry))
        };
        source.tools.iter().filter(|tool| is_own(&tool.entry)).count()
    };
    let sources: Vec<&Admitted> = sources.collect();
    let counts: Vec<usize> = match collisions {
        CollisionPolicy::Refuse | CollisionPolicy::KeepFirst => sources.into_iter().map(count).collect(),
        CollisionPolicy::KeepLast => {
            let mut counts: Vec<usize> = sources.into_iter().rev().map(&mut count).collect();
            counts.reverse();
            counts
        }
    };
    Merged { registry, sources: counts.into_iter().zip(refusals).collect() }
}

/// Tells whether the holder of a name is the source's own; only a registry has aliases, and it is ordered by name.
fn holds(source: &Admitted, holder: &Arc<Entry>) -> bool {
    let place = source.tools.binary_search_by(|tool| tool.entry.spec.name().cmp(holder.spec.name()));
    place.is_ok_and(|place| Arc::ptr_eq(&source.tools[place].entry, holder))
}

/// Says what became of the tools from one registry to another.
pub(crate) fn difference(before: &ToolRegistry, after: &ToolRegistry) -> CatalogChange {
    let mut change = CatalogChange::default();
    let (mut old, mut new) = (before.entries().iter().peekable(), after.entries().iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return change,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.spec.name().cmp(other.spec.name()),
        };
        let one = if order.is_le() { old.next() } else { None };
        let other = if order.is_ge() { new.next() } else { None };
        match (one, other) {
            (Some(one), Some(other))
                if !Arc::ptr_eq(&one.spec, &other.spec) && one.version() != other.version() =>
            {
                change.changed.push(other.spec.name().clone());
            }
            (Some(one), None) => change.removed.push(one.spec.name().clone()),
            (None, Some(other)) => change.added.push(other.spec.name().clone()),
            _ => {}
        }
    }
}
