use super::index::RuleIndex;
use super::rule::{Reach, Rule};
use crate::{Access, Resource};
use haft_core::ToolSpec;
use std::sync::OnceLock;

/// Holds rules in three lists: what they deny, what they ask about and what they allow.
///
/// ```
/// use haft_tools_core::{RuleLanguage, Rules};
///
/// let language = RuleLanguage::new();
/// let rules = Rules::new().allow(language.rule("@builtin")?).deny(language.rule("bash")?);
/// assert!(!rules.is_empty());
/// # Ok::<(), haft_tools_core::RuleError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Rules {
    deny: RuleList,
    ask: RuleList,
    allow: RuleList,
}

/// Says what the rules that allow say of an access.
#[derive(Debug, Clone, Copy)]
pub(super) enum Allowing<'a> {
    /// This one allows it.
    By(&'a Rule),
    /// This one chooses tools, and the access is protected.
    NotBy(&'a Rule),
}

impl Rules {
    /// Makes rules that say nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule that lets what it matches run.
    pub fn allow(mut self, rule: Rule) -> Self {
        self.allow.push(rule);
        self
    }

    /// Adds a rule that has a person asked about what it matches.
    pub fn ask(mut self, rule: Rule) -> Self {
        self.ask.push(rule);
        self
    }

    /// Adds a rule that forbids what it matches.
    pub fn deny(mut self, rule: Rule) -> Self {
        self.deny.push(rule);
        self
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.deny.is_empty() && self.ask.is_empty() && self.allow.is_empty()
    }

    /// Tells whether anything is allowed.
    pub(super) fn allow_something(&self) -> bool {
        !self.allow.is_empty()
    }

    /// Finds the first rule that forbids a part of the access. Of a tree whose parts are looked at one by one, that is a rule
    /// that forbids all of it, or its root; of what the tool does without where it is forbidden, one that forbids the tool.
    pub(super) fn denying(&self, tool: &ToolSpec, access: Option<&Access>) -> Option<&Rule> {
        if self.deny.is_empty() {
            return None;
        }
        if access.is_some_and(Access::is_dispensable) {
            return self.deny.first(tool, None, Reach::Part);
        }
        let sifted = access.filter(|access| access.is_sifted()).and_then(Access::resource);
        let Some(tree) = sifted.filter(|resource| resource.is_subtree()) else {
            return self.deny.first(tool, access, Reach::Part);
        };
        let root = Access::read(Resource::exact(tree.scheme().clone(), tree.path()));
        let of_root = self.deny.first(tool, Some(&root), Reach::Part);
        of_root.or_else(|| self.deny.first(tool, access, Reach::Whole))
    }

    /// Finds the first rule that has a part of the access asked about.
    pub(super) fn asking(&self, tool: &ToolSpec, access: Option<&Access>) -> Option<&Rule> {
        self.ask.first(tool, access, Reach::Part)
    }

    /// Finds the first rule that allows all of the access. To a protected one, that is no rule that chooses tools.
    pub(super) fn allowing(
        &self,
        tool: &ToolSpec,
        access: Option<&Access>,
        is_protected: impl Fn() -> bool,
    ) -> Option<Allowing<'_>> {
        let rule = self.allow.first(tool, access, Reach::All)?;
        if !rule.chooses_tools() || !is_protected() {
            return Some(Allowing::By(rule));
        }
        let by_itself = self.allow.first(tool, access, Reach::AllByItself);
        Some(by_itself.map_or(Allowing::NotBy(rule), Allowing::By))
    }
}

/// Holds rules of one decision in their order, and looks them up all at once.
#[derive(Debug, Clone, Default)]
struct RuleList {
    rules: Vec<Rule>,
    index: OnceLock<RuleIndex>,
}

impl RuleList {
    fn push(&mut self, rule: Rule) {
        self.rules.push(rule);
        self.index = OnceLock::new();
    }

    fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    #[inline]
    fn first(&self, tool: &ToolSpec, access: Option<&Access>, reach: Reach) -> Option<&Rule> {
        // Most lists are empty, which costs nothing here.
        if self.is_empty() { None } else { self.first_of_some(tool, access, reach) }
    }

    fn first_of_some(&self, tool: &ToolSpec, access: Option<&Access>, reach: Reach) -> Option<&Rule> {
        /// With fewer rules than this, an index is not worth it.
        const FEW: usize = 8;
        if self.rules.len() <= FEW {
            return self.rules.iter().find(|rule| rule.matches(tool, access, reach));
        }
        let index = self.index.get_or_init(|| RuleIndex::of(&self.rules));
        index.first(&self.rules, tool, access, reach).and_then(|place| self.rules.get(place))
    }
}
