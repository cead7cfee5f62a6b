use super::{Grammar, Use, UseKind, call, rule, within};
use crate::outline::kind::Kind;
use crate::outline::shape;
use std::sync::OnceLock;

pub(super) static RUST: Grammar = Grammar {
    name: "Rust",
    extensions: &["rs"],
    language: || tree_sitter_rust::LANGUAGE.into(),
    rules: &[&[
        rule("function_item", Kind::Function, "name"),
        rule("function_signature_item", Kind::Function, "name"),
        rule("struct_item", Kind::Struct, "name"),
        rule("enum_item", Kind::Enum, "name"),
        rule("union_item", Kind::Union, "name"),
        rule("trait_item", Kind::Trait, "name"),
        rule("impl_item", Kind::Impl, "type"),
        rule("mod_item", Kind::Module, "name"),
        rule("const_item", Kind::Constant, "name"),
        rule("static_item", Kind::Static, "name"),
        rule("type_item", Kind::Type, "name"),
        rule("associated_type", Kind::Type, "name"),
        rule("macro_definition", Kind::Macro, "name"),
        rule("enum_variant", Kind::Variant, "name"),
        rule("field_declaration", Kind::Field, "name"),
    ]],
    enter: &[&[
        "source_file",
        "declaration_list",
        "foreign_mod_item",
        "block",
        "field_declaration_list",
        "enum_variant_list",
    ]],
    wrappers: &[],
    decorations: &[],
    bodies: &[&["declaration_list", "block", "field_declaration_list", "enum_variant_list"]],
    identifiers: &[&["identifier", "type_identifier", "field_identifier", "shorthand_field_identifier"]],
    uses: &[&[
        call("call_expression", "function"),
        call("macro_invocation", "macro"),
        Use { node: "impl_item", field: Some("type"), kind: UseKind::Impl },
        Use { node: "impl_item", field: Some("trait"), kind: UseKind::Impl },
        within("use_declaration", UseKind::Import),
    ]],
    through: &[&[
        ("field_expression", "field"),
        ("scoped_identifier", "name"),
        ("generic_function", "function"),
        ("generic_type", "type"),
        ("scoped_type_identifier", "name"),
    ]],
    without_bodies: Some(shape::RUST),
    table: OnceLock::new(),
};
