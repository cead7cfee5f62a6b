use super::{Grammar, UseKind, When, declared, rule, within};
use crate::outline::kind::Kind;
use crate::outline::shape;
use std::sync::OnceLock;

pub(super) static CPP: Grammar = Grammar {
    name: "C++",
    extensions: &["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp"],
    language: || tree_sitter_cpp::LANGUAGE.into(),
    rules: &[
        &[
            rule("class_specifier", Kind::Class, "name").when(When::Has("body")),
            rule("namespace_definition", Kind::Namespace, "name"),
            rule("alias_declaration", Kind::Type, "name"),
            rule("concept_definition", Kind::Type, "name"),
        ],
        declared::RULES,
    ],
    enter: &[declared::ENTER, &["class_specifier", "namespace_definition", "template_declaration"]],
    wrappers: &["template_declaration"],
    decorations: &[],
    bodies: &[declared::BODIES, &["field_initializer_list"]],
    identifiers: &[declared::IDENTIFIERS, &["namespace_identifier"]],
    uses: &[declared::USES, &[within("using_declaration", UseKind::Import)]],
    through: &[
        declared::THROUGH,
        &[("qualified_identifier", "name"), ("template_function", "name"), ("template_method", "name")],
    ],
    without_bodies: Some(shape::CPP),
    table: OnceLock::new(),
};
