use super::serve_mode::ServeMode;
use super::served_tools::ServedTools;
use crate::server::toolbox::Toolset;
use haft_tools_core::ToolRegistry;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// How many toolsets' tools are kept ready; those of others are made again when they are asked for.
const MOST: usize = 64;

/// Keeps the tools of toolsets ready as they are served, for as long as they stay what they are.
pub(crate) struct Shelf {
    mode: ServeMode,
    /// The one that was used last is first.
    kept: Mutex<VecDeque<(Weak<Toolset>, Arc<ServedTools>)>>,
}

impl Shelf {
    pub(crate) fn new(mode: ServeMode) -> Self {
        Self { mode, kept: Mutex::default() }
    }

    /// Gives a toolset's tools as they are now; costs a look at the toolset where they are what they were.
    pub(crate) fn of(&self, toolset: &Arc<Toolset>) -> Arc<ServedTools> {
        let tools = (toolset.tools)();
        if let Some(served) = self.known(toolset, &tools) {
            return served;
        }
        // Many tools take time, in which others are served.
        let served = Arc::new(ServedTools::of(tools, self.mode.clone()));
        self.keep(toolset, Arc::clone(&served));
        served
    }

    /// Finds tools that one of this served name is among, whoever they are served to.
    ///
    /// For what has to be known of a tool before it is known who calls: nothing is permitted by it.
    pub(crate) fn with(&self, name: &str) -> Option<Arc<ServedTools>> {
        let kept = self.kept();
        let found = kept.iter().find(|(_, served)| served.listed(name).is_some());
        found.map(|(_, served)| Arc::clone(served))
    }

    fn known(&self, toolset: &Arc<Toolset>, tools: &ToolRegistry) -> Option<Arc<ServedTools>> {
        let mut kept = self.kept();
        let is_it = |known: &Weak<Toolset>| std::ptr::eq(known.as_ptr(), Arc::as_ptr(toolset));
        if let Some(place) = kept.iter().position(|(known, _)| is_it(known)) {
            let served = Arc::clone(&kept[place].1);
            if served.registry().is_same(tools) {
                kept.swap(0, place);
                return Some(served);
            }
        }
        // Callers that are served the same share it.
        let served = kept.iter().find(|(_, served)| served.registry().is_same(tools))?.1.clone();
        drop(kept);
        self.keep(toolset, Arc::clone(&served));
        Some(served)
    }

    fn keep(&self, toolset: &Arc<Toolset>, served: Arc<ServedTools>) {
        let mut kept = self.kept();
        kept.retain(|(known, _)| {
            known.strong_count() > 0 && !std::ptr::eq(known.as_ptr(), Arc::as_ptr(toolset))
        });
        kept.truncate(MOST - 1);
        kept.push_front((Arc::downgrade(toolset), served));
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(Weak<Toolset>, Arc<ServedTools>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
