//! Keeps the list of tools that the model of one run is told of.

mod search_tools;

use crate::catalog::difference;
use crate::registry::Entry;
use crate::{CallScope, CatalogChange, Events, Selector, ToolRegistry};
use haft_core::{EventKind, Exposure, ToolName, ToolSpec};
pub(crate) use search_tools::SEARCH_TOOLS;
use search_tools::SearchTools;
use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps the list of tools that the model of one run is told of, and lets the model search for those that are not in it.
///
/// Made from a [`Catalog`](crate::Catalog)'s snapshot or any registry. If all its tools together cost more than the
/// [`ListBudget`], those that may be deferred are left off the list; the list then has `search_tools`, by which the model
/// finds them, and what it finds is in the list for the rest of the run. A deferred tool that is called by its name without
/// having been found runs all the same.
///
/// The list only grows at its end, so that what a provider has cached of it stays good. This holds when the tools change
/// between turns, too ([`RunTools::update`]): new tools come last; a tool that is gone stays in the list and a call of it
/// is answered with the nearest names; a tool that changed stays in the list as it was, while calls of it are checked
/// against what it is now. [`RunTools::outdated`] names both, and [`RunTools::relist`] starts the list anew where the host
/// has lost the cache anyway.
///
/// Starting and updating cost a look at every tool and, where there is a ceiling or a search, a registry of the run's own,
/// which shares the tools but not the table of their names. Everything else costs no more than what it gives.
///
/// Each turn, give the model [`RunTools::list`], and execute its calls with [`RunTools::registry`], by
/// [`Batch::with_registry`](crate::Batch::with_registry). Cheap to clone: clones are the same list. The name
/// `search_tools` is the run's own; a tool of that name in the registry is left out. It runs no tool and shows none that the
/// ceiling keeps out, but like any tool it needs a rule that allows it, such as
/// `.allow(Rule::tools("search_tools".parse()?))`: otherwise a person is asked about every search.
///
/// ```
/// use haft_core::ToolError;
/// use haft_tools_core::{Accesses, CallContext, ListBudget, RunTools, Selector, ToolRegistry, tool_fn};
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Nothing {}
/// # let tool = |name, description| tool_fn(name, description, Accesses::none(), |_: Nothing, _: CallContext| async {
/// #     Ok::<_, ToolError>("done")
/// # });
/// let registry = ToolRegistry::new()
///     .with(tool("create_issue", "Opens a new issue.")?)?
///     .with(tool("send_mail", "Sends a mail.")?)?;
/// let budget = ListBudget { tokens: 10, deferrable: Some("*_issue".parse()?) };
/// let tools = RunTools::builder(registry).budget(budget).start();
/// let names = || tools.list().iter().map(|spec| spec.name().to_string()).collect::<Vec<_>>();
/// assert_eq!(names(), ["search_tools", "send_mail"]);
///
/// tools.load(["create_issue"]);
/// assert_eq!(names(), ["search_tools", "send_mail", "create_issue"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RunTools(Arc<Inner>);

struct Inner {
    budget: ListBudget,
    ceiling: Option<Selector>,
    events: Option<(Events, CallScope)>,
    search: Arc<Entry>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What was given, with the search index that all runs share.
    base: ToolRegistry,
    /// What the run may call.
    registry: ToolRegistry,
    is_searching: bool,
    listed: Vec<Arc<ToolSpec>>,
    names: HashSet<ToolName>,
    /// The same as `listed`, to be handed out.
    list: Arc<[Arc<ToolSpec>]>,
    /// What the listed tools cost that nobody searched for.
    tokens: u64,
    unasked: u64,
}

/// Says how much the tools may cost that a model is told of without asking.
///
/// ```
/// use haft_tools_core::ListBudget;
///
/// // What comes of servers is searched for, if it is too much; what the house has is always told of.
/// let budget = ListBudget { tokens: 4_000, deferrable: Some("@mcp".parse()?) };
/// assert_ne!(budget, ListBudget::default());
/// # Ok::<(), haft_tools_core::SelectorError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListBudget {
    /// The most estimated tokens that the whole list may cost before tools are deferred.
    ///
    /// 10,000 by default, from which on Anthropic recommends a tool search (Introducing advanced tool use, 2025).
    pub tokens: u64,
    /// The tools that may be deferred, besides those with [`Exposure::Deferred`]; none by default.
    pub deferrable: Option<Selector>,
}

impl Default for ListBudget {
    fn default() -> Self {
        Self { tokens: 10_000, deferrable: None }
    }
}

/// Sets a [`RunTools`] up.
///
/// ```
/// use haft_tools_core::{RunTools, ToolRegistry};
///
/// let tools = RunTools::builder(ToolRegistry::new()).ceiling("read_*, grep".parse()?).start();
/// assert!(tools.list().is_empty());
/// # Ok::<(), haft_tools_core::SelectorError>(())
/// ```
#[derive(Debug)]
pub struct RunToolsBuilder {
    registry: ToolRegistry,
    budget: ListBudget,
    ceiling: Option<Selector>,
    events: Option<(Events, CallScope)>,
}

impl RunToolsBuilder {
    /// Sets how much the list may cost before tools are deferred.
    pub fn budget(mut self, budget: ListBudget) -> Self {
        self.budget = budget;
        self
    }

    /// Keeps the run to these tools: no other is listed, found or can be called.
    pub fn ceiling(mut self, ceiling: Selector) -> Self {
        self.ceiling = Some(ceiling);
        self
    }

    /// Tells observers, as events of this scope's run, when the list costs too much.
    pub fn events(mut self, events: Events, scope: CallScope) -> Self {
        self.events = Some((events, scope));
        self
    }

    /// Makes the list the run begins with, in the order of the names.
    pub fn start(self) -> RunTools {
        let Self { registry, budget, ceiling, events } = self;
        let inner = Arc::new_cyclic(|this| {
            let search = SearchTools::entry(this.clone());
            Inner { budget, ceiling, events, search, state: Mutex::default() }
        });
        let tools = RunTools(inner);
        let excess = tools.0.rebase(&mut tools.state(), registry);
        tools.warn(excess);
        tools
    }
}

/// Says what is listed unasked.
struct Excess {
    tokens: u64,
    tools: u64,
}

/// Says what became of a tool that was to be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loading {
    Loaded,
    Listed,
    Unknown,
}

impl RunTools {
    /// Starts to set a run's list up over these tools.
    pub fn builder(registry: ToolRegistry) -> RunToolsBuilder {
        RunToolsBuilder { registry, budget: ListBudget::default(), ceiling: None, events: None }
    }

    /// Lists what the model is told of; costs one reference count.
    pub fn list(&self) -> Arc<[Arc<ToolSpec>]> {
        Arc::clone(&self.state().list)
    }

    /// Takes the tools that the run's calls are to be executed with; costs one reference count.
    pub fn registry(&self) -> ToolRegistry {
        self.state().registry.clone()
    }

    /// Estimates how many tokens the list costs.
    pub fn tokens(&self) -> u64 {
        self.list().iter().map(|spec| crate::estimate_tokens(spec)).fold(0, u64::saturating_add)
    }

    /// Names the tools that are not as the list says: gone, or changed since they were listed.
    pub fn outdated(&self) -> Vec<ToolName> {
        let state = self.state();
        let is_outdated = |spec: &&Arc<ToolSpec>| {
            let now = state.registry.entry(spec.name().as_str());
            now.is_none_or(|now| !Arc::ptr_eq(&now.spec, spec) && now.version() != spec.version())
        };
        state.listed.iter().filter(is_outdated).map(|spec| spec.name().clone()).collect()
    }

    /// Puts tools at the end of the list for the rest of the run; says which of them were not there before.
    ///
    /// A tool is found by its name or an alias. One that is listed already stays where it is; one that is hidden or
    /// outside the run's ceiling is as one that is not there.
    pub fn load<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Vec<ToolName> {
        let loaded = self.load_each(names).into_iter();
        loaded
            .filter(|(_, loading)| *loading == Loading::Loaded)
            .filter_map(|(spec, _)| Some(spec?.name().clone()))
            .collect()
    }

    /// Goes on with other tools; says what changed among those the run may call.
    ///
    /// Costs nothing where they are the same.
    pub fn update(&self, registry: ToolRegistry) -> CatalogChange {
        let mut state = self.state();
        if state.base.is_same(&registry) {
            return CatalogChange::default();
        }
        let before = state.registry.clone();
        let excess = self.0.rebase(&mut state, registry);
        let after = state.registry.clone();
        drop(state);
        self.warn(excess);
        difference(&before, &after)
    }

    /// Makes the list anew, as at the start of a run; what was loaded has to be found again.
    ///
    /// For when the list need not stay as it is, because the conversation was compacted, say.
    pub fn relist(&self) {
        let mut state = self.state();
        let base = std::mem::take(&mut *state).base;
        let excess = self.0.rebase(&mut state, base);
        drop(state);
        self.warn(excess);
    }

    /// Tells observers of a list that costs too much; never while the list is locked, since they may look at it.
    fn warn(&self, excess: Option<Excess>) {
        let Inner { budget, events, .. } = &*self.0;
        if let (Some(Excess { tokens, tools }), Some((events, scope))) = (excess, events) {
            events.emit(scope, None, || EventKind::ToolsOverBudget { tokens, budget: budget.tokens, tools });
        }
    }

    /// Loads tools by name, and says of each what became of it.
    fn load_each<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Vec<(Option<Arc<ToolSpec>>, Loading)> {
        let mut state = self.state();
        let mut load = |name| {
            let known = state.registry.entry(name).filter(|entry| entry.spec.exposure() != Exposure::Hidden);
            let Some(spec) = known.map(|entry| Arc::clone(&entry.spec)) else {
                return (None, Loading::Unknown);
            };
            let loading = if state.append(&spec) { Loading::Loaded } else { Loading::Listed };
            (Some(spec), loading)
        };
        let loaded = names.into_iter().map(&mut load).collect();
        state.hand_out();
        loaded
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Takes other tools, and lists those of them that are new; says if what is listed unasked came to cost too much.
    fn rebase(&self, state: &mut State, base: ToolRegistry) -> Option<Excess> {
        let Self { budget, ceiling, search, .. } = self;
        let allowed = match ceiling {
            Some(ceiling) => base.filtered(ceiling),
            None => base.clone(),
        };
        let allowed = allowed.without(SEARCH_TOOLS);
        let unlisted: Vec<&Arc<Entry>> = allowed
            .entries()
            .iter()
            .filter(|entry| {
                entry.spec.exposure() != Exposure::Hidden && !state.names.contains(entry.spec.name())
            })
            .collect();
        let may_wait = |entry: &Entry| {
            entry.spec.exposure() == Exposure::Deferred
                || budget.deferrable.as_ref().is_some_and(|deferrable| deferrable.matches(&entry.spec))
        };
        let all = unlisted.iter().map(|entry| entry.tokens()).fold(state.tokens, u64::saturating_add);
        state.is_searching |= all > budget.tokens && unlisted.iter().any(|entry| may_wait(entry));
        let mut next: Vec<Arc<Entry>> = unlisted
            .into_iter()
            .filter(|entry| !state.is_searching || !may_wait(entry))
            .map(Arc::clone)
            .collect();
        if state.is_searching && !state.names.contains(SEARCH_TOOLS) {
            next.push(Arc::clone(search));
            next.sort_by(|one, other| one.spec.name().cmp(other.spec.name()));
        }
        state.registry = if state.is_searching { allowed.with_entry(Arc::clone(search)) } else { allowed };
        state.base = base;
        for entry in &next {
            state.tokens = state.tokens.saturating_add(entry.tokens());
            state.unasked += 1;
            state.append(&entry.spec);
        }
        state.hand_out();
        let is_excessive = !next.is_empty() && state.tokens > budget.tokens;
        is_excessive.then_some(Excess { tokens: state.tokens, tools: state.unasked })
    }
}

impl State {
    /// Puts a tool at the end of the list, unless it is there.
    fn append(&mut self, spec: &Arc<ToolSpec>) -> bool {
        let is_new = self.names.insert(spec.name().clone());
        if is_new {
            self.listed.push(Arc::clone(spec));
        }
        is_new
    }

    /// Makes the list that is handed out the same as what is listed, which only ever grows.
    fn hand_out(&mut self) {
        if self.list.len() != self.listed.len() {
            self.list = self.listed.as_slice().into();
        }
    }
}

impl fmt::Debug for RunTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        let listed: Vec<&str> = state.listed.iter().map(|spec| spec.name().as_str()).collect();
        f.debug_struct("RunTools")
            .field("listed", &listed)
            .field("tools", &state.registry.len())
            .finish_non_exhaustive()
    }
}
