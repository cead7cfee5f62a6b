mod alternatives;
mod lexer;

use super::name_glob::{NameGlob, Token, fold};
use alternatives::expand;
use lexer::{Part, read};
use std::ops::Range;

/// The longest pattern, in bytes; no path that a person would write comes near it.
const LONGEST: usize = 1_000;

/// What a pattern expects of one name of a path, or of several.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// This name.
    Name(Box<str>),
    /// A name of this form.
    Glob(NameGlob),
    /// Any one name.
    Any,
    /// Any names, also none.
    Deep,
}

impl Step {
    pub(super) fn folded(&self) -> Self {
        match self {
            Self::Name(name) => Self::Name(fold(name).into()),
            Self::Glob(glob) => Self::Glob(glob.folded()),
            Self::Any | Self::Deep => self.clone(),
        }
    }
}

/// Where a pattern starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// In the working directory.
    Root,
    /// In the home directory.
    Home,
    /// In `/`.
    Top,
}

/// One pattern, without alternatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathPattern {
    pub(super) base: Base,
    pub(super) steps: Vec<Step>,
}

impl PathPattern {
    /// Tells whether what lies below a matching path is certainly meant too.
    ///
    /// `src` and `src/**` mean the tree; `src/*` and `*.rs` might meet a directory by chance, and mean no more than what
    /// they match.
    pub(super) fn means_trees(&self) -> bool {
        matches!(self.steps.last(), None | Some(Step::Name(_) | Step::Deep))
    }
}

/// Says what is wrong in a pattern, where (in bytes), and what to write instead.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) range: Range<usize>,
    pub(super) reason: String,
}

impl Fault {
    fn new(range: Range<usize>, reason: impl Into<String>) -> Self {
        Self { range, reason: reason.into() }
    }
}

/// Reads a pattern: what stands for several, by its alternatives, is given as several.
pub(super) fn parse(text: &str) -> Result<Vec<PathPattern>, Fault> {
    let whole = 0..text.len();
    if text.is_empty() {
        return Err(Fault::new(
            whole,
            "the pattern is empty; write `**` for everything in the working directory",
        ));
    }
    if text.len() > LONGEST {
        return Err(Fault::new(
            whole,
            format!("the pattern is longer than {LONGEST} bytes; write a shorter one"),
        ));
    }
    if text.starts_with('!') {
        let reason = "a pattern cannot take back what another one gives; write a rule that denies or asks, or `\\!` \
                      for the character itself";
        return Err(Fault::new(0..1, reason));
    }
    let (base, skipped) = base(text)?;
    let parts = read(&text[skipped..])
        .map_err(|Fault { range, reason }| Fault::new(range.start + skipped..range.end + skipped, reason))?;
    let texts = expand(&parts).ok_or_else(|| {
        Fault::new(whole, "the alternatives in `{..}` make too many patterns; write several rules")
    })?;
    texts.iter().map(|parts| pattern(base, parts, text)).collect()
}

/// Tells where a pattern starts, and how many bytes say so.
fn base(text: &str) -> Result<(Base, usize), Fault> {
    match text.as_bytes() {
        [b'/', ..] => Ok((Base::Top, 1)),
        [b'~'] => Ok((Base::Home, 1)),
        [b'~', b'/', ..] => Ok((Base::Home, 2)),
        [b'~', ..] => {
            let end = text.find('/').unwrap_or(text.len());
            let reason = "only the own home directory can be named by `~`; write `~/`, the directory's absolute path, \
                          or `\\~` for the character itself";
            Err(Fault::new(0..end, reason))
        }
        _ => Ok((Base::Root, 0)),
    }
}

/// Makes a pattern of a text without alternatives.
fn pattern(base: Base, parts: &[&Part], text: &str) -> Result<PathPattern, Fault> {
    let whole = 0..text.len();
    if base == Base::Root && matches!(parts.first(), Some(Part::Slash)) {
        return Err(Fault::new(whole, "an alternative cannot start with `/`; write two rules"));
    }
    let is_slash = |part: &&Part| matches!(part, Part::Slash);
    let end = parts.iter().rposition(|part| !is_slash(part)).map_or(0, |last| last + 1);
    let is_anchored = base != Base::Root || parts[..end].iter().any(is_slash);
    let mut steps = Vec::new();
    if !is_anchored {
        steps.push(Step::Deep);
    }
    for name in parts.split(is_slash) {
        let tokens: Vec<Token> = name.iter().filter_map(|part| part.token()).cloned().collect();
        if let [Token::Char('.'), Token::Char('.')] = *tokens {
            let range = text.find("..").map_or(whole, |at| at..at + 2);
            return Err(Fault::new(
                range,
                "a `..` leads out of the directory before it; write where it leads to",
            ));
        }
        let Some(step) = step(&tokens) else { continue };
        if step != Step::Deep || steps.last() != Some(&Step::Deep) {
            steps.push(step);
        }
    }
    // Whatever has a name below a directory is all below it.
    while let [.., Step::Deep, Step::Any] = *steps {
        steps.pop();
    }
    if base == Base::Root && matches!(*steps, [] | [Step::Deep]) && !parts.iter().any(|part| part.is_star()) {
        let reason = "the pattern names nothing; write `**` for everything in the working directory";
        return Err(Fault::new(whole, reason));
    }
    Ok(PathPattern { base, steps })
}

/// Makes a step of one name; `None` where there is no name, or one that leads nowhere.
fn step(tokens: &[Token]) -> Option<Step> {
    match tokens {
        [] | [Token::Char('.')] => None,
        [Token::Star] => Some(Step::Any),
        tokens if tokens.iter().all(|token| *token == Token::Star) => Some(Step::Deep),
        tokens => {
            let name = tokens.iter().map(|token| match token {
                Token::Char(character) => Some(*character),
                _ => None,
            });
            let name: Option<String> = name.collect();
            Some(name.map_or_else(|| Step::Glob(NameGlob::new(tokens)), |name| Step::Name(name.into())))
        }
    }
}

#[cfg(test)]
pub(super) fn tokens_of_name(text: &str) -> Vec<Token> {
    read(text).unwrap().iter().filter_map(Part::token).cloned().collect()
}

#[cfg(test)]
mod tests;
