use super::grammar::Grammar;
use crate::watch::{Halt, Stop};
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, Parser, Range, Tree};

/// Why a text has no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoTree {
    /// The search is to stop.
    Stopped(Stop),
    /// The parser gave up by itself.
    GaveUp,
}

impl From<Stop> for NoTree {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// Parses texts one after the other, with one parser for all languages.
pub(super) struct TextParser(Parser);

impl TextParser {
    pub(super) fn new() -> Self {
        Self(Parser::new())
    }

    /// Parses a text; asks again and again whether to stop.
    pub(super) fn parse(
        &mut self,
        grammar: &'static Grammar,
        text: &[u8],
        halt: &Halt<'_>,
    ) -> Result<Tree, NoTree> {
        self.parse_parts(grammar, text, &[], halt)
    }

    /// As [`Self::parse`], of the parts of a text, which are read as if nothing were between them; of all of it where none are
    /// given.
    pub(super) fn parse_parts(
        &mut self,
        grammar: &'static Grammar,
        text: &[u8],
        parts: &[Range],
        halt: &Halt<'_>,
    ) -> Result<Tree, NoTree> {
        halt.check()?;
        self.0.set_language(&grammar.table().language).map_err(|_| NoTree::GaveUp)?;
        self.0.set_included_ranges(parts).map_err(|_| NoTree::GaveUp)?;
        let mut stopped = None;
        let mut on_progress = |_: &_| match halt.check() {
            Ok(()) => ControlFlow::Continue(()),
            Err(stop) => {
                stopped = Some(stop);
                ControlFlow::Break(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut on_progress);
        let tree =
            self.0.parse_with_options(&mut |at, _| text.get(at..).unwrap_or_default(), None, Some(options));
        // A parser that was stopped would go on with the next text where it was.
        self.0.reset();
        match (tree, stopped) {
            (Some(tree), _) => Ok(tree),
            (None, Some(stop)) => Err(stop.into()),
            (None, None) => Err(NoTree::GaveUp),
        }
    }
}

/// Finds the first line, counted from 1, at which a text is not of its language.
pub(super) fn first_error_line(tree: &Tree) -> Option<usize> {
    if !tree.root_node().has_error() {
        return None;
    }
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return Some(node.start_position().row + 1);
        }
        if !(node.has_error() && cursor.goto_first_child()) {
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return None;
                }
            }
        }
    }
}
