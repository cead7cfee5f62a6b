use super::{Grammar, declared};
use crate::outline::shape;
use std::sync::OnceLock;

pub(super) static C: Grammar = Grammar {
    name: "C",
    // The text of a `.h` tells whether it is C++.
    extensions: &["c", "h"],
    language: || tree_sitter_c::LANGUAGE.into(),
    rules: &[declared::RULES],
    enter: &[declared::ENTER],
    wrappers: &[],
    decorations: &[],
    bodies: &[declared::BODIES],
    identifiers: &[declared::IDENTIFIERS],
    uses: &[declared::USES],
    through: &[declared::THROUGH],
    without_bodies: Some(shape::C),
    table: OnceLock::new(),
};
