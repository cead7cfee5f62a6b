use super::{Grammar, Name, Rule, Use, UseKind, When, ecma, rule, within};
use crate::outline::kind::Kind;
use crate::outline::shape;
use std::sync::OnceLock;

const RULES: &[Rule] = &[
    rule("abstract_class_declaration", Kind::Class, "name"),
    rule("interface_declaration", Kind::Interface, "name"),
    rule("type_alias_declaration", Kind::Type, "name"),
    rule("enum_declaration", Kind::Enum, "name"),
    rule("enum_assignment", Kind::Variant, "name"),
    Rule { node: "property_identifier", kind: Kind::Variant, name: Name::Own, when: When::In("enum_body") },
    rule("internal_module", Kind::Namespace, "name"),
    rule("module", Kind::Module, "name"),
    rule("function_signature", Kind::Function, "name"),
    rule("method_signature", Kind::Method, "name"),
    rule("abstract_method_signature", Kind::Method, "name"),
    rule("property_signature", Kind::Field, "name"),
    rule("public_field_definition", Kind::Method, "name").when(When::Is("value", ecma::FUNCTIONS)),
    rule("public_field_definition", Kind::Field, "name"),
];

const ENTER: &[&str] = &["ambient_declaration", "interface_body", "enum_body"];

const WRAPPERS: &[&str] = &[
    "export_statement",
    "ambient_declaration",
    "lexical_declaration",
    "variable_declaration",
    "expression_statement",
];

const BODIES: &[&str] = &["interface_body", "enum_body"];

const IDENTIFIERS: &[&str] = &["type_identifier"];

const USES: &[Use] = &[within("type_annotation", UseKind::Type)];

pub(super) static TYPESCRIPT: Grammar = Grammar {
    name: "TypeScript",
    extensions: &["ts", "mts", "cts"],
    language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    rules: &[ecma::RULES, RULES],
    enter: &[ecma::ENTER, ENTER],
    wrappers: WRAPPERS,
    decorations: ecma::DECORATIONS,
    bodies: &[ecma::BODIES, BODIES],
    identifiers: &[ecma::IDENTIFIERS, IDENTIFIERS],
    uses: &[ecma::USES, USES],
    through: &[ecma::THROUGH],
    without_bodies: Some(shape::TYPESCRIPT),
    table: OnceLock::new(),
};

pub(super) static TSX: Grammar = Grammar {
    name: "TypeScript",
    extensions: &["tsx"],
    language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    rules: &[ecma::RULES, RULES],
    enter: &[ecma::ENTER, ENTER],
    wrappers: WRAPPERS,
    decorations: ecma::DECORATIONS,
    bodies: &[ecma::BODIES, BODIES],
    identifiers: &[ecma::IDENTIFIERS, IDENTIFIERS],
    uses: &[ecma::USES, ecma::ELEMENTS, USES],
    through: &[ecma::THROUGH],
    without_bodies: Some(shape::TSX),
    table: OnceLock::new(),
};
