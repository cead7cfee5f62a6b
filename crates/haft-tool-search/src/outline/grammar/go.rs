use super::{Grammar, UseKind, When, call, rule, within};
use crate::outline::kind::Kind;
use crate::outline::shape;
use std::sync::OnceLock;

pub(super) static GO: Grammar = Grammar {
    name: "Go",
    extensions: &["go"],
    language: || tree_sitter_go::LANGUAGE.into(),
    rules: &[&[
        rule("function_declaration", Kind::Function, "name"),
        rule("method_declaration", Kind::Method, "name"),
        rule("type_spec", Kind::Struct, "name").when(When::Is("type", &["struct_type"])),
        rule("type_spec", Kind::Interface, "name").when(When::Is("type", &["interface_type"])),
        rule("type_spec", Kind::Type, "name"),
        rule("type_alias", Kind::Type, "name"),
        rule("const_spec", Kind::Constant, "name"),
        rule("var_spec", Kind::Variable, "name"),
        rule("field_declaration", Kind::Field, "name"),
        rule("method_elem", Kind::Method, "name"),
    ]],
    enter: &[&[
        "source_file",
        "const_declaration",
        "var_declaration",
        "var_spec_list",
        "type_declaration",
        "struct_type",
        "interface_type",
        "field_declaration_list",
        "block",
        "statement_list",
    ]],
    wrappers: &["const_declaration", "var_declaration", "type_declaration"],
    decorations: &[],
    bodies: &[&["block", "field_declaration_list", "method_elem", "type_elem"]],
    identifiers: &[&["identifier", "type_identifier", "field_identifier", "package_identifier"]],
    uses: &[&[call("call_expression", "function"), within("import_declaration", UseKind::Import)]],
    through: &[&[
        ("selector_expression", "field"),
        ("generic_type", "type"),
        ("qualified_type", "name"),
        ("type_instantiation_expression", "type"),
    ]],
    without_bodies: Some(shape::GO),
    table: OnceLock::new(),
};
