use super::{Grammar, UseKind, call, rule, within};
use crate::outline::kind::Kind;
use crate::outline::shape;
use std::sync::OnceLock;

pub(super) static JAVA: Grammar = Grammar {
    name: "Java",
    extensions: &["java"],
    language: || tree_sitter_java::LANGUAGE.into(),
    rules: &[&[
        rule("class_declaration", Kind::Class, "name"),
        rule("interface_declaration", Kind::Interface, "name"),
        rule("enum_declaration", Kind::Enum, "name"),
        rule("record_declaration", Kind::Record, "name"),
        rule("annotation_type_declaration", Kind::Annotation, "name"),
        rule("method_declaration", Kind::Method, "name"),
        rule("constructor_declaration", Kind::Constructor, "name"),
        rule("compact_constructor_declaration", Kind::Constructor, "name"),
        rule("annotation_type_element_declaration", Kind::Method, "name"),
        rule("enum_constant", Kind::Variant, "name"),
        rule("variable_declarator", Kind::Field, "name"),
    ]],
    enter: &[&[
        "program",
        "class_body",
        "interface_body",
        "enum_body",
        "enum_body_declarations",
        "annotation_type_body",
        "constructor_body",
        "block",
        "field_declaration",
        "constant_declaration",
    ]],
    wrappers: &["field_declaration", "constant_declaration"],
    decorations: &["annotation", "marker_annotation"],
    bodies: &[&[
        "class_body",
        "interface_body",
        "enum_body",
        "annotation_type_body",
        "constructor_body",
        "block",
    ]],
    identifiers: &[&["identifier", "type_identifier"]],
    uses: &[&[
        call("method_invocation", "name"),
        call("object_creation_expression", "type"),
        call("method_reference", ""),
        within("import_declaration", UseKind::Import),
    ]],
    through: &[&[("scoped_type_identifier", ""), ("generic_type", "")]],
    without_bodies: Some(shape::JAVA),
    table: OnceLock::new(),
};
