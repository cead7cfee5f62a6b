//! What C and C++ have in common.

use super::{Name, Rule, Use, When, call, rule};
use crate::outline::kind::Kind;

pub(super) const RULES: &[Rule] = &[
    Rule {
        node: "function_definition",
        kind: Kind::Function,
        name: Name::Declarator("declarator"),
        when: When::Always,
    },
    Rule {
        node: "declaration",
        kind: Kind::Variable,
        name: Name::Declarator("declarator"),
        when: When::Always,
    },
    Rule {
        node: "field_declaration",
        kind: Kind::Field,
        name: Name::Declarator("declarator"),
        when: When::Always,
    },
    rule("type_definition", Kind::Type, "declarator"),
    rule("struct_specifier", Kind::Struct, "name").when(When::Has("body")),
    rule("union_specifier", Kind::Union, "name").when(When::Has("body")),
    rule("enum_specifier", Kind::Enum, "name").when(When::Has("body")),
    rule("enumerator", Kind::Variant, "name"),
    rule("preproc_def", Kind::Macro, "name").when(When::Has("value")),
    rule("preproc_function_def", Kind::Macro, "name"),
];

/// What symbols are looked for in; specifiers without a name are, too.
pub(super) const ENTER: &[&str] = &[
    "translation_unit",
    "preproc_if",
    "preproc_ifdef",
    "preproc_else",
    "preproc_elif",
    "linkage_specification",
    "declaration_list",
    "field_declaration_list",
    "enumerator_list",
    "struct_specifier",
    "union_specifier",
    "enum_specifier",
];

pub(super) const BODIES: &[&str] =
    &["compound_statement", "declaration_list", "field_declaration_list", "enumerator_list"];

pub(super) const IDENTIFIERS: &[&str] = &["identifier", "type_identifier", "field_identifier"];

pub(super) const USES: &[Use] = &[call("call_expression", "function")];

pub(super) const THROUGH: &[(&str, &str)] = &[("field_expression", "field")];
