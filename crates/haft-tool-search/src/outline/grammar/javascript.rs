use super::{Grammar, When, ecma, rule};
use crate::outline::kind::Kind;
use crate::outline::shape;
use std::sync::OnceLock;

pub(super) static JAVASCRIPT: Grammar = Grammar {
    name: "JavaScript",
    extensions: &["js", "mjs", "cjs", "jsx"],
    language: || tree_sitter_javascript::LANGUAGE.into(),
    rules: &[
        ecma::RULES,
        &[
            rule("field_definition", Kind::Method, "property").when(When::Is("value", ecma::FUNCTIONS)),
            rule("field_definition", Kind::Field, "property"),
        ],
    ],
    enter: &[ecma::ENTER],
    wrappers: ecma::WRAPPERS,
    decorations: ecma::DECORATIONS,
    bodies: &[ecma::BODIES],
    identifiers: &[ecma::IDENTIFIERS],
    uses: &[ecma::USES, ecma::ELEMENTS],
    through: &[ecma::THROUGH],
    without_bodies: Some(shape::JAVASCRIPT),
    table: OnceLock::new(),
};
