//! The features of a manifest with the comment that stands above each.

use std::fmt::Write as _;

use super::cell;
use crate::metadata::Package;

/// One line of a `[features]` table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Feature {
    pub(super) name: String,
    /// The comment right above it, its lines joined; empty if there is none.
    pub(super) comment: String,
}

/// Reads the `[features]` table of a manifest.
///
/// Comments are no part of what a TOML parser hands out, so the text is read line by line; cargo has already refused
/// what is not TOML.
pub(super) fn parse(manifest: &str) -> Vec<Feature> {
    let mut features = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut open_brackets = 0_usize;
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if open_brackets == 0 && line.starts_with('[') {
            inside = line.split('#').next().is_some_and(|header| header.trim() == "[features]");
        } else if !inside {
            // Another table.
        } else if open_brackets > 0 {
            open_brackets = brackets_after(open_brackets, line);
        } else if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim());
            continue;
        } else if let Some((name, value)) = line.split_once('=') {
            features
                .push(Feature { name: name.trim().trim_matches('"').to_owned(), comment: comment.join(" ") });
            open_brackets = brackets_after(0, value);
        }
        comment.clear();
    }
    features
}

/// Counts the brackets that are open after a line, outside quotes and comments.
fn brackets_after(mut open: usize, line: &str) -> usize {
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            '#' if !quoted => break,
            '[' if !quoted => open += 1,
            ']' if !quoted => open = open.saturating_sub(1),
            _ => {}
        }
    }
    open
}

/// Complains about each feature without a comment; what `default` holds is said by its list.
pub(super) fn undescribed(package: &Package, features: &[Feature]) -> Vec<String> {
    let manifest = &package.manifest;
    let bare = features.iter().filter(|feature| feature.comment.is_empty() && feature.name != "default");
    let hidden = package
        .features
        .iter()
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
pub(super) fn render(features: &[Feature]) -> String {
    let mut table = "| feature | what it adds |\n| --- | --- |\n".to_owned();
    for feature in features.iter().filter(|feature| !feature.comment.is_empty()) {
        let _ = writeln!(table, "| `{}` | {} |", feature.name, cell(&feature.comment));
    }
    table
}
