//! What is said to a model whose pattern cannot be used.

use super::{LONGEST, NESTING, PatternOptions};
use crate::wording::Quoted;
use grep_regex::ErrorKind;
use haft_core::ToolError;
use regex_syntax::ast;
use regex_syntax::{Error, ParserBuilder};
use std::ops::Range;

/// How many characters are escaped while looking for what the model may have meant.
const MOST_ESCAPES: usize = 4;

/// How much of the pattern is shown around what is wrong with it, in characters.
const SHOWN_CHARACTERS: usize = 40;

/// Refuses what is no pattern, with the place and a way to write what was probably meant.
pub(super) fn check(text: &str, options: PatternOptions) -> Result<(), ToolError> {
    let refuse = |text: String| Err(ToolError::invalid_input(text));
    if text.is_empty() {
        return refuse(
            "the pattern is empty and would match every line; write what to look for, \
             or use `glob` to list files"
                .to_owned(),
        );
    }
    if text.len() > LONGEST {
        return refuse(format!(
            "the pattern has {} bytes and may have {LONGEST}; look for a part of it",
            text.len()
        ));
    }
    if text.contains('\0') {
        return refuse(nul());
    }
    if options.literal {
        if text.contains('\n') && !options.multiline {
            return refuse(line_break());
        }
        return Ok(());
    }
    parse(text).map_err(|error| ToolError::invalid_input(explain(text, &error)).with_source(error))
}

/// Refuses a pattern that is one but cannot be compiled.
pub(super) fn uncompiled(text: &str, error: &grep_regex::Error) -> ToolError {
    let message = match error.kind() {
        ErrorKind::NotAllowed(_) => line_break(),
        ErrorKind::Banned(_) => nul(),
        ErrorKind::Regex(reason) if reason.contains("size limit") => format!(
            "the pattern {} is too large when compiled; make the counts of its repetitions smaller, \
             or use ASCII classes such as `[0-9A-Za-z_]` in place of `\\w`",
            Quoted(text)
        ),
        _ => format!(
            "the pattern {} cannot be compiled; write a simpler one, or set `literal` to true to look for this very text",
            Quoted(text)
        ),
    };
    ToolError::invalid_input(message).with_source(error.clone())
}

fn line_break() -> String {
    "the pattern has a line break but is matched within lines; set `multiline` to true, or look for one of its lines"
        .to_owned()
}

fn nul() -> String {
    "the pattern has a NUL byte, but files with such bytes are binary and not searched; leave it out"
        .to_owned()
}

fn parse(text: &str) -> Result<(), Box<Error>> {
    // The same as the matcher, which also searches what is not UTF-8.
    let parsed = ParserBuilder::new().utf8(false).nest_limit(NESTING).build().parse(text);
    parsed.map(drop).map_err(Box::new)
}

fn explain(text: &str, error: &Error) -> String {
    let (span, reason) = match error {
        Error::Parse(error) => (span(error.span()), error.kind().to_string()),
        Error::Translate(error) => (span(error.span()), error.kind().to_string()),
        _ => (0..0, "it cannot be understood".to_owned()),
    };
    let place = text.get(..span.start).map_or(1, |before| before.chars().count() + 1);
    let part: String = text.get(span.start..).unwrap_or_default().chars().take(SHOWN_CHARACTERS).collect();
    let at = if part.is_empty() {
        "at its end".to_owned()
    } else {
        format!("at character {place}, {}", Quoted(&part))
    };
    let next = match error {
        Error::Parse(error) => match error.kind() {
            ast::ErrorKind::UnsupportedLookAround => {
                "match what is around as well, or search for the core of the pattern and look at the lines around it \
                 with `context`"
                    .to_owned()
            }
            ast::ErrorKind::UnsupportedBackreference => {
                "write out what is repeated, or search for the first part and look through the matches".to_owned()
            }
            _ => suggestion(text),
        },
        _ => suggestion(text),
    };
    format!("the pattern is not a regular expression, {at}: {reason}; {next}")
}

fn suggestion(text: &str) -> String {
    let literally = "set `literal` to true to look for this very text";
    match escaped(text) {
        Some(escaped) => format!("escape it, as in {}, or {literally}", Quoted(&escaped)),
        None => format!("correct it, or {literally}"),
    }
}

/// Escapes the characters at which parsing fails, one after the other, until the rest is a pattern.
fn escaped(text: &str) -> Option<String> {
    let mut text = text.to_owned();
    for _ in 0..MOST_ESCAPES {
        let Range { start, end } = match *parse(&text).err()? {
            Error::Parse(error) => span(error.span()),
            _ => return None,
        };
        let faulty = text.get(start..end.max(start + 1))?;
        let mut at = start + faulty.find(['(', ')', '[', '{', '}', '*', '+', '?'])?;
        if text[at..].starts_with('}') {
            // What is wrong with the count that ends here is that it is none.
            at = text[..at].rfind('{')?;
        }
        text.insert(at, '\\');
        if parse(&text).is_ok() {
            return Some(text);
        }
    }
    None
}

fn span(span: &ast::Span) -> Range<usize> {
    span.start.offset..span.end.offset
}
