use super::mode::Mode;
use super::rule::Rule;
use crate::{Access, RuleLanguage};
use haft_core::Decision;
use serde::Serialize;
use std::fmt;

/// Says what was decided about one access, and what decided it.
///
/// ```
/// use haft_core::{Decision, Schema, ToolSpec};
/// use haft_tools_core::{Access, AccessMode, Accesses, Policy, Resource, Rule, Scheme};
///
/// const FILE: Scheme = Scheme::new("file");
/// let policy = Policy::new().allow(Rule::access(AccessMode::Read, Resource::subtree(FILE, "docs")));
/// let tool = ToolSpec::new("read_file".parse()?, "Reads a file.", Schema::empty());
/// let read = Accesses::from(Access::read(Resource::exact(FILE, "notes.md")));
/// let verdict = policy.decide(&tool, &read);
/// assert_eq!((verdict.decision(), verdict.rule()), (Decision::Ask, None));
/// assert_eq!(verdict.to_string(), "read file:notes.md: ask, no rule speaks of it");
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Verdict<'a> {
    pub(super) decision: Decision,
    pub(super) access: Option<&'a Access>,
    pub(super) rule: Option<&'a Rule>,
    pub(super) level: Level<'a>,
    pub(super) cause: Cause<'a>,
}

/// Says whose rules decided.
///
/// ```
/// use haft_core::{Schema, ToolSpec};
/// use haft_tools_core::{Accesses, Level, Policy, Rule};
///
/// let policy = Policy::new().allow(Rule::tools("now".parse()?));
/// let tool = ToolSpec::new("now".parse()?, "Tells the time.", Schema::empty());
/// assert_eq!(policy.decide(&tool, &Accesses::none()).level(), Level::Policy);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "level", content = "agent", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Level<'a> {
    /// The person's, which hold for every agent.
    Policy,
    /// Those of the agent that makes the call.
    Agent(&'a str),
    /// What an agent above may hand on, or that of the agent that makes the call.
    Ceiling(&'a str),
}

/// Says why it was decided so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause<'a> {
    /// By the rule, or as no rule speaks of it.
    Rules,
    /// A rule of a layer that is not trusted would have allowed it.
    Untrusted(&'a str),
    /// A rule that chooses tools would have allowed it, and it is protected.
    Protected,
    /// The mode decides.
    Mode(ModeOf<'a>),
}

/// Says which mode it is, and whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ModeOf<'a> {
    pub(super) mode: Mode,
    /// The agent or run that it was given to; `None` for that of the executor.
    pub(super) given_to: Option<&'a str>,
}

/// Says what was decided about one access in words, for a page or a program.
///
/// ```
/// use haft_core::{Decision, Schema, ToolSpec};
/// use haft_tools_core::{Accesses, Policy, Rule, RuleLanguage};
///
/// let policy = Policy::new().deny(Rule::tools("now".parse()?).written_in("haft.toml", 3));
/// let tool = ToolSpec::new("now".parse()?, "Tells the time.", Schema::empty());
/// let explained = policy.decide(&tool, &Accesses::none()).explain(&RuleLanguage::new());
/// assert_eq!((explained.decision, explained.rule.as_deref()), (Decision::Deny, Some("now")));
/// assert_eq!(explained.source.as_deref(), Some("haft.toml:3"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The access, as printed; `None` for a call that declares none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// What was decided.
    pub decision: Decision,
    /// The rule behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where the rule is written, as `file:line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Why, in one sentence.
    pub reason: String,
    /// What would change it; `None` for what is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
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

    /// Whose rules decided.
    pub fn level(&self) -> Level<'a> {
        self.level
    }

    /// The mode, if that decided.
    pub fn mode(&self) -> Option<Mode> {
        match self.cause {
            Cause::Mode(of) => Some(of.mode),
            _ => None,
        }
    }

    /// Explains the verdict, with what would change it in the words of a language.
    pub fn explain(&self, language: &RuleLanguage) -> Explanation {
        let remark = self.access.and_then(|access| language.remark(access));
        let is_open = self.decision == Decision::Allow;
        let is_unmet = self.rule.is_none() || self.cause == Cause::Protected;
        let reason = match remark.filter(|_| is_unmet && !is_open) {
            Some(remark) => format!("{}; {remark}", self.why()),
            None => self.why().to_string(),
        };
        Explanation {
            access: self.access.map(Access::to_string),
            decision: self.decision,
            rule: self.rule.map(Rule::to_string),
            source: self.rule.and_then(Rule::source).map(ToString::to_string),
            reason,
            change: (self.decision != Decision::Allow).then(|| self.change(language)),
        }
    }

    /// Says what would change the decision.
    fn change(&self, language: &RuleLanguage) -> String {
        let suggested = || {
            self.access.and_then(|access| {
                if access.is_opaque() {
                    return Some("opaque".to_owned());
                }
                language.suggest(access).map(|rule| rule.to_string())
            })
        };
        match (self.cause, self.rule) {
            (Cause::Mode(ModeOf { mode, given_to: Some(name) }), _) => {
                format!("nothing that `{name}` or what it starts does; it was given the mode `{mode}`")
            }
            (Cause::Mode(of), _) => format!("a person can change the mode, which is `{}`", of.mode),
            (Cause::Untrusted(layer), Some(rule)) => {
                format!("trust the {layer} rules, of which `{rule}` allows it, or allow it in your own")
            }
            (Cause::Protected, _) => {
                "a rule about what is protected and not about the tool, or a person's word each time"
                    .to_owned()
            }
            (_, Some(rule)) => match rule.source() {
                Some(source) => format!("change or remove the rule `{rule}` at {source}"),
                None => format!("change or remove the rule `{rule}`"),
            },
            (_, None) => {
                let place = match self.level {
                    Level::Policy => String::new(),
                    Level::Agent(agent) => format!(" for the agent `{agent}`"),
                    Level::Ceiling(agent) => format!(" in the ceiling of the agent `{agent}`"),
                };
                match suggested() {
                    Some(rule) => format!("a rule that allows it{place}, such as `{rule}`"),
                    None => format!("a rule that allows it{place}, or a person's word each time"),
                }
            }
        }
    }

    fn why(&self) -> Why<'_> {
        Why(self)
    }
}

/// Reads as a reason: `write file:src/lib.rs: ask, no rule speaks of it`.
impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(access) = self.access {
            write!(f, "{access}: ")?;
        }
        let comma = if self.rule.is_some() && !matches!(self.cause, Cause::Untrusted(_) | Cause::Protected) {
            ""
        } else {
            ","
        };
        write!(f, "{}{comma} {}", self.decision, self.why())
    }
}

/// Reads as `the mode plan`, or `the mode plan of the agent explorer`.
impl fmt::Display for ModeOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the mode {}", self.mode)?;
        self.given_to.map_or(Ok(()), |name| write!(f, " of the agent {name}"))
    }
}

/// Says why a verdict is as it is, without the decision.
struct Why<'a>(&'a Verdict<'a>);

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { rule, level, cause, .. } = self.0;
        match (cause, rule) {
            (Cause::Untrusted(layer), _) => {
                write!(
                    f,
                    "no trusted rule speaks of it (a rule of the {layer} layer, which is not trusted, allows it)"
                )?;
            }
            (Cause::Protected, Some(rule)) => {
                write!(f, "the rule {rule} chooses tools and opens nothing that is protected")?;
            }
            (Cause::Mode(of), Some(rule)) => write!(f, "by the rule {rule} of {of}")?,
            (Cause::Mode(of @ ModeOf { mode: Mode::Plan, .. }), None) => {
                write!(f, "{of} lets nothing write, execute, connect or call")?;
            }
            (Cause::Mode(of), None) => write!(f, "{of} denies what would have to be asked about")?,
            (Cause::Rules, Some(rule)) => {
                write!(f, "by the rule {rule}")?;
                if let Some(source) = rule.source() {
                    write!(f, " ({source})")?;
                }
            }
            (Cause::Rules | Cause::Protected, None) => f.write_str("no rule speaks of it")?,
        }
        match level {
            Level::Policy => Ok(()),
            Level::Agent(agent) => write!(f, " for the agent {agent}"),
            Level::Ceiling(agent) => write!(f, " in the ceiling of the agent {agent}"),
        }
    }
}
