//! The features of a manifest with what each adds.

use std::fmt::Write as _;

use super::cell;
use super::described::{self, Described};
use crate::metadata::Package;

/// Reads the `[features]` table of a manifest.
pub(super) fn parse(manifest: &str) -> Vec<Described> {
    described::entries(manifest, "features")
}

/// Complains about each feature without a comment; what `default` holds is said by its list.
pub(super) fn undescribed(package: &Package, features: &[Described]) -> Vec<String> {
    let manifest = &package.manifest;
    let bare = features.iter().filter(|feature| feature.comment.is_empty() && feature.name != "default");
    let hidden = package
        .features
        .keys()
        .filter(|name| *name != "default" && features.iter().all(|feature| feature.name != **name));
    bare.map(|feature| {
        format!("{manifest}: the feature `{}` has no comment above it that says what it adds", feature.name)
    })
    .chain(hidden.map(|name| {
        format!("{manifest}: the feature `{name}` comes from an optional dependency; list it as `{name} = [\"dep:{name}\"]` under a comment")
    }))
    .collect()
}

/// Writes the table.
pub(super) fn render(features: &[Described]) -> String {
    let mut table = "| feature | what it adds |\n| --- | --- |\n".to_owned();
    for feature in features.iter().filter(|feature| !feature.comment.is_empty()) {
        let _ = writeln!(table, "| `{}` | {} |", feature.name, cell(&feature.comment));
    }
    table
}
