use super::grammar::Grammar;
use super::name_pattern::without_marks;
use super::references::Reference;
use super::signature::{line_of, signature};
use super::symbols::Symbol;
use crate::excerpt::Excerpt;
use crate::wording::counted;
use serde_json::{Value, json};

/// A symbol, or a place where one is used, as it is shown.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) depth: usize,
    first: usize,
    last: usize,
    kind: &'static str,
    name: String,
    pub(super) shown: Excerpt,
    /// How many members it has that are not shown.
    fields: u32,
    variants: u32,
    members: u32,
}

impl Entry {
    /// Shows a symbol; what is in it is counted if it is not shown.
    pub(super) fn of_symbol(
        grammar: &'static Grammar,
        symbol: &Symbol<'_>,
        text: &[u8],
        is_deepest: bool,
    ) -> Self {
        let (first, last) = symbol.lines();
        Self {
            depth: symbol.depth,
            first,
            last,
            kind: symbol.kind.as_str(),
            name: name(&text[symbol.name.clone()]),
            shown: signature(grammar, symbol, text),
            fields: symbol.fields,
            variants: symbol.variants,
            members: if is_deepest { symbol.members } else { 0 },
        }
    }

    /// Shows the line where a name is used.
    pub(super) fn of_reference(reference: &Reference<'_>, text: &[u8]) -> Self {
        let line = reference.node.start_position().row + 1;
        Self {
            depth: 0,
            first: line,
            last: line,
            kind: reference.kind.as_str(),
            name: name(&text[reference.node.byte_range()]),
            shown: line_of(reference.node, text),
            fields: 0,
            variants: 0,
            members: 0,
        }
    }

    /// The line of text that shows it, without its end.
    pub(super) fn line(&self) -> String {
        let Self { first, last, kind, shown, .. } = self;
        let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let parts = [(self.fields, "field"), (self.variants, "variant"), (self.members, "member")];
        let parts = parts.into_iter().filter(|(number, _)| *number > 0);
        let parts: Vec<String> = parts.map(|(number, noun)| counted(number.into(), noun)).collect();
        let inside = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        format!("{lines} {kind}: {}{inside}", shown.text)
    }

    /// What the host is told of it.
    pub(super) fn details(&self) -> Value {
        let Self { depth, first, last, kind, name, shown, .. } = self;
        json!({ "name": name, "kind": kind, "first": first, "last": last, "depth": depth, "text": shown.text })
    }
}

fn name(text: &[u8]) -> String {
    String::from_utf8_lossy(without_marks(text)).into_owned()
}
