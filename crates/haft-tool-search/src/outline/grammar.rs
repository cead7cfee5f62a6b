//! What is known of a language: data, one file for each, and the tables that a walk looks it up in.
//!
//! The parsers' own queries are not used: to compile one takes longer than to parse a large file.

#[cfg(feature = "code-c")]
mod c;
#[cfg(feature = "code-cpp")]
mod cpp;
#[cfg(any(feature = "code-c", feature = "code-cpp"))]
mod declared;
#[cfg(any(feature = "code-javascript", feature = "code-typescript"))]
mod ecma;
#[cfg(feature = "code-go")]
mod go;
#[cfg(feature = "code-java")]
mod java;
#[cfg(feature = "code-javascript")]
mod javascript;
#[cfg(feature = "code-python")]
mod python;
#[cfg(feature = "code-rust")]
mod rust;
mod table;
#[cfg(feature = "code-typescript")]
mod typescript;

use super::kind::Kind;
use super::shape::Bodies;
use std::sync::OnceLock;
pub(super) use table::{KindEntry, Table};
use tree_sitter::Language;

/// All languages that this program can read.
pub(super) static GRAMMARS: &[&Grammar] = &[
    #[cfg(feature = "code-c")]
    &c::C,
    #[cfg(feature = "code-cpp")]
    &cpp::CPP,
    #[cfg(feature = "code-go")]
    &go::GO,
    #[cfg(feature = "code-java")]
    &java::JAVA,
    #[cfg(feature = "code-javascript")]
    &javascript::JAVASCRIPT,
    #[cfg(feature = "code-python")]
    &python::PYTHON,
    #[cfg(feature = "code-rust")]
    &rust::RUST,
    #[cfg(feature = "code-typescript")]
    &typescript::TYPESCRIPT,
    #[cfg(feature = "code-typescript")]
    &typescript::TSX,
];

/// What is known of a language. Each list is in pieces, so that languages can share some; all are names of kinds of nodes.
pub(super) struct Grammar {
    pub(super) name: &'static str,
    /// The extensions of its files, in lower case.
    pub(super) extensions: &'static [&'static str],
    language: fn() -> Language,
    /// What its symbols are; of several that fit a node, the first counts.
    rules: &'static [&'static [Rule]],
    /// What symbols are looked for in, besides in symbols.
    enter: &'static [&'static [&'static str]],
    /// What a symbol is shown with that is directly in it, such as `export`.
    wrappers: &'static [&'static str],
    /// What is left out of a signature.
    decorations: &'static [&'static str],
    /// Where a signature ends.
    bodies: &'static [&'static [&'static str]],
    /// The leaves that names are written as.
    identifiers: &'static [&'static [&'static str]],
    /// What a reference is, by what it is in and as which field of that; of several the first counts.
    uses: &'static [&'static [Use]],
    /// What does not change what a reference in one of its fields is.
    through: &'static [&'static [(&'static str, &'static str)]],
    /// How its functions are found before anything is parsed.
    pub(super) without_bodies: Option<Bodies>,
    table: OnceLock<Table>,
}

/// What makes a node a symbol.
pub(super) struct Rule {
    pub(super) node: &'static str,
    pub(super) kind: Kind,
    pub(super) name: Name,
    pub(super) when: When,
}

/// Where a symbol's name is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Name {
    /// In each node of a field.
    Field(&'static str),
    /// In each declarator of a field; the innermost one says whether it is a function.
    Declarator(&'static str),
    /// It is the node.
    Own,
}

/// When a rule counts.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    Always,
    /// A field is there.
    Has(&'static str),
    /// A field is a node of one of these kinds.
    Is(&'static str, &'static [&'static str]),
    /// The node around it is of this kind.
    In(&'static str),
}

/// What a reference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UseKind {
    Call,
    Import,
    Impl,
    Type,
    /// Anything else.
    Use,
}

/// What a reference in a field of a node is; in any field where none is named.
pub(super) struct Use {
    pub(super) node: &'static str,
    pub(super) field: Option<&'static str>,
    pub(super) kind: UseKind,
}

const fn rule(node: &'static str, kind: Kind, name: &'static str) -> Rule {
    Rule { node, kind, name: Name::Field(name), when: When::Always }
}

const fn call(node: &'static str, field: &'static str) -> Use {
    Use { node, field: Some(field), kind: UseKind::Call }
}

const fn within(node: &'static str, kind: UseKind) -> Use {
    Use { node, field: None, kind }
}

impl Rule {
    const fn when(self, when: When) -> Self {
        Self { when, ..self }
    }
}

impl UseKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Import => "import",
            Self::Impl => "impl",
            Self::Type => "type",
            Self::Use => "use",
        }
    }
}

impl Grammar {
    pub(super) fn table(&self) -> &Table {
        self.table.get_or_init(|| Table::of(self))
    }
}

impl std::fmt::Debug for Grammar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests;
