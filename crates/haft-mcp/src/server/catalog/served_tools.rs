use super::meta_tools::MetaTool;
use super::pages::Pages;
use super::serve_mode::ServeMode;
use super::served_tool::ServedTool;
use haft_core::{Exposure, ToolName, ToolSpec};
use haft_tools_core::ToolRegistry;
use std::any::Any;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, OnceLock};

/// Is one snapshot of a registry as clients are served it: the names both ways, and the list in pages.
pub(crate) struct ServedTools {
    registry: ToolRegistry,
    mode: ServeMode,
    pages: Pages<ServedTool>,
    /// Served names, each with the registry's own.
    own: HashMap<ToolName, ToolName>,
    /// The registry's names, each with the served one.
    served: HashMap<ToolName, ToolName>,
    ready: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl ServedTools {
    pub(crate) fn of(registry: ToolRegistry, mode: ServeMode) -> Self {
        let (mut own, mut served) = (HashMap::new(), HashMap::new());
        let mut listed = Vec::new();
        for spec in registry.iter().filter(|spec| is_served(spec, &mode)) {
            let tool = ServedTool::of(spec);
            match own.entry(tool.name.clone()) {
                // Two names that are shortened to one would take as many bits of the same hash.
                Entry::Occupied(_) => {
                    tracing::warn!(
                        tool = spec.name().as_str(),
                        served = tool.name.as_str(),
                        "a tool is left out"
                    );
                    continue;
                }
                Entry::Vacant(place) => place.insert(spec.name().clone()),
            };
            served.insert(spec.name().clone(), tool.name.clone());
            if is_listed(spec, &mode) {
                listed.push(tool);
            }
        }
        if mode == ServeMode::Search {
            listed = MetaTool::ALL.iter().map(|tool| tool.served()).collect();
        }
        listed.sort_by(|one, other| one.name.cmp(&other.name));
        let pages = Pages::of(listed, ServedTool::to_json);
        Self { registry, mode, pages, own, served, ready: OnceLock::new() }
    }

    /// The tools that calls are to be executed with, under the registry's own names.
    pub(crate) fn registry(&self) -> &ToolRegistry {
        &self.registry
    }

    pub(crate) fn mode(&self) -> &ServeMode {
        &self.mode
    }

    /// The list that clients are given.
    pub(crate) fn pages(&self) -> &Pages<ServedTool> {
        &self.pages
    }

    /// Finds a tool in the list that clients are given.
    pub(crate) fn listed(&self, name: &str) -> Option<&ServedTool> {
        self.pages.find(|tool| tool.name.as_str().cmp(name))
    }

    /// The registry's name of a tool that can be called, by its served name, its own or an alias.
    pub(crate) fn own_name(&self, name: &str) -> Option<&ToolName> {
        let by_own = || {
            let own = self.registry.get(name)?.name();
            self.served.contains_key(own).then_some(own)
        };
        self.own.get(name).or_else(by_own)
    }

    /// The name by which a tool of the registry is served, if it is.
    pub(crate) fn served_name(&self, own: &str) -> Option<&ToolName> {
        self.served.get(own)
    }

    /// Describes a tool that can be called, listed or not.
    pub(crate) fn describe(&self, name: &str) -> Option<ServedTool> {
        Some(ServedTool::of(self.registry.get(self.own_name(name)?.as_str())?))
    }

    /// The names that can be called, as they are served.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.own.keys().map(ToolName::as_str)
    }

    /// Keeps what is made of these tools, so that it is made once; there is room for things of one type.
    pub(crate) fn ready<T: Send + Sync + 'static>(&self, make: impl FnOnce(&Self) -> T) -> Arc<T> {
        if let Some(ready) = self.ready.get() {
            if let Ok(ready) = Arc::clone(ready).downcast() {
                return ready;
            }
            return Arc::new(make(self));
        }
        let new = Arc::new(make(self));
        // Whoever was first at the same time made the same.
        let _ = self.ready.set(Arc::clone(&new) as Arc<dyn Any + Send + Sync>);
        new
    }
}

/// Tells whether clients can call a tool.
fn is_served(spec: &ToolSpec, mode: &ServeMode) -> bool {
    let is_chosen = match mode {
        ServeMode::Full | ServeMode::Search => !spec.is_explicit_only(),
        ServeMode::Allow(selector) => selector.matches(spec),
    };
    is_chosen && spec.exposure() != Exposure::Hidden
}

/// Tells whether clients are told of a tool that they can call.
fn is_listed(spec: &ToolSpec, mode: &ServeMode) -> bool {
    match mode {
        ServeMode::Full => spec.exposure() == Exposure::Direct,
        ServeMode::Search => false,
        ServeMode::Allow(_) => true,
    }
}
