use super::mode::{Mode, ModeSet};
use super::rule::Rule;
use super::rules::{Allowing, Rules};
use super::verdict::{Cause, Level, ModeOf, Verdict};
use crate::{Access, AccessMode, Accesses, CallScope, RuleLanguage};
use haft_core::{Decision, ToolSpec};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Decides what a call may touch: rules in the order deny, ask, allow, and [`Decision::Ask`] where no rule speaks.
///
/// Each access of a call is decided on its own and the strictest decision wins. Within one list the rules are tried in the
/// order in which they were added; the first that matches is the one that is named.
///
/// Allowing is strict and denying is not: an allow rule must contain all of what an access declares, while a deny or
/// ask rule needs only to have something in common with it. An opaque access is matched by rules that name the tool or
/// say `opaque`, and by no other. Tools that are explicit only are passed by by the wildcards of allow rules, and not by
/// those of deny and ask rules.
///
/// What the [language](Self::language) of the policy [protects](RuleLanguage::protects) is allowed by rules about it and by no
/// rule that chooses tools, not even by `*`.
///
/// # Layers
///
/// Rules come in [`PolicyLayer`]s, from the first, which weighs most, to the last, which is the most particular. A deny
/// rule of any layer holds whatever the layers after it say. Otherwise the last layer that speaks of the access decides,
/// its ask rules before its allow rules. What a layer that is not trusted allows does not count: it can only take away.
///
/// # Agents
///
/// A call is decided level by level, and the strictest level wins: by the layers, which hold for every agent; by the rules
/// of the agent that makes the call; and by the ceilings of that agent and of each above it. So are the modes: the executor's,
/// and each that was [given](CallScope::with_mode) to the run of the call or one above it, of which none opens what another
/// does not. An agent without a ceiling of
/// its own has its own rules for one, so that what it starts is never wider than it is. Rules of an agent take away from what the layers let through: where
/// they list something as allowed, all else is asked about, and where they do not, what they do not speak of is left as it
/// is.
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
    layers: Layers,
    agents: BTreeMap<Box<str>, AgentPolicy>,
    accept_edits: Rules,
    auto: Rules,
    language: RuleLanguage,
}

/// Holds the rules of one source of a policy, such as the user's file.
///
/// ```
/// use haft_core::{Decision, Schema, ToolSpec};
/// use haft_tools_core::{Access, AccessMode, Accesses, PolicyLayer, Policy, Resource, Rule, Rules, Scheme};
///
/// const FILE: Scheme = Scheme::new("file");
/// let reads = || Rule::access(AccessMode::Read, Resource::subtree(FILE, ""));
/// let yours = PolicyLayer::new("yours", Rules::default().deny(reads()));
/// let project = PolicyLayer::new("the project's", Rules::default().allow(reads())).untrusted();
/// let policy = Policy::layered([yours, project]);
///
/// let tool = ToolSpec::new("read_file".parse()?, "Reads a file.", Schema::empty());
/// let read = Accesses::from(Access::read(Resource::exact(FILE, "notes.md")));
/// assert_eq!(policy.decide(&tool, &read).decision(), Decision::Deny);
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct PolicyLayer {
    name: Arc<str>,
    rules: Rules,
    untrusted: bool,
}

/// Holds what one agent may do beyond what holds for all: its own rules, and the ceiling of what it starts.
///
/// ```
/// use haft_core::{Decision, Schema, ToolSpec};
/// use haft_tools_core::{Access, AccessMode, Accesses, AgentPolicy, CallScope, PolicyLayer, Policy, Resource, Rule, Rules, Scheme};
///
/// const FILE: Scheme = Scheme::new("file");
/// let reads = || Rule::access(AccessMode::Read, Resource::subtree(FILE, ""));
/// let blind = AgentPolicy::new([PolicyLayer::new("writer", Rules::default().deny(reads()))]);
/// let policy = Policy::new().allow(reads()).agent("writer", blind);
///
/// let tool = ToolSpec::new("read_file".parse()?, "Reads a file.", Schema::empty());
/// let read = Accesses::from(Access::read(Resource::exact(FILE, "notes.md")));
/// let scope = CallScope::new("run-1".parse()?).with_agent("writer");
/// assert_eq!(policy.decide(&tool, &read).decision(), Decision::Allow);
/// assert_eq!(policy.decide_in(&scope, Default::default(), &tool, &read).decision(), Decision::Deny);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct AgentPolicy {
    own: Layers,
    ceiling: Option<Layers>,
}

/// Holds layers, the weightiest first.
#[derive(Debug, Clone, Default)]
struct Layers(Vec<PolicyLayer>);

impl PolicyLayer {
    /// Makes a layer of rules, under a name that people know it by.
    pub fn new(name: impl Into<Arc<str>>, rules: Rules) -> Self {
        Self { name: name.into(), rules, untrusted: false }
    }

    /// Lets the layer only take away, because whoever wrote it is not who decides: what it allows does not count.
    pub fn untrusted(mut self) -> Self {
        self.untrusted = true;
        self
    }

    /// The name that people know it by.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl AgentPolicy {
    /// Makes the policy of an agent of these layers of rules, which are its ceiling too.
    pub fn new(own: impl IntoIterator<Item = PolicyLayer>) -> Self {
        Self { own: Layers(own.into_iter().collect()), ceiling: None }
    }

    /// Bounds what the agents it starts may do by these layers, instead of by its own.
    pub fn ceiling(mut self, layers: impl IntoIterator<Item = PolicyLayer>) -> Self {
        self.ceiling = Some(Layers(layers.into_iter().collect()));
        self
    }
}

impl Policy {
    /// Makes a policy without rules: everything is asked.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a policy of layers, the weightiest first.
    pub fn layered(layers: impl IntoIterator<Item = PolicyLayer>) -> Self {
        Self { layers: Layers(layers.into_iter().collect()), ..Self::default() }
    }

    /// Adds a rule to the last layer that lets what it matches run.
    pub fn allow(self, rule: Rule) -> Self {
        self.with(|rules| rules.allow(rule))
    }

    /// Adds a rule to the last layer that has a person asked about what it matches.
    pub fn ask(self, rule: Rule) -> Self {
        self.with(|rules| rules.ask(rule))
    }

    /// Adds a rule to the last layer that forbids what it matches.
    pub fn deny(self, rule: Rule) -> Self {
        self.with(|rules| rules.deny(rule))
    }

    fn with(mut self, change: impl FnOnce(Rules) -> Rules) -> Self {
        let layers = &mut self.layers.0;
        let mut last = layers.pop().unwrap_or_default();
        last.rules = change(std::mem::take(&mut last.rules));
        layers.push(last);
        self
    }

    /// Adds the rules of an agent; those of the same name are replaced.
    pub fn agent(mut self, name: impl Into<Box<str>>, agent: AgentPolicy) -> Self {
        self.agents.insert(name.into(), agent);
        self
    }

    /// Says what [`Mode::AcceptEdits`] allows of what no rule speaks of: the allow rules of these.
    pub fn accept_edits(mut self, rules: Rules) -> Self {
        self.accept_edits = rules;
        self
    }

    /// Says what [`Mode::Auto`] allows of what no rule speaks of: the allow rules of these.
    pub fn auto(mut self, rules: Rules) -> Self {
        self.auto = rules;
        self
    }

    /// Says which language the rules are written in, for suggesting rules and reading those that were remembered.
    pub fn language(mut self, language: RuleLanguage) -> Self {
        self.language = language;
        self
    }

    /// The language that rules are suggested in.
    pub fn rule_language(&self) -> &RuleLanguage {
        &self.language
    }

    /// Decides whether a call of the tool with these accesses may run, for no agent in particular and in the default mode.
    pub fn decide<'a>(&'a self, tool: &ToolSpec, accesses: &'a Accesses) -> Verdict<'a> {
        strictest(accesses, |access| self.by_layers(tool, access))
    }

    /// Decides every access on its own, in the order in which they were declared; otherwise as [`Policy::decide`].
    ///
    /// A call that declares none gets the one verdict on the tool.
    pub fn explain<'a>(&'a self, tool: &ToolSpec, accesses: &'a Accesses) -> Vec<Verdict<'a>> {
        each(accesses).map(|access| self.by_layers(tool, access)).collect()
    }

    /// Decides whether a call may run for the agent of a scope, below all agents above it, in a mode and in those of the scope.
    pub fn decide_in<'a>(
        &'a self,
        scope: &'a CallScope,
        mode: Mode,
        tool: &ToolSpec,
        accesses: &'a Accesses,
    ) -> Verdict<'a> {
        self.decide_under(scope, mode.into(), tool, accesses)
    }

    /// Decides as [`Policy::decide_in`], in several modes at once.
    pub(crate) fn decide_under<'a>(
        &'a self,
        scope: &'a CallScope,
        modes: ModeSet,
        tool: &ToolSpec,
        accesses: &'a Accesses,
    ) -> Verdict<'a> {
        strictest(accesses, |access| self.decide_one(scope, modes, tool, access))
    }

    /// Decides every access on its own, in the order in which they were declared; otherwise as [`Policy::decide_in`].
    pub fn explain_in<'a>(
        &'a self,
        scope: &'a CallScope,
        mode: Mode,
        tool: &ToolSpec,
        accesses: &'a Accesses,
    ) -> Vec<Verdict<'a>> {
        self.explain_under(scope, mode.into(), tool, accesses)
    }

    /// Decides as [`Policy::explain_in`], in several modes at once.
    pub(crate) fn explain_under<'a>(
        &'a self,
        scope: &'a CallScope,
        modes: ModeSet,
        tool: &ToolSpec,
        accesses: &'a Accesses,
    ) -> Vec<Verdict<'a>> {
        each(accesses).map(|access| self.decide_one(scope, modes, tool, access)).collect()
    }

    /// Decides one access on its own, or a call that declares none.
    pub(crate) fn decide_one<'a>(
        &'a self,
        scope: &'a CallScope,
        modes: ModeSet,
        tool: &ToolSpec,
        access: Option<&'a Access>,
    ) -> Verdict<'a> {
        let by_layers = self.by_layers(tool, access);
        // The most common case by far.
        if modes == Mode::Default.into() && self.agents.is_empty() && !scope.is_bounded() {
            return by_layers;
        }
        let by_agents = self.by_agents(scope, tool, access);
        let in_mode = |of: ModeOf<'a>| {
            let by_layers = self.in_mode(of, tool, by_layers);
            let strictest = match by_agents {
                Some(verdict) if verdict.decision > by_layers.decision => verdict,
                _ => by_layers,
            };
            match (of.mode, strictest.decision) {
                (Mode::DenyUnknown, Decision::Ask) => {
                    Verdict { decision: Decision::Deny, rule: None, cause: Cause::Mode(of), ..strictest }
                }
                _ => strictest,
            }
        };
        // No mode is another's minimum in all it decides, so each of them decides, and each only once.
        let of_runs = scope.chain().flat_map(|link| {
            let name = link.agent().unwrap_or_else(|| link.run().as_str());
            link.modes().map(move |mode| ModeOf { mode, given_to: Some(name) })
        });
        let mut decided = ModeSet::default();
        let mut strictest: Option<Verdict<'a>> = None;
        for of in modes.iter().map(|mode| ModeOf { mode, given_to: None }).chain(of_runs) {
            if decided.contains(of.mode) {
                continue;
            }
            decided = decided.with(of.mode);
            let verdict = in_mode(of);
            if strictest.is_none_or(|strictest| verdict.decision > strictest.decision) {
                strictest = Some(verdict);
            }
        }
        strictest.unwrap_or_else(|| in_mode(ModeOf { mode: Mode::Plan, given_to: None }))
    }

    fn by_layers<'a>(&'a self, tool: &ToolSpec, access: Option<&'a Access>) -> Verdict<'a> {
        let found = self.layers.decide(tool, access, || self.protects(access));
        let (decision, rule, cause) = found.unwrap_or((Decision::Ask, None, Cause::Rules));
        Verdict { decision, access, rule, level: Level::Policy, cause }
    }

    fn protects(&self, access: Option<&Access>) -> bool {
        access.is_some_and(|access| self.language.protects(access))
    }

    fn in_mode<'a>(&'a self, of: ModeOf<'a>, tool: &ToolSpec, verdict: Verdict<'a>) -> Verdict<'a> {
        let by_mode = |decision, rule| Verdict { decision, rule, cause: Cause::Mode(of), ..verdict };
        let rules = match of.mode {
            Mode::Default | Mode::DenyUnknown => return verdict,
            Mode::Plan => {
                // What a run below does is decided in this mode, too.
                let changes_nothing = verdict
                    .access
                    .is_none_or(|access| access.mode() == Some(AccessMode::Read) || access.is_delegation());
                let stays = changes_nothing || verdict.decision == Decision::Deny;
                return if stays { verdict } else { by_mode(Decision::Deny, None) };
            }
            Mode::AcceptEdits => &self.accept_edits,
            Mode::Auto => &self.auto,
        };
        let speaks =
            verdict.decision != Decision::Ask || verdict.rule.is_some_and(|_| verdict.cause == Cause::Rules);
        if speaks {
            return verdict;
        }
        match rules.allowing(tool, verdict.access, || self.protects(verdict.access)) {
            Some(Allowing::By(rule)) => by_mode(Decision::Allow, Some(rule)),
            Some(Allowing::NotBy(_)) | None => verdict,
        }
    }

    /// Decides by the rules of the agent and by the ceilings of all agents from it up to the first.
    fn by_agents<'a>(
        &'a self,
        scope: &'a CallScope,
        tool: &ToolSpec,
        access: Option<&'a Access>,
    ) -> Option<Verdict<'a>> {
        let judge = |layers: &'a Layers, level| {
            let (decision, rule, cause) = layers.decide_listed(tool, access)?;
            Some(Verdict { decision, access, rule, level, cause })
        };
        let of_agent = |scope: &'a CallScope| self.agents.get(scope.agent()?).zip(scope.agent());
        let own = of_agent(scope).and_then(|(agent, name)| judge(&agent.own, Level::Agent(name)));
        let ceilings = scope.chain().enumerate().flat_map(|(above, link)| {
            let by_code = link.ceiling().and_then(|ceiling| {
                let name = link.agent().unwrap_or_else(|| link.run().as_str());
                judge(&ceiling.layers, Level::Ceiling(name))
            });
            let by_rules = of_agent(link).and_then(|(agent, name)| match &agent.ceiling {
                Some(ceiling) => judge(ceiling, Level::Ceiling(name)),
                None if above > 0 => judge(&agent.own, Level::Ceiling(name)),
                None => None,
            });
            [by_code, by_rules]
        });
        // Of equally strict verdicts the first counts, which is the nearest to the call.
        std::iter::once(own)
            .chain(ceilings)
            .flatten()
            .reduce(|so_far, verdict| if verdict.decision > so_far.decision { verdict } else { so_far })
    }
}

type Found<'a> = (Decision, Option<&'a Rule>, Cause<'a>);

impl Layers {
    /// Decides by the layers; `None` where none of them speaks of the access.
    fn decide<'a>(
        &'a self,
        tool: &ToolSpec,
        access: Option<&'a Access>,
        is_protected: impl Fn() -> bool,
    ) -> Option<Found<'a>> {
        let denied = self.0.iter().find_map(|layer| layer.rules.denying(tool, access));
        if denied.is_some() {
            return Some((Decision::Deny, denied, Cause::Rules));
        }
        let mut not_counted = None;
        for layer in self.0.iter().rev() {
            if let Some(rule) = layer.rules.asking(tool, access) {
                return Some((Decision::Ask, Some(rule), Cause::Rules));
            }
            match layer.rules.allowing(tool, access, &is_protected) {
                None => {}
                Some(Allowing::NotBy(rule)) => not_counted = Some((rule, Cause::Protected)),
                Some(Allowing::By(rule)) if layer.untrusted => {
                    not_counted = Some((rule, Cause::Untrusted(&layer.name)));
                }
                Some(Allowing::By(rule)) => return Some((Decision::Allow, Some(rule), Cause::Rules)),
            }
        }
        not_counted.map(|(rule, cause)| (Decision::Ask, Some(rule), cause))
    }

    /// Decides by layers that take away from what others let through.
    fn decide_listed<'a>(&'a self, tool: &ToolSpec, access: Option<&'a Access>) -> Option<Found<'a>> {
        let lists = || self.0.iter().any(|layer| layer.rules.allow_something());
        // What is protected was opened or not by the layers that let things through.
        self.decide(tool, access, || false).or_else(|| lists().then_some((Decision::Ask, None, Cause::Rules)))
    }
}

/// Iterates over the accesses of a call, or over the call itself where it declares none.
fn each(accesses: &Accesses) -> impl Iterator<Item = Option<&Access>> {
    accesses.iter().map(Some).chain(accesses.is_empty().then_some(None))
}

fn strictest<'a>(accesses: &'a Accesses, decide: impl Fn(Option<&'a Access>) -> Verdict<'a>) -> Verdict<'a> {
    let mut accesses = accesses.iter();
    // A call that declares no access is decided as a whole.
    let mut strictest = decide(accesses.next());
    for access in accesses {
        if strictest.decision == Decision::Deny {
            break;
        }
        let verdict = decide(Some(access));
        // What only the mode allows may still be forbidden by what people have answered before.
        let by_mode = verdict.decision == strictest.decision && verdict.mode().is_some();
        if verdict.decision > strictest.decision || by_mode {
            strictest = verdict;
        }
    }
    strictest
}
