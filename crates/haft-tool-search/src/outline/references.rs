use super::grammar::{Grammar, UseKind};
use super::name_pattern::NamePattern;
use crate::watch::{Halt, Stop};
use tree_sitter::{Node, Tree};

/// How far it is looked around a name to tell what its place is.
const MOST_AROUND: usize = 24;

/// After how many nodes it is asked whether to stop.
const NODES_IN_ONE_GO: u32 = 2048;

/// A place where a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference<'t> {
    pub(super) kind: UseKind,
    pub(super) node: Node<'t>,
}

/// Finds where names are written that a pattern means: in the code, not in comments or texts.
pub(super) fn references<'t>(
    grammar: &'static Grammar,
    tree: &'t Tree,
    text: &[u8],
    pattern: &NamePattern,
    halt: &Halt<'_>,
) -> Result<Vec<Reference<'t>>, Stop> {
    let table = grammar.table();
    let mut places = pattern.places(text).peekable();
    let mut cursor = tree.walk();
    // The nodes around the cursor, each with the field that it is in what is around it.
    let mut around: Vec<(Node<'t>, Option<&'t str>)> = Vec::new();
    let mut found = Vec::new();
    let mut nodes = 0_u32;
    loop {
        nodes += 1;
        if nodes.is_multiple_of(NODES_IN_ONE_GO) {
            halt.check()?;
        }
        let node = cursor.node();
        while places.next_if(|place| *place < node.start_byte()).is_some() {}
        let Some(place) = places.peek() else { return Ok(found) };
        let has_place = *place < node.end_byte();
        if has_place && table.entry(node).is_identifier {
            if pattern.matches(&text[node.byte_range()]) {
                let kind = kind_of(grammar, node, cursor.field_name(), &around);
                found.push(Reference { kind, node });
            }
        } else if has_place {
            let field = cursor.field_name();
            if cursor.goto_first_child() {
                around.push((node, field));
                continue;
            }
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Ok(found);
            }
            around.pop();
        }
    }
}

/// Tells what a name is in its place.
fn kind_of(
    grammar: &'static Grammar,
    node: Node<'_>,
    field: Option<&str>,
    around: &[(Node<'_>, Option<&str>)],
) -> UseKind {
    let table = grammar.table();
    let fits = |wanted: &str, field: Option<&str>| wanted.is_empty() || field == Some(wanted);
    let mut field = field;
    let mut is_same = true;
    for (outer, outer_field) in around.iter().rev().take(MOST_AROUND) {
        let entry = table.entry(*outer);
        let used = entry.uses.iter().find(|used| match used.field {
            Some(wanted) => is_same && fits(wanted, field),
            None => true,
        });
        if let Some(used) = used {
            return used.kind;
        }
        is_same &= entry.through.iter().any(|wanted| fits(wanted, field));
        field = *outer_field;
    }
    if node.kind() == "type_identifier" { UseKind::Type } else { UseKind::Use }
}
