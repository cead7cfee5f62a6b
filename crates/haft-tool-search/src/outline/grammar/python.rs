use super::{Grammar, UseKind, When, call, rule, within};
use crate::outline::kind::Kind;
use crate::outline::shape;
use std::sync::OnceLock;

pub(super) static PYTHON: Grammar = Grammar {
    name: "Python",
    extensions: &["py", "pyi", "pyw"],
    language: || tree_sitter_python::LANGUAGE.into(),
    rules: &[&[
        rule("class_definition", Kind::Class, "name"),
        rule("function_definition", Kind::Function, "name"),
        rule("assignment", Kind::Variable, "left").when(When::Is("left", &["identifier"])),
        rule("type_alias_statement", Kind::Type, "left"),
    ]],
    enter: &[&[
        "module",
        "block",
        "expression_statement",
        "decorated_definition",
        "if_statement",
        "elif_clause",
        "else_clause",
        "try_statement",
        "except_clause",
        "finally_clause",
        "with_statement",
        "for_statement",
        "while_statement",
        "match_statement",
        "case_clause",
    ]],
    wrappers: &["decorated_definition", "expression_statement"],
    decorations: &["decorator"],
    bodies: &[&["block"]],
    identifiers: &[&["identifier"]],
    uses: &[&[
        call("call", "function"),
        within("import_statement", UseKind::Import),
        within("import_from_statement", UseKind::Import),
        within("type", UseKind::Type),
    ]],
    through: &[&[("attribute", "attribute")]],
    without_bodies: Some(shape::PYTHON),
    table: OnceLock::new(),
};
