use haft_core::{Origin, ToolSpec};
use std::fmt;
use std::str::FromStr;

/// Chooses tools: by name, by origin, and by what it leaves out.
///
/// A selector is a list of terms divided by commas or blanks; a tool is chosen when the last term that matches it does
/// not start with `!`. A selector that starts with a `!` term begins with every tool.
///
/// | term | chooses |
/// |---|---|
/// | `*` | every tool that is not *explicit only* |
/// | `read_file` | the tool of that name |
/// | `read_*` | tools by name; `*` stands for any characters |
/// | `@builtin`, `@host` | the tools that come with haft; the host's own |
/// | `@mcp`, `@openapi`, `@agent` | all tools of that kind of origin |
/// | `@github` | the tools of the MCP server, OpenAPI document or agent of that name |
/// | `@github/create_*` | of those, by the exact name they have there |
/// | `!term` | not these |
///
/// A tool that is explicit only is chosen by a term alone that gives its whole name; any term can leave it out. An origin
/// is written in full: `@git*` is refused, because as a name it would choose nothing.
///
/// ```
/// use haft_core::{Schema, ToolSpec};
/// use haft_tools_core::Selector;
///
/// let spec = ToolSpec::new("read_file".parse()?, "Reads a file.", Schema::empty());
/// assert!("read_*, !read_secret".parse::<Selector>()?.matches(&spec));
/// assert!(!"!read_*".parse::<Selector>()?.matches(&spec));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selector(Vec<Term>);

/// Says why a text is not a selector.
///
/// ```
/// use haft_tools_core::{Selector, SelectorError};
///
/// assert_eq!("".parse::<Selector>(), Err(SelectorError::Empty));
/// let error = "@git*".parse::<Selector>().unwrap_err();
/// assert!(matches!(error, SelectorError::Term { term, .. } if term == "@git*"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectorError {
    /// There is no term.
    #[error("a selector cannot be empty; write `*` for every tool")]
    Empty,
    /// A term is not a name, a pattern or an origin.
    #[error(
        "`{term}` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
    )]
    Term {
        /// The term.
        term: String,
    },
}

/// Says by what the tools of a selector can be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor<'a> {
    /// The tool's name is this one.
    Name(&'a str),
    /// The tool's origin is of this kind or name.
    Origin(&'a str),
    /// Each tool has to be looked at.
    None,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Term {
    negated: bool,
    origin: Option<Box<str>>,
    /// A pattern over the tool's name, or over its exact foreign name where an origin is given.
    name: Option<Box<str>>,
}

impl Selector {
    /// Chooses every tool that is not explicit only.
    pub fn all() -> Self {
        Self(vec![Term { negated: false, origin: None, name: Some("*".into()) }])
    }

    /// Tells whether the tool is chosen.
    pub fn matches(&self, spec: &ToolSpec) -> bool {
        self.chooses(spec, spec.is_explicit_only())
    }

    /// Tells whether the tool would be chosen if no tool were explicit only: what forbids must not pass those by.
    pub fn concerns(&self, spec: &ToolSpec) -> bool {
        self.chooses(spec, false)
    }

    /// What a tool must have to be chosen, if that can be looked up.
    pub(crate) fn anchor(&self) -> Anchor<'_> {
        match self.0.as_slice() {
            [Term { negated: false, origin: Some(origin), .. }] => Anchor::Origin(origin),
            [Term { negated: false, origin: None, name: Some(name) }] if !name.contains('*') => {
                Anchor::Name(name)
            }
            _ => Anchor::None,
        }
    }

    fn chooses(&self, spec: &ToolSpec, explicit: bool) -> bool {
        if let [Term { negated: false, origin: None, name: Some(name) }] = self.0.as_slice()
            && &**name == "*"
        {
            // By far the most common one.
            return !explicit;
        }
        let start = self.0.first().is_some_and(|term| term.negated) && !explicit;
        self.0
            .iter()
            .fold(start, |chosen, term| if term.matches(spec, explicit) { !term.negated } else { chosen })
    }
}

impl Term {
    fn matches(&self, spec: &ToolSpec, explicit: bool) -> bool {
        if explicit && !self.negated && !self.is_exact() {
            return false;
        }
        let (by_origin, name) = match &self.origin {
            Some(wanted) => (origin_matches(spec.origin(), wanted), foreign_name(spec)),
            None => (true, spec.name().as_str()),
        };
        by_origin && self.name.as_ref().is_none_or(|pattern| &**pattern == "*" || glob_matches(pattern, name))
    }

    fn is_exact(&self) -> bool {
        self.name.as_ref().is_some_and(|name| !name.contains('*'))
    }
}

/// Names what an origin can be chosen by: its kind, and the name it has in it.
pub(crate) fn origin_words(origin: &Origin) -> [Option<&str>; 2] {
    match origin {
        Origin::Builtin => [Some("builtin"), None],
        Origin::Host => [Some("host"), None],
        Origin::Mcp { server, .. } => [Some("mcp"), Some(server)],
        Origin::OpenApi { document, .. } => [Some("openapi"), Some(document)],
        Origin::Agent { name } => [Some("agent"), Some(name)],
        _ => [None, None],
    }
}

/// The reserved words stand for kinds of origin alone: a server that is called `builtin` is not chosen by `@builtin`.
fn origin_matches(origin: &Origin, wanted: &str) -> bool {
    match wanted {
        "builtin" => matches!(origin, Origin::Builtin),
        "host" => matches!(origin, Origin::Host),
        "mcp" => matches!(origin, Origin::Mcp { .. }),
        "openapi" => matches!(origin, Origin::OpenApi { .. }),
        "agent" => matches!(origin, Origin::Agent { .. }),
        wanted => match origin {
            Origin::Mcp { server: name, .. }
            | Origin::OpenApi { document: name, .. }
            | Origin::Agent { name } => name == wanted,
            _ => false,
        },
    }
}

fn foreign_name(spec: &ToolSpec) -> &str {
    match spec.origin() {
        Origin::Mcp { tool, .. } => tool,
        Origin::OpenApi { operation, .. } => operation,
        _ => spec.name().as_str(),
    }
}

/// Tells whether a pattern matches a text.
#[inline]
fn glob_matches(pattern: &str, text: &str) -> bool {
    pattern == "*" || glob_matches_in_full(pattern, text)
}

/// Matches `*` against any run of characters; a lone backtrack point suffices, so the cost is at most quadratic.
fn glob_matches_in_full(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut seen) = (0, 0);
    let mut backtrack: Option<(usize, usize)> = None;
    while seen < text.len() {
        if pattern.get(at) == Some(&b'*') {
            backtrack = Some((at + 1, seen));
            at += 1;
        } else if pattern.get(at) == Some(&text[seen]) {
            at += 1;
            seen += 1;
        } else if let Some((after_star, taken)) = backtrack {
            backtrack = Some((after_star, taken + 1));
            at = after_star;
            seen = taken + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let terms: Vec<Term> = text
            .split(|character: char| character == ',' || character.is_whitespace())
            .filter(|term| !term.is_empty())
            .map(parse_term)
            .collect::<Result<_, _>>()?;
        if terms.is_empty() { Err(SelectorError::Empty) } else { Ok(Self(terms)) }
    }
}

fn parse_term(text: &str) -> Result<Term, SelectorError> {
    let refuse = || SelectorError::Term { term: text.to_owned() };
    let (negated, term) = match text.strip_prefix('!') {
        Some(term) => (true, term),
        None => (false, text),
    };
    let (origin, name) = match term.strip_prefix('@') {
        None => (None, Some(term)),
        Some(origin) => match origin.split_once('/') {
            None => (Some(origin), None),
            Some((origin, name)) => (Some(origin), Some(name)),
        },
    };
    let is_pattern = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*'))
    };
    if origin.is_some_and(|origin| origin.is_empty() || origin.contains('*'))
        || name.is_some_and(str::is_empty)
    {
        return Err(refuse());
    }
    if origin.is_none() && !name.is_some_and(is_pattern) {
        return Err(refuse());
    }
    Ok(Term { negated, origin: origin.map(Into::into), name: name.map(Into::into) })
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(if term.negated { "!" } else { "" })?;
            match (&term.origin, &term.name) {
                (Some(origin), Some(name)) => write!(f, "@{origin}/{name}")?,
                (Some(origin), None) => write!(f, "@{origin}")?,
                (None, name) => f.write_str(name.as_deref().unwrap_or("*"))?,
            }
        }
        Ok(())
    }
}
