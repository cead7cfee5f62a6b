//! What JavaScript and TypeScript have in common.

use super::{Rule, Use, UseKind, When, call, rule, within};
use crate::outline::kind::Kind;

pub(super) const FUNCTIONS: &[&str] = &["arrow_function", "function_expression", "generator_function"];

pub(super) const RULES: &[Rule] = &[
    rule("class_declaration", Kind::Class, "name"),
    rule("function_declaration", Kind::Function, "name"),
    rule("generator_function_declaration", Kind::Function, "name"),
    rule("method_definition", Kind::Method, "name"),
    rule("variable_declarator", Kind::Function, "name").when(When::Is("value", FUNCTIONS)),
    rule("variable_declarator", Kind::Class, "name").when(When::Is("value", &["class"])),
    rule("variable_declarator", Kind::Variable, "name").when(When::Is("name", &["identifier"])),
    rule("assignment_expression", Kind::Function, "left").when(When::Is("right", FUNCTIONS)),
    rule("assignment_expression", Kind::Class, "left").when(When::Is("right", &["class"])),
    rule("pair", Kind::Function, "key").when(When::Is("value", FUNCTIONS)),
];

/// What symbols are looked for in: functions are written anywhere, as arguments and in objects.
pub(super) const ENTER: &[&str] = &[
    "program",
    "statement_block",
    "export_statement",
    "lexical_declaration",
    "variable_declaration",
    "class_body",
    "expression_statement",
    "assignment_expression",
    "variable_declarator",
    "call_expression",
    "member_expression",
    "arguments",
    "arrow_function",
    "function_expression",
    "generator_function",
    "class",
    "object",
    "pair",
    "array",
    "parenthesized_expression",
    "sequence_expression",
    "binary_expression",
    "unary_expression",
    "ternary_expression",
    "await_expression",
    "new_expression",
    "return_statement",
    "if_statement",
    "else_clause",
    "for_statement",
    "for_in_statement",
    "while_statement",
    "do_statement",
    "try_statement",
    "catch_clause",
    "finally_clause",
    "switch_statement",
    "switch_body",
    "switch_case",
    "switch_default",
    "labeled_statement",
];

pub(super) const WRAPPERS: &[&str] =
    &["export_statement", "lexical_declaration", "variable_declaration", "expression_statement"];

pub(super) const DECORATIONS: &[&str] = &["decorator"];

pub(super) const BODIES: &[&str] = &["statement_block", "class_body"];

pub(super) const IDENTIFIERS: &[&str] = &[
    "identifier",
    "property_identifier",
    "private_property_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
];

pub(super) const USES: &[Use] = &[
    call("call_expression", "function"),
    call("new_expression", "constructor"),
    within("import_statement", UseKind::Import),
];

/// What makes a component of a name in JSX.
pub(super) const ELEMENTS: &[Use] =
    &[call("jsx_opening_element", "name"), call("jsx_self_closing_element", "name")];

pub(super) const THROUGH: &[(&str, &str)] = &[("member_expression", "property")];
