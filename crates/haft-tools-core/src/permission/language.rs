use super::rule::{Matcher, PatternRule, Reach, Rule};
use super::syntax::PatternSyntax;
use crate::nearest::{listed, nearest};
use crate::{Access, AccessMode, Resource};
use std::ops::Range;
use std::sync::Arc;

/// Reads rules as they are written in a policy.
///
/// | rule | matches |
/// |---|---|
/// | `read(PATTERN)`, `write(PATTERN)`, `exec(PATTERN)`, `connect(PATTERN)` | accesses of that mode; the syntax of the pattern is the domain's |
/// | `read(SCHEME:PATH)`, `write(SCHEME:PATH)`, `call(SCHEME:PATH)` | accesses of that mode within a [`Resource`], for what has no patterns here; a path that looks so is written `./a:b` |
/// | `call(SELECTOR)` | what the chosen tools ask of remote parties |
/// | `opaque`, `opaque(SELECTOR)` | what cannot be told beforehand, of all tools or of the chosen |
/// | `SELECTOR` | everything the chosen tools do; see [`Selector`](crate::Selector). A tool that is called like a mode is chosen by its origin, as `@host/write` |
///
/// Blanks around a rule and around its pattern are not part of them.
///
/// ```
/// use haft_tools_core::RuleLanguage;
///
/// let language = RuleLanguage::new();
/// assert_eq!(language.rule("call(@github/create_*)")?.to_string(), "call(@github/create_*)");
/// let error = language.rule("raed(src/**)").unwrap_err();
/// assert_eq!(error.to_string(), "`raed` is not a mode; write `read`");
/// # Ok::<(), haft_tools_core::RuleError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RuleLanguage {
    read: Option<Arc<dyn PatternSyntax>>,
    write: Option<Arc<dyn PatternSyntax>>,
    execute: Option<Arc<dyn PatternSyntax>>,
    connect: Option<Arc<dyn PatternSyntax>>,
}

/// Says why a text is not a rule, and where in it.
///
/// ```
/// use haft_tools_core::RuleLanguage;
///
/// let error = RuleLanguage::new().rule("call(@notes/*, )x").unwrap_err();
/// assert_eq!(error.to_string(), "`call(@notes/*, )x` does not end with `)`; close the pattern");
/// assert_eq!(error.range(), 0..17);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct RuleError {
    range: Range<usize>,
    reason: String,
}

impl RuleError {
    /// Which bytes of the text it is about.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

/// The words that rules begin with.
const MODES: [&str; 6] = ["read", "write", "exec", "connect", "call", "opaque"];

impl RuleLanguage {
    /// Makes a language without any domain: its rules name tools and resources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has the patterns of a mode read by a syntax; for [`AccessMode::Call`], whose patterns are selectors, without
    /// effect.
    pub fn with(mut self, mode: AccessMode, syntax: impl PatternSyntax) -> Self {
        let syntax: Arc<dyn PatternSyntax> = Arc::new(syntax);
        match mode {
            AccessMode::Read => self.read = Some(syntax),
            AccessMode::Write => self.write = Some(syntax),
            AccessMode::Execute => self.execute = Some(syntax),
            AccessMode::Connect => self.connect = Some(syntax),
            AccessMode::Call => {}
        }
        self
    }

    /// Tells whether it can read patterns of a mode; those of [`AccessMode::Call`] are selectors, which it always can.
    pub fn knows(&self, mode: AccessMode) -> bool {
        mode == AccessMode::Call || self.syntax(mode).is_some()
    }

    /// Reads a rule.
    ///
    /// # Errors
    ///
    /// When the text is not a rule: where it goes wrong, and what to write.
    pub fn rule(&self, text: &str) -> Result<Rule, RuleError> {
        let start = text.len() - text.trim_start().len();
        let rule = text.trim();
        let whole = start..start + rule.len();
        let Some((word, rest)) = rule.split_once('(') else {
            if rule == "opaque" {
                return Ok(Rule::opaque());
            }
            // To whoever means the mode, a selector would do nothing without a word.
            if let Some(at) = mode_among(rule) {
                let range = start + at.start..start + at.end;
                return Err(RuleError { range, reason: misplaced(rule, at) });
            }
            return selector(rule, whole).map(Rule::tools);
        };
        let Some(inner) = rest.strip_suffix(')') else {
            let reason = format!("`{rule}` does not end with `)`; close the pattern");
            return Err(RuleError { range: whole, reason });
        };
        let offset = start + word.len() + 1 + inner.len() - inner.trim_start().len();
        let (inner, mode) = (inner.trim(), word.trim_end());
        let within = offset..offset + inner.len();
        if inner.is_empty() && MODES.contains(&mode) {
            let reason = format!(
                "the pattern of `{mode}` is empty; write what it is about, such as `{}`",
                example(mode)
            );
            return Err(RuleError { range: whole, reason });
        }
        match mode {
            "read" => self.pattern(AccessMode::Read, inner, within),
            "write" => self.pattern(AccessMode::Write, inner, within),
            "exec" => self.pattern(AccessMode::Execute, inner, within),
            "connect" => self.pattern(AccessMode::Connect, inner, within),
            "call" => match resource(inner) {
                Some(within) => Ok(Rule::access(AccessMode::Call, within)),
                None => selector(inner, within).map(Rule::calls),
            },
            "opaque" => selector(inner, within).map(Rule::opaque_of),
            _ => Err(RuleError { range: start..start + mode.len(), reason: not_a_mode(mode) }),
        }
    }

    fn pattern(&self, mode: AccessMode, pattern: &str, range: Range<usize>) -> Result<Rule, RuleError> {
        let names_a_resource = matches!(mode, AccessMode::Read | AccessMode::Write);
        if let Some(within) = resource(pattern).filter(|_| names_a_resource) {
            // A resource would be matched by its path alone, past whatever its domain holds back from patterns.
            if self.syntax(mode).is_some_and(|syntax| syntax.speaks_of(within.scheme())) {
                let scheme = within.scheme().as_str();
                let reason = format!(
                    "`{pattern}` is a resource; write a pattern without `{scheme}:`, such as `{}`",
                    example(&mode.to_string())
                );
                return Err(RuleError { range, reason });
            }
            return Ok(Rule::access(mode, within));
        }
        let Some(syntax) = self.syntax(mode) else {
            return Err(RuleError { range, reason: no_patterns(mode) });
        };
        // What it is compiled to is not kept, since of a long list of rules each would have its own.
        match syntax.compile(&[pattern.into()]) {
            Ok(_) => Ok(Rule::of(Matcher::Pattern(PatternRule::new(mode, pattern, Arc::clone(syntax))))),
            Err(error) => {
                let range = part_of(&range, &error.range());
                Err(RuleError { range, reason: error.reason().to_owned() })
            }
        }
    }

    /// Reads an access as people write it in a test of a policy: `write(src/lib.rs)`, `exec(git push)`, `opaque`.
    ///
    /// It is written like a rule, with one thing in place of a pattern; a mode without a syntax takes a
    /// [`Resource`](crate::Resource).
    ///
    /// # Errors
    ///
    /// When the text is not an access: where it goes wrong, and what to write.
    pub fn access(&self, text: &str) -> Result<Access, RuleError> {
        let start = text.len() - text.trim_start().len();
        let access = text.trim();
        if access == "opaque" {
            return Ok(Access::opaque("not said"));
        }
        let whole = start..start + access.len();
        let refuse = |range, reason: String| Err(RuleError { range, reason });
        let Some((word, inner)) = access.strip_suffix(')').and_then(|access| access.split_once('(')) else {
            return refuse(
                whole,
                format!("`{access}` is not an access; write one such as `write(src/lib.rs)`"),
            );
        };
        let mode = match word.trim_end() {
            "read" => AccessMode::Read,
            "write" => AccessMode::Write,
            "exec" => AccessMode::Execute,
            "connect" => AccessMode::Connect,
            "call" => AccessMode::Call,
            "opaque" => {
                return refuse(whole, "what cannot be told has no pattern here; write `opaque`".to_owned());
            }
            word => return refuse(start..start + word.len(), not_a_mode(word)),
        };
        let offset = start + word.len() + 1 + inner.len() - inner.trim_start().len();
        let inner = inner.trim();
        let within = offset..offset + inner.len();
        let raw = resource(inner).filter(|_| !matches!(mode, AccessMode::Execute | AccessMode::Connect));
        match (raw, self.syntax(mode)) {
            (Some(resource), _) => Ok(Access::new(mode, resource)),
            (None, Some(syntax)) => match syntax.resource(inner) {
                Ok(resource) => Ok(Access::new(mode, resource)),
                Err(error) => refuse(part_of(&within, &error.range()), error.reason().to_owned()),
            },
            (None, None) => {
                let reason = match mode {
                    AccessMode::Execute | AccessMode::Connect => no_patterns(mode),
                    _ => format!("`{inner}` is not a resource; write one such as `mcp:github/create_issue`"),
                };
                refuse(within, reason)
            }
        }
    }

    /// Suggests the narrowest useful rule that contains an access, for a grant that outlives one call.
    ///
    /// `None` for what has to be asked about each time, as opaque accesses have, and for what no rule says as it is written,
    /// such as a path that ends with a blank.
    pub fn suggest(&self, access: &Access) -> Option<Rule> {
        // A grant is remembered by its text, so what was shown must read back as itself.
        let reads_back = |rule: &Rule| self.rule(&rule.to_string()).is_ok_and(|read| read == *rule);
        self.narrowest(access).filter(reads_back)
    }

    fn narrowest(&self, access: &Access) -> Option<Rule> {
        let (mode, resource) = (access.mode()?, access.resource()?);
        match self.syntax(mode).filter(|syntax| syntax.speaks_of(resource.scheme())) {
            Some(syntax) => {
                let pattern = syntax.suggest(resource)?;
                let rule = self.pattern(mode, &pattern, 0..pattern.len()).ok()?;
                // What is remembered must answer for what was asked, or the person would be asked again.
                let contains = match &rule.matcher {
                    Matcher::Pattern(rule) => rule.reaches(resource, Reach::All),
                    _ => false,
                };
                contains.then_some(rule)
            }
            None if !matches!(mode, AccessMode::Execute | AccessMode::Connect) => {
                Some(Rule::access(mode, resource.clone()))
            }
            None => None,
        }
    }

    /// Tells whether no rule that chooses tools allows an access, but only one that is about its resource.
    pub fn protects(&self, access: &Access) -> bool {
        let of_domain = access.mode().zip(access.resource()).and_then(|(mode, resource)| {
            let syntax = self.syntax(mode).filter(|syntax| syntax.speaks_of(resource.scheme()))?;
            Some(syntax.protects(resource))
        });
        of_domain.unwrap_or(false)
    }

    /// Says what is special about the resource of an access.
    pub fn remark(&self, access: &Access) -> Option<String> {
        let (mode, resource) = (access.mode()?, access.resource()?);
        self.syntax(mode).filter(|syntax| syntax.speaks_of(resource.scheme()))?.remark(resource)
    }

    fn syntax(&self, mode: AccessMode) -> Option<&Arc<dyn PatternSyntax>> {
        match mode {
            AccessMode::Read => self.read.as_ref(),
            AccessMode::Write => self.write.as_ref(),
            AccessMode::Execute => self.execute.as_ref(),
            AccessMode::Connect => self.connect.as_ref(),
            AccessMode::Call => None,
        }
    }
}

fn selector(text: &str, range: Range<usize>) -> Result<crate::Selector, RuleError> {
    text.parse().map_err(|error: crate::SelectorError| RuleError { range, reason: error.to_string() })
}

/// Reads a resource; a scheme of one letter is taken for a drive, and so for a part of a path.
fn resource(text: &str) -> Option<Resource> {
    let scheme = text.split_once(':')?.0;
    text.parse().ok().filter(|_| scheme.len() > 1)
}

/// Places a range that is counted from the start of another, as far as it lies in it.
fn part_of(whole: &Range<usize>, part: &Range<usize>) -> Range<usize> {
    let at = |offset: usize| whole.start.saturating_add(offset).min(whole.end);
    at(part.start)..at(part.end)
}

fn no_patterns(mode: AccessMode) -> String {
    format!(
        "this program knows no patterns of `{mode}`; leave the rule out, or use a program with the tools it is for"
    )
}

/// Finds a mode among the terms of what would be a selector.
fn mode_among(text: &str) -> Option<Range<usize>> {
    let is_between = |character: char| character == ',' || character == '!' || character.is_whitespace();
    let mut start = 0;
    for term in text.split_inclusive(is_between) {
        let word = term.trim_end_matches(is_between);
        if MODES.contains(&word) {
            return Some(start..start + word.len());
        }
        start += term.len();
    }
    None
}

/// Says what to write for a mode that stands where a tool is expected.
fn misplaced(rule: &str, at: Range<usize>) -> String {
    let word = &rule[at.clone()];
    let example = example(word);
    let by_name = format!("a tool of that name is chosen by `@origin/{word}`");
    if rule == word {
        format!("`{word}` needs a pattern, as in `{example}`; {by_name}")
    } else if rule[..at.start].ends_with('!') {
        format!(
            "`{word}` is a mode and no tool; leave it out here, and say what may not be done as a rule of `deny`, such as `{example}`; {by_name}"
        )
    } else {
        format!(
            "`{word}` is a mode and no tool; write it as a rule of its own, such as `{example}`; {by_name}"
        )
    }
}

fn not_a_mode(word: &str) -> String {
    if let Some(at) = mode_among(word) {
        return misplaced(word, at);
    }
    let near = nearest(word, MODES);
    let instead = if near.is_empty() { listed(MODES, "or") } else { listed(near, "or") };
    format!("`{word}` is not a mode; write {instead}")
}

fn example(word: &str) -> &'static str {
    match word {
        "exec" => "exec(git diff *)",
        "connect" => "connect(api.example.org)",
        "call" => "call(@github/*)",
        "opaque" => "opaque(bash)",
        "write" => "write(src/**)",
        _ => "read(src/**)",
    }
}
