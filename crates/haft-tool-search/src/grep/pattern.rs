mod refusal;

use super::input::Case;
use grep_matcher::{LineTerminator, Matcher as _};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use haft_core::ToolError;
use std::ops::Range;

/// The longest pattern accepted, in bytes, so that compiling one takes well under a second whatever it holds.
pub(super) const LONGEST: usize = 2000;

/// How deep groups may nest; the limit of the `regex` crate is 250, of which it warns that some consumers recurse.
const NESTING: u32 = 100;

/// How much memory one automaton built while searching may take, in bytes (the default of the `regex` crate).
const AUTOMATON_BYTES: usize = 2 << 20;

/// How a pattern is to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatternOptions {
    /// Whether letter case counts.
    pub(super) case: Case,
    /// Whether the pattern is the text itself.
    pub(super) literal: bool,
    /// Whether a match may span lines.
    pub(super) multiline: bool,
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    options: PatternOptions,
    matcher: RegexMatcher,
    line_end: LineTerminator,
    effort: Effort,
}

/// How much is searched in one go, which cannot be interrupted.
///
/// Matching costs at most the size of the compiled pattern for each byte, so a larger pattern gets smaller pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Effort {
    /// The most memory the compiled pattern may take, in bytes.
    pattern: usize,
    /// How much of a file is read at a time, in bytes.
    pub(super) read: usize,
    /// The longest line, and where matches may span lines the largest file, in bytes.
    pub(super) piece: usize,
}

/// What nearly every pattern fits in: a few Unicode classes such as `\w`, hundreds of alternatives.
const COMMON: Effort = Effort { pattern: 256 << 10, read: 32 << 10, piece: 4 << 20 };

/// The rest: a dozen or more repeated Unicode classes. A worse pattern is refused.
const LARGE: Effort = Effort { pattern: 2 << 20, read: 2 << 10, piece: 256 << 10 };

impl Pattern {
    /// Compiles a model-given pattern.
    pub(super) fn compile(text: &str, options: PatternOptions) -> Result<Self, ToolError> {
        refusal::check(text, options)?;
        let built = |effort| Self::build_for_lines(text, options, effort).map(|built| (built, effort));
        let ((matcher, line_end), effort) = built(COMMON)
            .or_else(|error| match error.kind() {
                ErrorKind::Regex(_) => built(LARGE),
                _ => Err(error),
            })
            .map_err(|error| refusal::uncompiled(text, &error))?;
        Ok(Self { text: text.to_owned(), options, matcher, line_end, effort })
    }

    /// Builds a matcher for which a line ends in CR LF as well as in LF, unless the pattern is about the CR.
    fn build_for_lines(
        text: &str,
        options: PatternOptions,
        effort: Effort,
    ) -> Result<(RegexMatcher, LineTerminator), grep_regex::Error> {
        let build = |line_end| build(text, options, effort, line_end).map(|matcher| (matcher, line_end));
        let (either, only_lf) = (LineTerminator::crlf(), LineTerminator::byte(b'\n'));
        match build(either) {
            Err(error) if matches!(error.kind(), ErrorKind::NotAllowed(text) if text == "\r") => {
                build(only_lf)
            }
            // A pattern with `\A` or `\z` is tried on each line by itself, and a line is only freed of the one end that
            // was asked for.
            Ok((matcher, _)) if !options.multiline && matcher.line_terminator().is_none() => build(only_lf),
            result => result,
        }
    }

    /// The pattern as the model wrote it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn options(&self) -> PatternOptions {
        self.options
    }

    /// Tells whether upper and lower case are different.
    pub(super) fn tells_case_apart(&self) -> bool {
        let PatternOptions { case, literal, .. } = self.options;
        let mut escaped = false;
        // The letter of an escape such as `\S` is no letter of the text.
        let has_upper_case = self.text.chars().any(|character| {
            let is_text = literal || !escaped;
            escaped = character == '\\' && !escaped;
            is_text && character.is_uppercase()
        });
        match case {
            Case::Smart => has_upper_case,
            Case::Sensitive => true,
            Case::Insensitive => false,
        }
    }

    pub(super) fn matcher(&self) -> &RegexMatcher {
        &self.matcher
    }

    /// What ends a line for the searcher, which must be what it is for the matcher.
    pub(super) fn line_end(&self) -> LineTerminator {
        self.line_end
    }

    pub(super) fn effort(&self) -> Effort {
        self.effort
    }

    /// Finds the first match at or behind a place of a text.
    pub(super) fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
        // The matcher of a regular expression cannot fail.
        let found = self.matcher.find_at(text, from).ok().flatten()?;
        Some(found.start()..found.end())
    }
}

fn build(
    text: &str,
    options: PatternOptions,
    effort: Effort,
    line_end: LineTerminator,
) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .fixed_strings(options.literal)
        // Files with this byte are not searched.
        .ban_byte(Some(b'\0'))
        .nest_limit(NESTING)
        .size_limit(effort.pattern)
        .dfa_size_limit(AUTOMATON_BYTES)
        .crlf(line_end.is_crlf());
    match options.case {
        Case::Smart => builder.case_smart(true),
        Case::Sensitive => builder.case_insensitive(false),
        Case::Insensitive => builder.case_insensitive(true),
    };
    if options.multiline {
        builder.line_terminator(None).dot_matches_new_line(true);
    } else if !line_end.is_crlf() {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(text)
}

#[cfg(test)]
mod tests;
