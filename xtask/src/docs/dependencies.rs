//! What the crates need of others, what for, and what of it is there in several versions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::ensure;

use super::{cell, described};
use crate::metadata::{Graph, Kind};

/// Makes the page, or names what is needed for no said reason or by nobody.
pub(super) fn page(graph: &Graph, manifest: &str) -> anyhow::Result<String> {
    let mut page = "# Dependencies\n\n\
                    <!-- Written by `cargo xtask docs` from the comments in the root manifest and from `cargo metadata`. -->\n\n\
                    What the crates need of others, and what for. *In tests* is what no program of a user has.\n\n\
                    | crate | what for | needed by | in tests of |\n| --- | --- | --- | --- |\n"
        .to_owned();
    let mut problems = Vec::new();
    let own: BTreeSet<&str> = graph.packages.iter().map(|package| package.name.as_str()).collect();
    for dependency in described::entries(manifest, "workspace.dependencies") {
        let name = dependency.name.as_str();
        if own.contains(name) {
            continue;
        }
        let needed_as = |is_wanted: fn(Kind) -> bool| {
            let needs = graph.packages.iter().filter(move |package| {
                package.dependencies.iter().any(|needed| needed.name == name && is_wanted(needed.kind))
            });
            needs
                .filter(|package| !package.is_under("examples"))
                .map(|package| package.name.trim_start_matches("haft-"))
        };
        let by: Vec<_> = needed_as(|kind| kind != Kind::Dev).collect();
        let in_tests: Vec<_> =
            needed_as(|kind| kind == Kind::Dev).filter(|name| !by.contains(name)).collect();
        if dependency.comment.is_empty() {
            problems.push(format!("Cargo.toml: `{name}` has no comment above it that says what it is for"));
        }
        if by.is_empty() && in_tests.is_empty() {
            problems.push(format!("Cargo.toml: no crate needs `{name}`"));
        }
        let _ = writeln!(
            page,
            "| `{name}` | {} | {} | {} |",
            cell(&dependency.comment),
            several(&by),
            several(&in_tests)
        );
    }
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    page.push_str(
        "\n## In several versions\n\nWhat is compiled in several versions with all features on, on some system, and who needs the older ones.\n\n\
         | crate | versions | the older are needed by |\n| --- | --- | --- |\n",
    );
    for (name, versions) in in_several(graph) {
        let older: BTreeSet<_> = versions.values().rev().skip(1).flatten().copied().collect();
        let newest_last: Vec<_> = versions.into_keys().map(|version| version.text).collect();
        let _ = writeln!(
            page,
            "| `{name}` | {} | {} |",
            newest_last.join(", "),
            older.into_iter().collect::<Vec<_>>().join(", ")
        );
    }
    Ok(page)
}

/// Names a few, and counts many.
fn several(names: &[&str]) -> String {
    if names.len() > 6 { format!("{} crates", names.len()) } else { names.join(", ") }
}

/// A version, ordered by its numbers.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version<'g> {
    numbers: Vec<u64>,
    text: &'g str,
}

impl<'g> Version<'g> {
    fn new(text: &'g str) -> Self {
        let release = text.split(['-', '+']).next().unwrap_or(text);
        Self { numbers: release.split('.').filter_map(|part| part.parse().ok()).collect(), text }
    }
}

/// Gives what is resolved in several versions below the crates that are published, and who needs each.
fn in_several(graph: &Graph) -> BTreeMap<&str, BTreeMap<Version<'_>, BTreeSet<&str>>> {
    let mut to_visit: Vec<&str> = graph
        .packages
        .iter()
        .filter(|package| package.is_under("crates") && package.name != "haft-testkit")
        .map(|package| package.id.as_str())
        .collect();
    let mut visited: BTreeSet<&str> = to_visit.iter().copied().collect();
    let mut found: BTreeMap<&str, BTreeMap<Version<'_>, BTreeSet<&str>>> = BTreeMap::new();
    while let Some(id) = to_visit.pop() {
        let Some(node) = graph.nodes.get(id) else { continue };
        for below in &node.normal {
            if let Some(needed) = graph.nodes.get(below) {
                let versions = found.entry(&needed.name).or_default();
                versions.entry(Version::new(&needed.version)).or_default().insert(&node.name);
                if visited.insert(below) {
                    to_visit.push(below);
                }
            }
        }
    }
    found.retain(|_, versions| versions.len() > 1);
    found
}

#[cfg(test)]
mod tests {
    use super::page;
    use crate::metadata::Graph;
    use serde_json::json;

    fn graph() -> Graph {
        let package = |name: &str, version: &str| {
            json!({ "id": format!("{name}#{version}"), "name": name, "version": version,
                    "manifest_path": format!("/w/crates/{name}/Cargo.toml") })
        };
        let mut own = package("haft-own", "1.0.0");
        own["dependencies"] = json!([
            { "name": "seen", "kind": null }, { "name": "tried", "kind": "dev" }, { "name": "seen", "kind": "dev" },
        ]);
        let node = |id: &str, deps: &[&str]| {
            let deps: Vec<_> =
                deps.iter().map(|id| json!({ "pkg": id, "dep_kinds": [{ "kind": null }] })).collect();
            json!({ "id": id, "deps": deps })
        };
        Graph::parse(&json!({
            "workspace_root": "/w",
            "workspace_members": ["haft-own#1.0.0"],
            "packages": [own, package("seen", "0.10.0"), package("old", "0.2.0"), package("seen", "0.9.1")],
            "resolve": { "nodes": [
                node("haft-own#1.0.0", &["seen#0.10.0", "old#0.2.0"]),
                node("old#0.2.0", &["seen#0.9.1"]),
                node("seen#0.10.0", &[]),
                node("seen#0.9.1", &[]),
            ] },
        }))
        .unwrap()
    }

    #[test]
    fn says_what_each_is_for_and_what_is_there_in_several_versions() {
        let manifest = "[workspace.dependencies]\nhaft-own = { path = \"x\" }\n# Sees | all.\nseen = \"0.10\"\n# Tries.\ntried = \"1\"\n";
        let page = page(&graph(), manifest).unwrap();
        assert!(
            page.contains("| `seen` | Sees \\| all. | own |  |\n| `tried` | Tries. |  | own |\n"),
            "{page}"
        );
        assert!(page.ends_with("| --- | --- | --- |\n| `seen` | 0.9.1, 0.10.0 | old |\n"), "{page}");
    }

    #[test]
    fn refuses_what_has_no_reason_or_no_use() {
        let manifest = "[workspace.dependencies]\nseen = \"0.10\"\n# For nobody.\nleft = \"1\"\n";
        let refused = page(&graph(), manifest).unwrap_err().to_string();
        let expected = "Cargo.toml: `seen` has no comment above it that says what it is for\nCargo.toml: no crate needs `left`";
        assert_eq!(refused, expected);
    }
}
