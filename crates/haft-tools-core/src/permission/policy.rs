use crate::{Access, AccessMode, Accesses, Resource, Selector};
use haft_core::{Decision, ToolSpec};
use std::fmt;

/// Decides what a call may touch: rules in the order deny, ask, allow, and [`Decision::Ask`] where no rule speaks.
///
/// Each access of a call is decided on its own and the strictest decision wins. Within one decision the rules are tried
/// in the order in which they were added; the first that matches is the one that is named.
///
/// Allowing is strict and denying is not: an allow rule must contain all of what an access declares, while a deny or
/// ask rule needs only to have something in common with it. An opaque access is matched by rules that name the tool,
/// and by no other. Tools that are explicit only are passed by by the wildcards of allow rules, and not by those of deny
/// and ask rules.
///
/// ```
/// use haft_core::{Decision, Schema, ToolSpec};
/// use haft_tools_core::{Access, AccessMode, Accesses, Policy, Resource, Rule, Scheme};
///
/// const FILE: Scheme = Scheme::new("file");
/// let policy = Policy::new()
///     .allow(Rule::access(AccessMode::Read, Resource::subtree(FILE, "")))
///     .deny(Rule::access(AccessMode::Read, Resource::exact(FILE, ".env")));
///
/// let tool = ToolSpec::new("read_file".parse()?, "Reads a file.", Schema::empty());
/// let read = |path: &str| Accesses::from(Access::read(Resource::exact(FILE, path)));
/// assert_eq!(policy.decide(&tool, &read("src/lib.rs")).decision(), Decision::Allow);
/// assert_eq!(policy.decide(&tool, &read(".env")).decision(), Decision::Deny);
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Policy {
    deny: Vec<Rule>,
    ask: Vec<Rule>,
    allow: Vec<Rule>,
}

/// Matches accesses: those of chosen tools, or those of one mode within a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule(Matcher);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Matcher {
    Tools(Selector),
    Access { mode: AccessMode, within: Resource },
}

/// Says what was decided, and which rule decided it.
#[derive(Debug, Clone, Copy)]
pub struct Verdict<'a> {
    decision: Decision,
    rule: Option<&'a Rule>,
    access: Option<&'a Access>,
}

impl Rule {
    /// Matches everything that the chosen tools do, opaque accesses included.
    pub fn tools(selector: Selector) -> Self {
        Self(Matcher::Tools(selector))
    }

    /// Matches accesses of one mode within a resource, whatever the tool.
    pub fn access(mode: AccessMode, within: Resource) -> Self {
        Self(Matcher::Access { mode, within })
    }

    /// Tells whether the rule speaks of the access; one that it reaches only in part or by a wildcard is matched if
    /// `partly`.
    fn matches(&self, tool: &ToolSpec, access: Option<&Access>, partly: bool) -> bool {
        match &self.0 {
            Matcher::Tools(selector) if partly => selector.concerns(tool),
            Matcher::Tools(selector) => selector.matches(tool),
            Matcher::Access { mode, within } => access.is_some_and(|access| {
                access.mode() == Some(*mode)
                    && access
                        .resource()
                        .is_some_and(|used| within.contains(used) || (partly && within.overlaps(used)))
            }),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Matcher::Tools(selector) => selector.fmt(f),
            Matcher::Access { mode, within } => write!(f, "{mode}({within})"),
        }
    }
}

impl Policy {
    /// Makes a policy without rules: everything is asked.
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

    /// Decides whether a call of the tool with these accesses may run.
    pub fn decide<'a>(&'a self, tool: &ToolSpec, accesses: &'a Accesses) -> Verdict<'a> {
        if accesses.is_empty() {
            return self.decide_one(tool, None);
        }
        let mut strictest: Option<Verdict<'a>> = None;
        for access in accesses {
            let verdict = self.decide_one(tool, Some(access));
            if strictest.is_none_or(|so_far| verdict.decision > so_far.decision) {
                strictest = Some(verdict);
            }
            if verdict.decision == Decision::Deny {
                break;
            }
        }
        strictest.unwrap_or(Verdict { decision: Decision::Ask, rule: None, access: None })
    }

    /// Decides every access on its own, in the order in which they were declared.
    ///
    /// A call that declares none gets the one verdict on the tool.
    pub fn explain<'a>(&'a self, tool: &ToolSpec, accesses: &'a Accesses) -> Vec<Verdict<'a>> {
        if accesses.is_empty() {
            return vec![self.decide_one(tool, None)];
        }
        accesses.iter().map(|access| self.decide_one(tool, Some(access))).collect()
    }

    fn decide_one<'a>(&'a self, tool: &ToolSpec, access: Option<&'a Access>) -> Verdict<'a> {
        let levels =
            [(Decision::Deny, &self.deny), (Decision::Ask, &self.ask), (Decision::Allow, &self.allow)];
        for (decision, rules) in levels {
            let partly = decision != Decision::Allow;
            if let Some(rule) = rules.iter().find(|rule| rule.matches(tool, access, partly)) {
                return Verdict { decision, rule: Some(rule), access };
            }
        }
        Verdict { decision: Decision::Ask, rule: None, access }
    }
}

impl<'a> Verdict<'a> {
    /// What was decided.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// The rule behind it; `None` where no rule speaks of the access.
    pub fn rule(&self) -> Option<&'a Rule> {
        self.rule
    }

    /// The access it is about; `None` for a call that declares none.
    pub fn access(&self) -> Option<&'a Access> {
        self.access
    }
}

/// Reads as a reason: `write file:src/lib.rs: ask, no rule speaks of it`.
impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(access) = self.access {
            write!(f, "{access}: ")?;
        }
        match self.rule {
            Some(rule) => write!(f, "{} by the rule {rule}", self.decision),
            None => write!(f, "{}, no rule speaks of it", self.decision),
        }
    }
}
