use super::syntax::{PatternSet, PatternSyntax};
use crate::{Access, AccessMode, Resource, Selector};
use haft_core::ToolSpec;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Matches accesses: those of chosen tools, those of one mode within a resource or a pattern, or those that cannot be told.
///
/// Written in a policy, a rule is one text, which a [`RuleLanguage`](crate::RuleLanguage) reads.
///
/// ```
/// use haft_core::{Schema, ToolSpec};
/// use haft_tools_core::{Access, AccessMode, Resource, Rule, Scheme};
///
/// const FILE: Scheme = Scheme::new("file");
/// let rule = Rule::access(AccessMode::Write, Resource::subtree(FILE, "src"));
/// let tool = ToolSpec::new("write_file".parse()?, "Writes a file.", Schema::empty());
/// let whole = Access::write(Resource::subtree(FILE, ""));
/// // All of `src` is less than everything, but has something in common with it.
/// assert!(!rule.contains(&tool, Some(&whole)) && rule.touches(&tool, Some(&whole)));
/// # Ok::<(), haft_core::NameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rule {
    pub(super) matcher: Matcher,
    source: Option<RuleSource>,
}

/// Says where a rule is written.
///
/// ```
/// use haft_tools_core::Rule;
///
/// let rule = Rule::tools("read_*".parse()?).written_in("haft.toml", 12);
/// let source = rule.source().ok_or("it was just given")?;
/// assert_eq!((source.file(), source.line()), ("haft.toml", 12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSource {
    file: Arc<str>,
    line: u32,
}

#[derive(Debug, Clone)]
pub(super) enum Matcher {
    /// Everything that the chosen tools do.
    Tools(Selector),
    /// What the chosen tools ask of remote parties.
    Calls(Selector),
    /// What cannot be told, of the chosen tools or of all.
    Opaque(Option<Selector>),
    /// One mode within a resource.
    Access { mode: AccessMode, within: Resource },
    /// One mode within a pattern of a domain.
    Pattern(PatternRule),
}

#[derive(Debug, Clone)]
pub(super) struct PatternRule {
    pub(super) mode: AccessMode,
    pub(super) text: Box<str>,
    pub(super) syntax: Arc<dyn PatternSyntax>,
    /// The pattern by itself, for this rule and its copies; `None` where its syntax no longer reads it.
    alone: Arc<OnceLock<Option<Box<dyn PatternSet>>>>,
}

impl PatternRule {
    /// Makes the rule of a pattern that its syntax reads.
    pub(super) fn new(mode: AccessMode, text: &str, syntax: Arc<dyn PatternSyntax>) -> Self {
        Self { mode, text: text.into(), syntax, alone: Arc::default() }
    }

    /// Tells whether the pattern reaches a resource.
    ///
    /// It is compiled when this is asked first, which it is not of a rule of a long list: those are compiled together.
    pub(super) fn reaches(&self, used: &Resource, reach: Reach) -> bool {
        let compile = || self.syntax.compile(std::slice::from_ref(&self.text)).ok();
        match (self.alone.get_or_init(compile), reach) {
            (Some(alone), Reach::All | Reach::AllByItself | Reach::Whole) => {
                alone.first_containing(used).is_some()
            }
            (Some(alone), Reach::Part) => alone.first_touching(used).is_some(),
            (None, reach) => matches!(reach, Reach::Part | Reach::Whole),
        }
    }
}

/// Says how much of an access a rule has to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// All of it, which is what allowing takes.
    All,
    /// All of it, by what it is and not by whose it is.
    AllByItself,
    /// Any part of it, which is enough to forbid it or to ask.
    Part,
    /// All of a tree, whatever the tools: forbidding takes it where the tool passes by the parts that are forbidden.
    Whole,
}

impl Rule {
    /// Matches everything that the chosen tools do, opaque accesses included.
    pub fn tools(selector: Selector) -> Self {
        Self::of(Matcher::Tools(selector))
    }

    /// Matches accesses of one mode within a resource, whatever the tool.
    pub fn access(mode: AccessMode, within: Resource) -> Self {
        Self::of(Matcher::Access { mode, within })
    }

    /// Matches what the chosen tools ask of remote parties.
    pub fn calls(selector: Selector) -> Self {
        Self::of(Matcher::Calls(selector))
    }

    /// Matches accesses that cannot be told beforehand, whatever the tool.
    pub fn opaque() -> Self {
        Self::of(Matcher::Opaque(None))
    }

    /// Matches accesses of the chosen tools that cannot be told beforehand.
    pub fn opaque_of(selector: Selector) -> Self {
        Self::of(Matcher::Opaque(Some(selector)))
    }

    pub(super) fn of(matcher: Matcher) -> Self {
        Self { matcher, source: None }
    }

    /// Says where the rule is written: a file as people know it, and the line in it, 1-based.
    pub fn written_in(mut self, file: impl Into<Arc<str>>, line: u32) -> Self {
        self.source = Some(RuleSource { file: file.into(), line });
        self
    }

    /// Where the rule is written; `None` for one that was made in code.
    pub fn source(&self) -> Option<&RuleSource> {
        self.source.as_ref()
    }

    /// Tells whether the rule contains all of an access, as a rule that allows has to.
    ///
    /// A call that declares no access is contained by rules that name its tool.
    pub fn contains(&self, tool: &ToolSpec, access: Option<&Access>) -> bool {
        self.matches(tool, access, Reach::All)
    }

    /// Tells whether the rule has anything in common with an access, which is enough for one that forbids.
    pub fn touches(&self, tool: &ToolSpec, access: Option<&Access>) -> bool {
        self.matches(tool, access, Reach::Part)
    }

    /// Tells whether it matches whatever the chosen tools do.
    pub(crate) fn chooses_tools(&self) -> bool {
        matches!(self.matcher, Matcher::Tools(_))
    }

    pub(super) fn matches(&self, tool: &ToolSpec, access: Option<&Access>, reach: Reach) -> bool {
        let chosen = |selector: &Selector| match reach {
            Reach::Part | Reach::Whole => selector.concerns(tool),
            Reach::All | Reach::AllByItself => selector.matches(tool),
        };
        let within =
            |mode: AccessMode| access.filter(|access| access.mode() == Some(mode)).and_then(Access::resource);
        match &self.matcher {
            Matcher::Tools(_) if reach == Reach::AllByItself => false,
            Matcher::Tools(selector) => chosen(selector),
            Matcher::Calls(selector) => within(AccessMode::Call).is_some() && chosen(selector),
            Matcher::Opaque(selector) => {
                access.is_some_and(Access::is_opaque) && selector.as_ref().is_none_or(chosen)
            }
            Matcher::Access { mode, within: rule } => within(*mode)
                .is_some_and(|used| rule.contains(used) || (reach == Reach::Part && rule.overlaps(used))),
            Matcher::Pattern(rule) => within(rule.mode).is_some_and(|used| rule.reaches(used, reach)),
        }
    }
}

/// Compares what the rules say, not where they are written.
impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        match (&self.matcher, &other.matcher) {
            (Matcher::Tools(one), Matcher::Tools(other)) | (Matcher::Calls(one), Matcher::Calls(other)) => {
                one == other
            }
            (Matcher::Opaque(one), Matcher::Opaque(other)) => one == other,
            (
                Matcher::Access { mode, within },
                Matcher::Access { mode: other_mode, within: other_within },
            ) => mode == other_mode && within == other_within,
            (Matcher::Pattern(one), Matcher::Pattern(other)) => {
                one.mode == other.mode && one.text == other.text
            }
            _ => false,
        }
    }
}

impl Eq for Rule {}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.matcher {
            Matcher::Tools(selector) => selector.fmt(f),
            Matcher::Calls(selector) => write!(f, "call({selector})"),
            Matcher::Opaque(None) => f.write_str("opaque"),
            Matcher::Opaque(Some(selector)) => write!(f, "opaque({selector})"),
            Matcher::Access { mode, within } => write!(f, "{mode}({within})"),
            Matcher::Pattern(PatternRule { mode, text, .. }) => write!(f, "{mode}({text})"),
        }
    }
}

impl RuleSource {
    /// The file, as people know it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, 1-based.
    pub fn line(&self) -> u32 {
        self.line
    }
}

impl fmt::Display for RuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
