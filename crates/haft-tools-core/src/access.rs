mod form;
mod resource;

pub(crate) use resource::Extent;
pub use resource::{Resource, ResourceError, Scheme};

use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Says what a call does with a resource.
///
/// ```
/// use haft_tools_core::AccessMode;
///
/// // Displayed as policies write it; as data it has its whole name.
/// assert_eq!(AccessMode::Execute.to_string(), "exec");
/// assert_eq!(serde_json::to_value(AccessMode::Execute)?, "execute");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessMode {
    /// Looks at it.
    Read,
    /// Makes, changes or removes it.
    Write,
    /// Runs it.
    Execute,
    /// Opens a connection to it.
    Connect,
    /// Asks a remote party to do it.
    Call,
}

impl fmt::Display for AccessMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Execute => "exec",
            Self::Connect => "connect",
            Self::Call => "call",
        })
    }
}

/// Declares one thing that running a call will do, or that it cannot be told.
///
/// The same declaration decides whether the call may run, what it must wait for, what a person is shown and what is
/// recorded. Resources must be resolved (symlinks too) before they are declared.
///
/// ```
/// use haft_tools_core::{Access, Resource, Scheme};
///
/// const FILE: Scheme = Scheme::new("file");
/// let read = Access::read(Resource::exact(FILE, "src/lib.rs"));
/// let write = Access::write(Resource::subtree(FILE, "src"));
/// assert!(read.conflicts_with(&write));
/// assert!(!read.conflicts_with(&read));
/// assert!(Access::opaque("a script that cannot be read").conflicts_with(&read));
/// assert_eq!(write.to_string(), "write file:src/**");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Access {
    target: Target,
    detail: Option<Box<str>>,
    order: Order,
    /// Where the place that counts for ordering is wider than the resource: how many bytes of the resource's path name
    /// it, and one more.
    within: Option<NonZeroU32>,
    /// Whether all that it leads to is decided as calls of runs below.
    delegates: bool,
    /// Whether the tool itself passes by what is denied.
    sifted: bool,
    /// Whether the tool does without it where it is denied.
    dispensable: bool,
}

/// Says what the access may overlap with in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// With what touches something else.
    #[default]
    Usual,
    /// With others of its kind too: it changes nothing that they could see.
    Shared,
    /// With nothing.
    Exclusive,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Target {
    Resource { mode: AccessMode, resource: Resource },
    Opaque,
}

impl Order {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
    fn is_usual(&self) -> bool {
        *self == Self::Usual
    }
}

impl Access {
    /// Declares that the call does something with a resource.
    pub fn new(mode: AccessMode, resource: Resource) -> Self {
        let order = match mode {
            AccessMode::Read | AccessMode::Connect => Order::Shared,
            AccessMode::Write | AccessMode::Execute | AccessMode::Call => Order::Usual,
        };
        Self {
            target: Target::Resource { mode, resource },
            detail: None,
            order,
            within: None,
            delegates: false,
            sifted: false,
            dispensable: false,
        }
    }

    /// Declares that the call looks at a resource.
    pub fn read(resource: Resource) -> Self {
        Self::new(AccessMode::Read, resource)
    }

    /// Declares that the call makes, changes or removes a resource.
    pub fn write(resource: Resource) -> Self {
        Self::new(AccessMode::Write, resource)
    }

    /// Declares that the call runs a command.
    pub fn execute(resource: Resource) -> Self {
        Self::new(AccessMode::Execute, resource)
    }

    /// Declares that the call connects to a host.
    pub fn connect(resource: Resource) -> Self {
        Self::new(AccessMode::Connect, resource)
    }

    /// Declares that the call asks a remote party to do something.
    pub fn call(resource: Resource) -> Self {
        Self::new(AccessMode::Call, resource)
    }

    /// Declares that the call starts runs below its own and does nothing else: whatever these do is decided call by call, in
    /// the scope of a run below, whose modes and ceilings are never wider.
    ///
    /// It is an access of the kind [`Call`](AccessMode::Call), and is decided by the rules for those. Unlike other calls it may
    /// overlap in time with others, since runs order what they touch themselves, and [`Mode::Plan`](crate::Mode::Plan) leaves
    /// it to the rules.
    ///
    /// ```
    /// use haft_tools_core::{Access, Resource, Scheme};
    ///
    /// let explore = Access::delegate(Resource::exact(Scheme::new("agent"), "explorer"));
    /// assert_eq!(explore.to_string(), "call agent:explorer");
    /// assert!(!explore.conflicts_with(&explore));
    /// ```
    pub fn delegate(resource: Resource) -> Self {
        Self { order: Order::Shared, delegates: true, ..Self::call(resource) }
    }

    /// Declares that the call does something which cannot be told beforehand; says what, for the person who is asked.
    pub fn opaque(detail: impl Into<Box<str>>) -> Self {
        Self {
            target: Target::Opaque,
            detail: Some(detail.into()),
            order: Order::Exclusive,
            within: None,
            delegates: false,
            sifted: false,
            dispensable: false,
        }
    }

    /// Adds what a person should know besides, such as the arguments of a command.
    pub fn with_detail(mut self, detail: impl Into<Box<str>>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Lets the access overlap in time with others of its resource, because it changes nothing there.
    ///
    /// This relaxes ordering only, never a permission; an opaque access stays exclusive.
    pub fn unordered(mut self) -> Self {
        if !self.is_opaque() {
            self.order = Order::Shared;
        }
        self
    }

    /// Lets the access overlap in time with nothing, because what it touches besides its resource cannot be told.
    ///
    /// This is about ordering only: whether it may happen is decided by its resource alone, as for a command of which
    /// it is known how it is called and not what it does.
    ///
    /// ```
    /// use haft_tools_core::{Access, Resource, Scheme};
    ///
    /// let make = Access::execute(Resource::exact(Scheme::new("exec"), "make test")).exclusive();
    /// let read = Access::read(Resource::exact(Scheme::new("file"), "notes.md"));
    /// assert!(make.conflicts_with(&read));
    /// ```
    pub fn exclusive(mut self) -> Self {
        self.order = Order::Exclusive;
        self
    }

    /// Has the tool itself pass by what may not be read, so that a rule which denies a part does not deny the whole.
    ///
    /// Whoever declares it asks [`CallContext::denies`](crate::CallContext::denies) about everything in the resource before it
    /// looks at it, its name included. A rule that denies all of the resource, its root or the tool denies the call as ever,
    /// and what is to be asked about is asked about for the whole. Only reads can be sifted; it does nothing to other accesses.
    ///
    /// ```
    /// use haft_core::{Decision, Schema, ToolSpec};
    /// use haft_tools_core::{Access, AccessMode, Accesses, Policy, Resource, Rule, Scheme};
    ///
    /// const FILE: Scheme = Scheme::new("file");
    /// let policy = Policy::new()
    ///     .allow(Rule::access(AccessMode::Read, Resource::subtree(FILE, "")))
    ///     .deny(Rule::access(AccessMode::Read, Resource::subtree(FILE, "keys")));
    ///
    /// let tool = ToolSpec::new("grep".parse()?, "Searches.", Schema::empty());
    /// let read = |path: &str| Access::read(Resource::subtree(FILE, path));
    /// let decide = |access: Access| policy.decide(&tool, &Accesses::from(access)).decision();
    /// assert_eq!(decide(read("")), Decision::Deny);
    /// assert_eq!(decide(read("").sifted()), Decision::Allow);
    /// assert_eq!(decide(read("keys/old").sifted()), Decision::Deny);
    /// # Ok::<(), haft_core::NameError>(())
    /// ```
    pub fn sifted(mut self) -> Self {
        self.sifted = self.mode() == Some(AccessMode::Read);
        self
    }

    /// Has the tool do without it where it may not be read, so that a rule which denies it does not deny the call.
    ///
    /// It is for what a tool looks at besides, such as the ignore files above a directory that is searched. Whoever declares it
    /// asks [`CallContext::denies`](crate::CallContext::denies) before it looks at it. A rule that denies the tool denies the
    /// call as ever, and what is to be asked about is asked about. Only reads can be done without; it does nothing to other
    /// accesses.
    ///
    /// ```
    /// use haft_core::{Decision, Schema, ToolSpec};
    /// use haft_tools_core::{Access, AccessMode, Accesses, Policy, Resource, Rule, Scheme};
    ///
    /// const FILE: Scheme = Scheme::new("file");
    /// let policy = Policy::new()
    ///     .allow(Rule::access(AccessMode::Read, Resource::subtree(FILE, "")))
    ///     .deny(Rule::access(AccessMode::Read, Resource::subtree(FILE, ".git")));
    ///
    /// let tool = ToolSpec::new("grep".parse()?, "Searches.", Schema::empty());
    /// let rules = || Access::read(Resource::exact(FILE, ".git/info/exclude"));
    /// let decide = |access: Access| policy.decide(&tool, &Accesses::from(access)).decision();
    /// assert_eq!(decide(rules()), Decision::Deny);
    /// assert_eq!(decide(rules().dispensable()), Decision::Allow);
    /// # Ok::<(), haft_core::NameError>(())
    /// ```
    pub fn dispensable(mut self) -> Self {
        self.dispensable = self.mode() == Some(AccessMode::Read);
        self
    }

    /// Has the access ordered as if it touched a wider place and everything below it, because what it does to its
    /// resource can be seen elsewhere in that place, too.
    ///
    /// This is about ordering only: whether it may happen is decided by its resource alone, as for a tool of a remote
    /// server, where every call may change what the others see. A place that the resource does not lie below is too
    /// narrow to order by, and makes the access [exclusive](Self::exclusive).
    ///
    /// ```
    /// use haft_tools_core::{Access, Resource, Scheme};
    ///
    /// const MCP: Scheme = Scheme::new("mcp");
    /// let call = |tool: &str| Access::call(Resource::exact(MCP, tool)).ordered_in(&Resource::exact(MCP, "github"));
    /// assert!(call("github/open_issue").conflicts_with(&call("github/list_issues")));
    /// assert_eq!(call("github/open_issue").to_string(), "call mcp:github/open_issue");
    /// ```
    pub fn ordered_in(mut self, place: &Resource) -> Self {
        let is_above = self.resource().is_some_and(|resource| place.is_above(resource));
        match u32::try_from(place.path().len()).ok().and_then(|bytes| NonZeroU32::MIN.checked_add(bytes)) {
            Some(within) if is_above => {
                self.within = Some(within);
                self
            }
            _ => self.exclusive(),
        }
    }

    /// What is done; `None` for an opaque access.
    pub fn mode(&self) -> Option<AccessMode> {
        match &self.target {
            Target::Resource { mode, .. } => Some(*mode),
            Target::Opaque => None,
        }
    }

    /// What it is done with; `None` for an opaque access.
    pub fn resource(&self) -> Option<&Resource> {
        match &self.target {
            Target::Resource { resource, .. } => Some(resource),
            Target::Opaque => None,
        }
    }

    /// Tells whether the access may overlap in time with others of its kind.
    pub(crate) fn is_shared(&self) -> bool {
        self.order == Order::Shared
    }

    /// The place that others may be in the way of; `None` if it is everywhere.
    pub(crate) fn place(&self) -> Option<Extent<'_>> {
        let resource = self.resource().filter(|_| self.order != Order::Exclusive)?;
        match self.within {
            None => Some(Extent::of(resource)),
            Some(within) => Some(Extent::above(resource, within.get() as usize - 1)),
        }
    }

    /// The place that it is ordered by, where that is wider than its resource.
    fn wider(&self) -> Option<Resource> {
        let (resource, within) = self.resource().zip(self.within)?;
        let place = Extent::above(resource, within.get() as usize - 1);
        Some(Resource::subtree(place.scheme.clone(), place.path))
    }

    /// What a person should know besides.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// Tells whether what the call does cannot be told beforehand.
    pub fn is_opaque(&self) -> bool {
        matches!(self.target, Target::Opaque)
    }

    /// Tells whether the call starts runs below its own by it and does nothing else.
    pub fn is_delegation(&self) -> bool {
        self.delegates
    }

    /// Tells whether the tool itself passes by what is denied.
    pub fn is_sifted(&self) -> bool {
        self.sifted
    }

    /// Tells whether the tool does without it where it is denied.
    pub fn is_dispensable(&self) -> bool {
        self.dispensable
    }

    /// Tells whether the two must not overlap in time.
    ///
    /// They conflict when at least one of them changes something and their resources, or the [places](Self::ordered_in)
    /// they are ordered by, have something in common; an opaque or [exclusive](Self::exclusive) access conflicts with
    /// everything. What changes a path may make or remove it, and so stands in the way of everything below it, too.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        let (Some(mine), Some(others)) = (self.place(), other.place()) else { return true };
        let apart = self.is_shared() && other.is_shared();
        !apart
            && (mine.overlaps(others)
                || (!self.is_shared() && mine.is_above(others))
                || (!other.is_shared() && others.is_above(mine)))
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.target, &self.detail) {
            (Target::Resource { mode, resource }, _) => write!(f, "{mode} {resource}"),
            (Target::Opaque, Some(detail)) => {
                f.write_str("opaque (")?;
                detail.chars().try_for_each(|character| resource::write_visibly(f, character))?;
                f.write_str(")")
            }
            (Target::Opaque, None) => f.write_str("opaque"),
        }
    }
}

/// Lists everything that running a call will do.
///
/// A tool cannot prepare a call without it; that there is nothing to declare has to be said with [`Accesses::none`].
///
/// ```
/// use haft_tools_core::{Access, Accesses, Resource, Scheme};
///
/// const NET: Scheme = Scheme::new("net");
/// let accesses = Accesses::from([Access::connect(Resource::exact(NET, "api.example.org:443"))]);
/// assert_eq!(accesses.iter().count(), 1);
/// ```
///
/// ```
/// use haft_tools_core::{Access, Accesses, Resource, Scheme};
///
/// const NOTE: Scheme = Scheme::new("note");
///
/// let one: Accesses = Access::read(Resource::exact(NOTE, "plan")).into();
/// assert_eq!(one.iter().map(ToString::to_string).collect::<Vec<_>>(), ["read note:plan"]);
/// assert!(Accesses::none().iter().next().is_none());
/// ```
// `None` stands for an empty list, so that most of what computes costs no count of references.
#[derive(Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "Vec<Access>")]
pub struct Accesses(Option<Arc<[Access]>>);

impl Accesses {
    /// Declares that the call touches nothing outside its own memory: it computes.
    ///
    /// Whether it may run is still decided, by the rules that name the tool.
    pub const fn none() -> Self {
        Self(None)
    }

    /// Iterates over the accesses in the order in which they were declared.
    pub fn iter(&self) -> std::slice::Iter<'_, Access> {
        self.as_slice().iter()
    }

    /// Tells whether nothing was declared.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Counts the accesses.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Tells whether any access of the one conflicts with any of the other.
    pub fn conflict_with(&self, other: &Self) -> bool {
        self.iter().any(|mine| other.iter().any(|others| mine.conflicts_with(others)))
    }

    fn as_slice(&self) -> &[Access] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<Access> for Accesses {
    fn from(access: Access) -> Self {
        Self(Some(Arc::new([access])))
    }
}

impl<const N: usize> From<[Access; N]> for Accesses {
    fn from(accesses: [Access; N]) -> Self {
        Self((N > 0).then(|| Arc::new(accesses) as _))
    }
}

impl FromIterator<Access> for Accesses {
    fn from_iter<I: IntoIterator<Item = Access>>(accesses: I) -> Self {
        accesses.into_iter().collect::<Vec<_>>().into()
    }
}

impl From<Vec<Access>> for Accesses {
    fn from(accesses: Vec<Access>) -> Self {
        Self((!accesses.is_empty()).then(|| accesses.into()))
    }
}

impl Serialize for Accesses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl fmt::Debug for Accesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<'a> IntoIterator for &'a Accesses {
    type Item = &'a Access;
    type IntoIter = std::slice::Iter<'a, Access>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
