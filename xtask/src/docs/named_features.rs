//! The features that pages tell a reader to turn on.

use std::collections::BTreeMap;

use crate::metadata::{Graph, Package};

/// Complains about each feature behind `--features` that a crate named on the same line, as in `crates/haft`, does not have.
pub(super) fn unknown(pages: &BTreeMap<String, String>, graph: &Graph) -> Vec<String> {
    let lines = pages.iter().flat_map(|(page, text)| text.lines().zip(1..).map(move |line| (page, line)));
    let of_line = |(page, (line, number)): (&String, (&str, usize))| {
        let package = named_package(line, graph)?;
        let (_, features) = line.split_once("--features ")?;
        let is_of_name = |character: char| character.is_ascii_alphanumeric() || "-_,".contains(character);
        let end = features.find(|character| !is_of_name(character)).unwrap_or(features.len());
        let mut features = features[..end].split(',').filter(|feature| !feature.is_empty());
        let unknown = features.find(|feature| !package.features.contains_key(*feature))?;
        Some(format!(
            "{page}:{number}: `{}` has no feature `{unknown}`; write one of {}",
            package.name,
            package.features.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ))
    };
    lines.filter_map(of_line).collect()
}

/// Finds the package of whose folder a line speaks.
fn named_package<'a>(line: &str, graph: &'a Graph) -> Option<&'a Package> {
    let (_, name) = line.split_once("crates/")?;
    let end = name.find(|character: char| !character.is_ascii_alphanumeric() && character != '-');
    graph.package(&name[..end.unwrap_or(name.len())])
}

#[cfg(test)]
mod tests {
    use super::unknown;
    use crate::metadata::Graph;
    use serde_json::json;

    fn check(text: &str, expected: &[&str]) {
        let graph = Graph::parse(&json!({
            "workspace_root": "/w",
            "workspace_members": ["haft#1"],
            "packages": [{ "id": "haft#1", "name": "haft", "manifest_path": "/w/crates/haft/Cargo.toml",
                "features": { "fs": [], "search": [] } }],
        }));
        let pages = [("docs/a.md".to_owned(), text.to_owned())].into();
        assert_eq!(unknown(&pages, &graph.unwrap()), expected);
    }

    #[test]
    fn features_that_there_are_may_be_named() {
        check("cargo add haft --path ../haft/crates/haft --features fs,search\n", &[]);
        check("build it with `cargo install --path crates/haft --features fs`, then go on\n", &[]);
        check("cargo add tokio --features macros,rt\ncargo install --path crates/haft\n", &[]);
    }

    #[test]
    fn a_feature_that_there_is_not_is_found_where_it_stands() {
        let problem = "docs/a.md:2: `haft` has no feature `serve`; write one of `fs`, `search`";
        check("Type:\ncargo add haft --path ../haft/crates/haft --features fs,serve\n", &[problem]);
        check("\n`cargo install --path crates/haft --features serve`\n", &[problem]);
    }
}
