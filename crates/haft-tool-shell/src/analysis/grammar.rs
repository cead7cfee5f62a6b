use crate::syntax::{Lexer, Token, Unreadable};
use brush_parser::ast::Program;
use brush_parser::{ParserOptions, SourcePosition, SourceSpan, parse_tokens};
use std::sync::{Arc, LazyLock};

/// How `bash -c` reads scripts: without the patterns of `extglob`.
static OPTIONS: LazyLock<ParserOptions> =
    LazyLock::new(|| ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() });

/// Where tokens stand, as far as the grammar cares: whether a number touches the operator behind it.
struct Places {
    number: SourceSpan,
    other: SourceSpan,
}

static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let place = |index| Arc::new(SourcePosition { index, line: 1, column: 1 });
    let span = |end| SourceSpan { start: place(0), end: place(end) };
    Places { number: span(0), other: span(1) }
});

/// Reads a script.
pub(super) fn parse(script: &str) -> Result<Program, Unreadable> {
    let tokens = Lexer::new(script, 0, 0).tokens()?;
    let tokens: Vec<_> = tokens.into_iter().map(token).collect();
    parse_tokens(&tokens, &OPTIONS).map_err(|_| Unreadable("what is not bash, or not understood as such"))
}

fn token(token: Token) -> brush_parser::Token {
    match token {
        Token::Operator(operator) => brush_parser::Token::Operator(operator.to_owned(), PLACES.other.clone()),
        Token::Word(word) => brush_parser::Token::Word(word, PLACES.other.clone()),
        Token::Number(number) => brush_parser::Token::Word(number, PLACES.number.clone()),
    }
}
