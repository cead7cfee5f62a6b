use super::grammar::{Grammar, KindEntry, Name, Rule, When};
use super::kind::Kind;
use crate::watch::{Halt, Stop};
use std::ops::Range;
use tree_sitter::{Node, Tree, TreeCursor};

/// How many symbols of one file are looked at. A file has lines enough for more only where a program wrote it.
const MOST_SYMBOLS: usize = 50_000;

/// After how many nodes it is asked whether to stop.
const NODES_IN_ONE_GO: u32 = 2048;

/// How many nodes a name may be wrapped in, as in `**name[]`.
const MOST_WRAPPED: usize = 32;

/// Something that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Symbol<'t> {
    pub(super) kind: Kind,
    /// Where its name is in the text; in bytes.
    pub(super) name: Range<usize>,
    /// It, with what it is shown with, such as `export`.
    pub(super) node: Node<'t>,
    /// What it belongs to, by its place in the list.
    pub(super) owner: Option<usize>,
    /// In how many others it is that an outline shows.
    pub(super) depth: usize,
    /// How many members it has that an outline only counts.
    pub(super) fields: u32,
    pub(super) variants: u32,
    /// How many others are directly in it.
    pub(super) members: u32,
}

/// All that a file defines, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Symbols<'t> {
    pub(super) all: Vec<Symbol<'t>>,
    /// Whether there are more than were looked at.
    pub(super) has_more: bool,
}

impl Symbol<'_> {
    /// The lines it is on, counted from 1.
    pub(super) fn lines(&self) -> (usize, usize) {
        let (start, end) = (self.node.start_position(), self.node.end_position());
        // What ends with its line ends at the start of the next.
        let last = if end.column == 0 && end.row > start.row { end.row } else { end.row + 1 };
        (start.row + 1, last)
    }
}

/// Finds what a file defines, with what is at most so deep in others.
pub(super) fn symbols<'t>(
    grammar: &'static Grammar,
    tree: &'t Tree,
    depth: usize,
    halt: &Halt<'_>,
) -> Result<Symbols<'t>, Stop> {
    let table = grammar.table();
    let mut walk = Walk {
        cursor: tree.walk(),
        above: Vec::new(),
        open: Vec::new(),
        wrapper: None,
        found: Symbols::default(),
    };
    let mut nodes = 0_u32;
    loop {
        nodes += 1;
        if nodes.is_multiple_of(NODES_IN_ONE_GO) {
            halt.check()?;
        }
        let node = walk.cursor.node();
        let entry = table.entry(node);
        let is_entered = walk.visit(node, entry, depth);
        if walk.found.all.len() >= MOST_SYMBOLS {
            walk.found.has_more = true;
            return Ok(walk.found);
        }
        if is_entered && walk.cursor.goto_first_child() {
            walk.above.push(node);
        } else if !walk.leave() {
            return Ok(walk.found);
        }
    }
}

/// Goes through a tree without a call for each level, since nothing bounds how deep one is.
struct Walk<'t> {
    cursor: TreeCursor<'t>,
    /// The nodes that the walk is in; to ask a node for what it is in would look for it from the root.
    above: Vec<Node<'t>>,
    /// The symbols that the walk is in, each with its level.
    open: Vec<(usize, usize)>,
    /// The outermost of the wrappers directly around the walk, with the level of the innermost.
    wrapper: Option<(usize, Node<'t>)>,
    found: Symbols<'t>,
}

impl<'t> Walk<'t> {
    /// Goes on behind a node; tells whether there is something.
    fn leave(&mut self) -> bool {
        while !self.cursor.goto_next_sibling() {
            if !self.cursor.goto_parent() {
                return false;
            }
            self.above.pop();
        }
        while self.open.last().is_some_and(|(level, _)| *level >= self.above.len()) {
            self.open.pop();
        }
        true
    }

    /// Looks at a node, and tells whether to look into it.
    fn visit(&mut self, node: Node<'t>, entry: &KindEntry, depth: usize) -> bool {
        let level = self.above.len();
        self.wrapper = self.wrapper.filter(|(at, _)| *at < level);
        let around = self.wrapper.filter(|(at, _)| at + 1 == level).map(|(_, outer)| outer);
        if entry.is_wrapper && !is_group(node) {
            self.wrapper = Some((level, around.unwrap_or(node)));
        }
        // What comes behind a body is shown by itself, whatever is in the body.
        if entry.is_body {
            self.wrapper = None;
        }
        let above = self.above.last();
        let Some(rule) = entry.rules.iter().find(|rule| fits(rule, node, above)) else {
            return entry.is_entered || node.is_error();
        };
        let owner = self.open.last().map(|(_, owner)| *owner);
        // What is in something that is only counted is shown as if it were beside it.
        let inside = owner.map_or(0, |at| {
            let owner = &self.found.all[at];
            owner.depth + usize::from(!owner.kind.is_data())
        });
        let around_it = self.open.len();
        let mut is_too_deep = false;
        for (name, kind) in names(rule, node) {
            let owner = owner.map(|at| (at, self.found.all[at].kind));
            let kind = kind.inside(owner.map(|(_, kind)| kind));
            if kind.is_value() && owner.is_some_and(|(_, kind)| kind.runs()) {
                continue;
            }
            let owner = owner.map(|(at, _)| at);
            self.count(owner, kind);
            if inside > depth {
                is_too_deep = true;
                continue;
            }
            // Of several names in one place the last one has what is in it.
            self.open.truncate(around_it);
            self.open.push((level, self.found.all.len()));
            let (name, node) = (name.byte_range(), around.unwrap_or(node));
            let symbol =
                Symbol { kind, name, node, owner, depth: inside, fields: 0, variants: 0, members: 0 };
            self.found.all.push(symbol);
        }
        !is_too_deep
    }

    fn count(&mut self, owner: Option<usize>, kind: Kind) {
        if let Some(owner) = owner {
            let owner = &mut self.found.all[owner];
            match kind {
                Kind::Field => owner.fields += 1,
                Kind::Variant => owner.variants += 1,
                _ => owner.members += 1,
            }
        }
    }
}

/// Tells whether a node holds several of what it would wrap, in parentheses.
fn is_group(node: Node<'_>) -> bool {
    node.child(1).is_some_and(|second| second.kind() == "(")
}

fn fits(rule: &Rule, node: Node<'_>, above: Option<&Node<'_>>) -> bool {
    match rule.when {
        When::Always => true,
        When::Has(field) => node.child_by_field_name(field).is_some(),
        When::Is(field, kinds) => {
            node.child_by_field_name(field).is_some_and(|child| kinds.contains(&child.kind()))
        }
        When::In(kind) => above.is_some_and(|above| above.kind() == kind),
    }
}

/// Finds the names that a node gives, each with the kind of what it names.
fn names<'t>(rule: &Rule, node: Node<'t>) -> Vec<(Node<'t>, Kind)> {
    let (field, is_declarator) = match rule.name {
        Name::Own => return vec![(node, rule.kind)],
        Name::Field(field) => (field, false),
        Name::Declarator(field) => (field, true),
    };
    let mut cursor = node.walk();
    let named = node.children_by_field_name(field, &mut cursor).filter(Node::is_named);
    named
        .filter_map(|child| {
            let (name, wrapped) = innermost(child)?;
            let kind = match wrapped {
                Wrapped { is_function: true, is_qualified: true } if is_declarator => Kind::Method,
                Wrapped { is_function: true, .. } if is_declarator => Kind::Function,
                _ => rule.kind,
            };
            Some((name, kind))
        })
        .collect()
}

/// What a name was wrapped in.
#[derive(Default)]
struct Wrapped {
    is_function: bool,
    is_qualified: bool,
}

/// Finds the name in what is wrapped around it; nothing where it is a pattern of several.
fn innermost(mut node: Node<'_>) -> Option<(Node<'_>, Wrapped)> {
    let mut wrapped = Wrapped::default();
    for _ in 0..MOST_WRAPPED {
        let kind = node.kind();
        let next = match kind {
            "function_declarator" | "pointer_declarator" | "array_declarator" | "init_declarator" => {
                // The function that a pointer leads to is not the one that is declared.
                wrapped.is_function = kind == "function_declarator";
                node.child_by_field_name("declarator")
            }
            "parenthesized_declarator" | "reference_declarator" | "attributed_declarator" => {
                wrapped.is_function = false;
                node.named_child(0)
            }
            "qualified_identifier" => {
                wrapped.is_qualified = true;
                node.child_by_field_name("name")
            }
            "template_function" | "template_type" | "template_method" | "scoped_type_identifier" => {
                node.child_by_field_name("name")
            }
            "generic_type" | "reference_type" | "pointer_type" => node.child_by_field_name("type"),
            "member_expression" | "nested_identifier" => node.child_by_field_name("property"),
            "object_pattern" | "array_pattern" | "structured_binding_declarator" => return None,
            _ => return Some((node, wrapped)),
        };
        node = next?;
    }
    None
}
