mod admit;
mod builder;
mod declare;
mod entry;

pub use admit::RefusedTool;
pub(crate) use builder::Builder;
pub use declare::{DeclareError, DeclaredCall};
pub(crate) use entry::Entry;

use crate::nearest::nearest;
use crate::search::SearchIndex;
use crate::{Selector, Tool};
use ahash::RandomState;
use haft_core::{Exposure, NameError, Origin, ToolName, ToolSpec};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Holds tools by name: an immutable snapshot, ordered by name, cheap to clone.
///
/// Every change makes a new registry and leaves the old one as it was, so that a run keeps the tools it started a turn
/// with. The order is that of the names, so the list a model is given is the same bytes every time.
///
/// ```
/// use haft_core::ToolError;
/// use haft_tools_core::{Accesses, CallContext, ToolRegistry, tool_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nothing {}
///
/// let ping = tool_fn("ping", "Answers.", Accesses::none(), |_: Nothing, _: CallContext| async {
///     Ok::<_, ToolError>("pong")
/// })?;
/// let registry = ToolRegistry::new().with(ping)?.prefixed("demo")?;
/// assert_eq!(registry.names().collect::<Vec<_>>(), ["demo__ping"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct ToolRegistry(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Ordered by name.
    entries: Vec<Arc<Entry>>,
    /// Names and aliases, each with its place in `entries`.
    index: HashMap<ToolName, usize, RandomState>,
    /// The specifications of `Exposure::Direct`, in order.
    direct: Arc<[Arc<ToolSpec>]>,
    /// Made by the first search.
    search: OnceLock<Arc<SearchIndex>>,
}

/// Says what to do when two tools have one name.
///
/// ```
/// use haft_core::ToolError;
/// use haft_tools_core::{Accesses, CallContext, CollisionPolicy, ToolRegistry, tool_fn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nothing {}
///
/// let ping = |answer: &'static str| {
///     tool_fn("ping", "Answers.", Accesses::none(), move |_: Nothing, _: CallContext| async move {
///         Ok::<_, ToolError>(answer.to_owned())
///     })
/// };
/// let (one, other) = (ToolRegistry::new().with(ping("one")?)?, ToolRegistry::new().with(ping("other")?)?);
/// assert!(one.merge(&other, CollisionPolicy::Refuse).is_err());
/// assert_eq!(one.merge(&other, CollisionPolicy::KeepLast)?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CollisionPolicy {
    /// Refuse, with an error that names both origins.
    #[default]
    Refuse,
    /// Keep the tool that was there first.
    KeepFirst,
    /// Let the later tool take the place.
    KeepLast,
}

/// Says why a registry could not be made.
///
/// ```
/// use haft_core::ToolError;
/// use haft_tools_core::{Accesses, CallContext, RegistryError, ToolRegistry, tool_fn};
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Input {}
/// let greet = || tool_fn("greet", "Greets.", Accesses::none(), |_: Input, _: CallContext| async {
///     Ok::<_, ToolError>("Good morning.")
/// });
/// let error = ToolRegistry::new().with(greet()?)?.with(greet()?).unwrap_err();
/// assert!(matches!(error, RegistryError::Collision { name, .. } if name.as_str() == "greet"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two tools have one name.
    #[error(
        "two tools are called `{name}`: one from {first}, one from {second}; prefix or rename one of them"
    )]
    Collision {
        /// The name.
        name: ToolName,
        /// Where the first is from.
        first: Box<Origin>,
        /// Where the second is from.
        second: Box<Origin>,
    },
    /// A tool's schema cannot be compiled.
    #[error("the {which} schema of the tool `{name}` cannot be used: {reason}")]
    Schema {
        /// The tool.
        name: ToolName,
        /// `input` or `output`.
        which: &'static str,
        /// Why; at most 1,000 characters.
        reason: String,
    },
    /// A tool panicked when it was asked to describe itself.
    #[error("a tool cannot be used, because it panicked when it was asked to describe itself: {message}")]
    Panicked {
        /// What the panic said, at most 300 characters of it.
        message: String,
    },
    /// A source offers more tools than are taken of one.
    #[error("{count} tools are too many; the first {most} of them were taken")]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many are taken.
        most: usize,
    },
    /// A name is kept for a tool of haft's own.
    #[error("the name `{name}` is kept for the tool that searches for others; rename the tool or prefix it")]
    Reserved {
        /// The name.
        name: ToolName,
    },
    /// There is no tool of this name.
    #[error("there is no tool called `{name}` in this registry")]
    Unknown {
        /// The name.
        name: String,
    },
    /// A name cannot be a tool name.
    #[error(transparent)]
    Name(#[from] NameError),
}

impl ToolRegistry {
    /// Makes a registry without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a registry of many tools at once; costs one sort, where adding them one by one copies each time.
    ///
    /// # Errors
    ///
    /// When two tools have one name, a schema does not compile or a tool panics. [`ToolRegistry::admit`] leaves such tools
    /// out instead.
    pub fn of(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Result<Self, RegistryError> {
        let mut builder = Builder::default();
        for tool in tools {
            builder.add(Entry::new(tool)?, CollisionPolicy::Refuse)?;
        }
        Ok(builder.finish())
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// When there is a tool of that name already, its schema does not compile or it panics.
    pub fn with(&self, tool: impl Tool) -> Result<Self, RegistryError> {
        let mut builder = self.rebuild();
        builder.add(Entry::new(Arc::new(tool))?, CollisionPolicy::Refuse)?;
        Ok(builder.finish())
    }

    /// Adds the tools and aliases of another registry.
    ///
    /// # Errors
    ///
    /// When both have a name and `collisions` is [`CollisionPolicy::Refuse`].
    pub fn merge(&self, other: &Self, collisions: CollisionPolicy) -> Result<Self, RegistryError> {
        let mut builder = self.rebuild();
        for entry in &other.0.entries {
            builder.add(Arc::clone(entry), collisions)?;
        }
        for (alias, entry) in other.aliases() {
            builder.alias(alias.clone(), entry.spec.name().clone(), collisions)?;
        }
        Ok(builder.finish())
    }

    /// Puts every tool into a namespace: `create_issue` becomes `github__create_issue`.
    ///
    /// A name that would be too long or invalid is projected by [`ToolName::project`]; aliases are dropped.
    ///
    /// # Errors
    ///
    /// When two names meet.
    pub fn prefixed(&self, namespace: &str) -> Result<Self, RegistryError> {
        let mut builder = Builder::default();
        for entry in &self.0.entries {
            let name = ToolName::project(&format!("{namespace}__{}", entry.spec.name()));
            builder.add(entry.renamed(name), CollisionPolicy::Refuse)?;
        }
        Ok(builder.finish())
    }

    /// Gives a tool another name; its origin stays, its aliases go.
    ///
    /// # Errors
    ///
    /// When there is no tool `from`, `to` is not a tool name, or `to` is taken.
    pub fn renamed(&self, from: &str, to: &str) -> Result<Self, RegistryError> {
        let old = self.known(from)?.spec.name().clone();
        let mut builder = self.rebuild();
        if let Some(entry) = builder.entries.remove(&old) {
            builder.aliases.retain(|_, target| *target != old);
            builder.add(entry.renamed(to.parse()?), CollisionPolicy::Refuse)?;
        }
        Ok(builder.finish())
    }

    /// Lets a call reach a tool by a second name, which the model is not told.
    ///
    /// # Errors
    ///
    /// When there is no tool `name`, `alias` is not a tool name, or `alias` is taken.
    pub fn aliased(&self, alias: &str, name: &str) -> Result<Self, RegistryError> {
        let target = self.known(name)?.spec.name().clone();
        let mut builder = self.rebuild();
        builder.alias(alias.parse()?, target, CollisionPolicy::Refuse)?;
        Ok(builder.finish())
    }

    /// Keeps only the tools that are chosen, with their aliases.
    pub fn filtered(&self, selector: &Selector) -> Self {
        let mut builder = self.rebuild();
        builder.entries.retain(|_, entry| selector.matches(&entry.spec));
        let Builder { entries, aliases } = &mut builder;
        aliases.retain(|_, target| entries.contains_key(target));
        builder.finish()
    }

    /// Takes the chosen tools off the list the model is given; the host and other tools can still call them.
    pub fn hidden(&self, selector: &Selector) -> Self {
        self.map(|entry| {
            if selector.matches(&entry.spec) { entry.exposed(Exposure::Hidden) } else { Arc::clone(entry) }
        })
    }

    /// Takes the chosen tools' arguments as they are, without schema-guided repair.
    pub fn without_repair(&self, selector: &Selector) -> Self {
        self.map(|entry| if selector.matches(&entry.spec) { entry.unrepaired() } else { Arc::clone(entry) })
    }

    /// Counts the tools, hidden ones included and aliases not.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Tells whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    /// Borrows the specification of a tool, found by its name or an alias.
    pub fn get(&self, name: &str) -> Option<&ToolSpec> {
        self.entry(name).map(|entry| &*entry.spec)
    }

    /// Iterates over the names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.entries.iter().map(|entry| entry.spec.name().as_str())
    }

    /// Iterates over all specifications, hidden ones included, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &ToolSpec> {
        self.0.entries.iter().map(|entry| &*entry.spec)
    }

    /// Lists what a model is told at the start of every turn, in the order of the names; costs one reference count.
    pub fn direct_specs(&self) -> Arc<[Arc<ToolSpec>]> {
        Arc::clone(&self.0.direct)
    }

    /// Estimates how many tokens it costs to tell a model of a tool, found by its name or an alias.
    ///
    /// See [`estimate_tokens`](crate::estimate_tokens); computed once for each tool.
    pub fn tokens(&self, name: &str) -> Option<u64> {
        self.entry(name).map(|entry| entry.tokens())
    }

    /// Estimates how many tokens the list of [`ToolRegistry::direct_specs`] costs; looks at every tool.
    pub fn direct_tokens(&self) -> u64 {
        let direct = self.0.entries.iter().filter(|entry| entry.spec.exposure() == Exposure::Direct);
        direct.map(|entry| entry.tokens()).fold(0, u64::saturating_add)
    }

    /// Finds the tools whose names are most like this one: at most three, the likest first.
    ///
    /// Aliases are compared too, but the tool's own name is given; hidden tools stay hidden.
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        let known = self.0.index.keys().filter(|known| {
            self.entry(known.as_str()).is_some_and(|entry| entry.spec.exposure() != Exposure::Hidden)
        });
        let mut tools: Vec<&str> = Vec::new();
        for near in nearest(name, known.map(ToolName::as_str)) {
            if let Some(tool) = self.get(near).map(|spec| spec.name().as_str())
                && !tools.contains(&tool)
            {
                tools.push(tool);
            }
        }
        tools
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Arc<Entry>> {
        self.find(name).map(|(_, entry)| entry)
    }

    /// Finds a tool by its name or an alias, with its place in the order of the names.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, &Arc<Entry>)> {
        self.0.index.get(name).map(|place| (*place, &self.0.entries[*place]))
    }

    /// Borrows the tools, in the order of their names.
    pub(crate) fn entries(&self) -> &[Arc<Entry>] {
        &self.0.entries
    }

    pub(crate) fn search_index(&self) -> &OnceLock<Arc<SearchIndex>> {
        &self.0.search
    }

    /// Tells whether both hold the very same tools under the same names, so that what was made of one holds for the other.
    ///
    /// Costs nothing for clones, and a look at every tool otherwise.
    pub fn is_same(&self, other: &Self) -> bool {
        let (one, another) = (&*self.0, &*other.0);
        let are_same = |(one, another): (&Arc<Entry>, &Arc<Entry>)| Arc::ptr_eq(one, another);
        if Arc::ptr_eq(&self.0, &other.0) {
            return true;
        }
        one.entries.len() == another.entries.len()
            && one.entries.iter().zip(&another.entries).all(are_same)
            && one.index == another.index
    }

    /// Goes on using the search index of an earlier registry, where every specification is still the same.
    pub(crate) fn take_over_search(&self, earlier: &Self) {
        let (old, new) = (&earlier.0.entries, &self.0.entries);
        let are_same =
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| Arc::ptr_eq(&old.spec, &new.spec));
        if let Some(index) = earlier.0.search.get().filter(|_| are_same) {
            // One that was made meanwhile is as good.
            let _ = self.0.search.set(Arc::clone(index));
        }
    }

    /// Takes a tool away, with its aliases, where there is one of this name.
    pub(crate) fn without(&self, name: &str) -> Self {
        if !self.0.index.contains_key(name) {
            return self.clone();
        }
        let mut builder = self.rebuild();
        builder.entries.remove(name);
        builder.aliases.retain(|alias, target| alias.as_str() != name && target.as_str() != name);
        builder.finish()
    }

    /// Adds a tool, in place of one that has its name.
    pub(crate) fn with_entry(&self, entry: Arc<Entry>) -> Self {
        let mut builder = self.rebuild();
        // What is added last stays, so there is no collision.
        let _ = builder.add(entry, CollisionPolicy::KeepLast);
        builder.finish()
    }

    fn known(&self, name: &str) -> Result<&Arc<Entry>, RegistryError> {
        self.entry(name).ok_or_else(|| RegistryError::Unknown { name: name.to_owned() })
    }

    pub(crate) fn aliases(&self) -> impl Iterator<Item = (&ToolName, &Arc<Entry>)> {
        let named = self.0.index.iter().map(|(name, place)| (name, &self.0.entries[*place]));
        named.filter(|(name, entry)| *name != entry.spec.name())
    }

    fn map(&self, change: impl Fn(&Arc<Entry>) -> Arc<Entry>) -> Self {
        let mut builder = self.rebuild();
        for entry in builder.entries.values_mut() {
            *entry = change(entry);
        }
        builder.finish()
    }

    fn rebuild(&self) -> Builder {
        Builder {
            entries: self
                .0
                .entries
                .iter()
                .map(|entry| (entry.spec.name().clone(), Arc::clone(entry)))
                .collect(),
            aliases: self
                .aliases()
                .map(|(alias, entry)| (alias.clone(), entry.spec.name().clone()))
                .collect(),
        }
    }
}

impl fmt::Debug for ToolRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
