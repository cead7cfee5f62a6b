use super::{GRAMMARS, Grammar, Name, When};

/// Everything that a grammar names, of the kinds of nodes and of the fields.
fn named(grammar: &'static Grammar) -> (Vec<&'static str>, Vec<&'static str>) {
    let lists = [grammar.enter, grammar.bodies, grammar.identifiers];
    let mut kinds: Vec<&str> = lists.into_iter().flatten().copied().flatten().copied().collect();
    kinds.extend(grammar.wrappers.iter().chain(grammar.decorations));
    let mut fields = Vec::new();
    for rule in grammar.rules.iter().copied().flatten() {
        kinds.push(rule.node);
        match rule.name {
            Name::Field(field) | Name::Declarator(field) => fields.push(field),
            Name::Own => {}
        }
        match rule.when {
            When::Always => {}
            When::Has(field) => fields.push(field),
            When::Is(field, of) => {
                fields.push(field);
                kinds.extend(of);
            }
            When::In(node) => kinds.push(node),
        }
    }
    for used in grammar.uses.iter().copied().flatten() {
        kinds.push(used.node);
        fields.extend(used.field);
    }
    for (node, field) in grammar.through.iter().copied().flatten() {
        kinds.push(node);
        fields.push(field);
    }
    fields.retain(|field| !field.is_empty());
    (kinds, fields)
}

#[test]
fn grammars_name_nothing_that_the_parsers_do_not_know() {
    for grammar in GRAMMARS {
        let language = &grammar.table().language;
        let (kinds, fields) = named(grammar);
        for kind in kinds {
            assert_ne!(language.id_for_node_kind(kind, true), 0, "{grammar:?} has no node `{kind}`");
        }
        for field in fields {
            assert!(language.field_id_for_name(field).is_some(), "{grammar:?} has no field `{field}`");
        }
    }
}

#[test]
fn no_two_grammars_have_an_extension_in_common() {
    let mut extensions: Vec<&str> = GRAMMARS.iter().flat_map(|grammar| grammar.extensions).copied().collect();
    let all = extensions.len();
    extensions.sort_unstable();
    extensions.dedup();
    assert_eq!(extensions.len(), all);
}
