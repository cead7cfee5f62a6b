use super::{Grammar, Rule, Use};
use std::collections::HashMap;
use tree_sitter::{Language, Node};

/// What is known of each kind of node, by its number, so that a walk compares no names.
pub(in crate::outline) struct Table {
    pub(in crate::outline) language: Language,
    kinds: Vec<KindEntry>,
}

/// What is known of one kind of node.
#[derive(Default, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "a kind of node can be any of them at once")]
pub(in crate::outline) struct KindEntry {
    pub(in crate::outline) rules: Vec<&'static Rule>,
    pub(in crate::outline) is_entered: bool,
    pub(in crate::outline) is_wrapper: bool,
    pub(in crate::outline) is_decoration: bool,
    pub(in crate::outline) is_body: bool,
    pub(in crate::outline) is_identifier: bool,
    pub(in crate::outline) uses: Vec<&'static Use>,
    /// The fields through which a reference is still the same.
    pub(in crate::outline) through: Vec<&'static str>,
}

/// What is known of a node that is not a part of the language, since something is wrong around it.
static BROKEN: KindEntry = KindEntry {
    rules: Vec::new(),
    is_entered: true,
    is_wrapper: false,
    is_decoration: false,
    is_body: false,
    is_identifier: false,
    uses: Vec::new(),
    through: Vec::new(),
};

impl Table {
    pub(super) fn of(grammar: &Grammar) -> Self {
        let language = (grammar.language)();
        let mut named: HashMap<&str, KindEntry> = HashMap::new();
        for rule in grammar.rules.iter().copied().flatten() {
            named.entry(rule.node).or_default().rules.push(rule);
        }
        let mut mark = |names: &mut dyn Iterator<Item = &'static str>, set: fn(&mut KindEntry)| {
            names.for_each(|name| set(named.entry(name).or_default()));
        };
        mark(&mut grammar.enter.iter().copied().flatten().copied(), |kind| kind.is_entered = true);
        mark(&mut grammar.wrappers.iter().copied(), |kind| kind.is_wrapper = true);
        mark(&mut grammar.decorations.iter().copied(), |kind| kind.is_decoration = true);
        mark(&mut grammar.bodies.iter().copied().flatten().copied(), |kind| kind.is_body = true);
        mark(&mut grammar.identifiers.iter().copied().flatten().copied(), |kind| kind.is_identifier = true);
        for used in grammar.uses.iter().copied().flatten() {
            named.entry(used.node).or_default().uses.push(used);
        }
        for (node, field) in grammar.through.iter().copied().flatten() {
            named.entry(node).or_default().through.push(field);
        }
        // Several numbers can have one name.
        let count = u16::try_from(language.node_kind_count()).unwrap_or(u16::MAX);
        let kinds = (0..count).map(|id| {
            let name = language.node_kind_for_id(id).filter(|_| language.node_kind_is_named(id));
            name.and_then(|name| named.get(name)).cloned().unwrap_or_default()
        });
        let kinds = kinds.collect();
        Self { language, kinds }
    }

    /// Looks up a node.
    pub(in crate::outline) fn entry(&self, node: Node<'_>) -> &KindEntry {
        self.kinds.get(usize::from(node.kind_id())).unwrap_or(&BROKEN)
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").finish_non_exhaustive()
    }
}
