//! `cargo xtask features`: each package compiles without features, with each of its features alone, and with each two.

use std::collections::BTreeSet;

use crate::metadata::{Graph, Package};
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str = "Make the command above compile, for example by moving what the feature needs behind its `#[cfg]` \
                      or into its own list of dependencies.";

/// Which features are turned on together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Together {
    /// None, and each alone.
    One,
    /// Each two of a package.
    Two,
}

/// Checks every package of the workspace.
pub(crate) fn run(workspace: &Workspace, together: Together) -> StepResult {
    match together {
        Together::One => check(workspace, combinations),
        Together::Two => each_two(workspace),
    }
}

/// Checks every crate without features.
pub(crate) fn none(workspace: &Workspace) -> StepResult {
    check(workspace, |package| combinations(package).into_iter().take(with_each_change(package)).collect())
}

/// Checks every feature alone, and the examples without those of others: each can have much of the workspace compiled anew.
pub(crate) fn each_alone(workspace: &Workspace) -> StepResult {
    check(workspace, |package| combinations(package).into_iter().skip(with_each_change(package)).collect())
}

/// Checks every two features of a package that turn on more, or other features, than one of them or an earlier two.
pub(crate) fn each_two(workspace: &Workspace) -> StepResult {
    check(workspace, pairs)
}

/// How many of a package's combinations are checked with each change: that without features, of a crate that others depend on.
fn with_each_change(package: &Package) -> usize {
    usize::from(package.is_under("crates"))
}

fn check(workspace: &Workspace, chosen: fn(&Package) -> Vec<Vec<String>>) -> StepResult {
    let graph = Graph::of_manifests(workspace).map_err(|error| {
        Failure::from_error(
            &error,
            "Make `cargo metadata --locked` succeed and run `cargo xtask features` again.",
        )
    })?;
    for arguments in graph.packages.iter().flat_map(chosen) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        workspace.cargo(&arguments, REPAIR)?;
    }
    Ok(Outcome::Done)
}

/// Lists the arguments for each way in which a package is checked: without features, and with each alone.
fn combinations(package: &Package) -> Vec<Vec<String>> {
    let alone = package.features.keys().map(|feature| with(package, &[feature]));
    std::iter::once(with(package, &[])).chain(alone).collect()
}

/// Lists the arguments for each two features of a package that were not checked by another name.
fn pairs(package: &Package) -> Vec<Vec<String>> {
    // No code asks for `default` itself, but for what it turns on.
    let turned_on = |feature| package.turned_on(feature).into_iter().filter(|on| *on != "default").collect();
    let turned_on: Vec<(&str, BTreeSet<&str>)> =
        package.features.keys().map(|feature| (feature.as_str(), turned_on(feature))).collect();
    let mut checked: BTreeSet<BTreeSet<&str>> = turned_on.iter().map(|(_, on)| on.clone()).collect();
    let mut pairs = Vec::new();
    for (at, (one, by_one)) in turned_on.iter().enumerate() {
        for (other, by_other) in &turned_on[at + 1..] {
            if checked.insert(by_one | by_other) {
                pairs.push(with(package, &[one, other]));
            }
        }
    }
    pairs
}

/// The arguments that check a package with some of its features.
fn with(package: &Package, features: &[&str]) -> Vec<String> {
    let bare = ["check", "--quiet", "--locked", "--package", &package.name, "--no-default-features"];
    let mut arguments: Vec<String> = bare.map(str::to_owned).into();
    if !features.is_empty() {
        arguments.extend(["--features".to_owned(), features.join(",")]);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::{combinations, pairs};
    use crate::metadata::{Package, Standing};

    fn check(list: fn(&Package) -> Vec<Vec<String>>, features: &[(&str, &[&str])], expected: &[&str]) {
        let features = features
            .iter()
            .map(|(name, on)| ((*name).to_owned(), on.iter().map(ToString::to_string).collect()));
        let package = Package {
            id: String::new(),
            name: "haft".to_owned(),
            description: None,
            manifest: String::new(),
            rust_version: None,
            standing: Standing::Unsaid,
            features: features.collect(),
            dependencies: Vec::new(),
        };
        let found: Vec<String> = list(&package).iter().map(|arguments| arguments.join(" ")).collect();
        let start = "check --quiet --locked --package haft --no-default-features";
        let expected: Vec<String> = expected.iter().map(|features| format!("{start}{features}")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn checks_a_package_without_features_once() {
        check(combinations, &[], &[""]);
        check(pairs, &[], &[]);
    }

    #[test]
    fn checks_each_feature_alone() {
        check(combinations, &[("default", &[]), ("fs", &[])], &["", " --features default", " --features fs"]);
    }

    #[test]
    fn checks_each_two_features_once() {
        // What one turns on by itself is checked alone, as `search` with `tools` is by `tools`.
        let features: [(&str, &[&str]); 6] = [
            ("default", &[]),
            ("fs", &["dep:haft-tool-fs"]),
            ("full", &["tools", "shell"]),
            ("search", &["haft-tool-search"]),
            ("shell", &[]),
            ("tools", &["fs", "search"]),
        ];
        let two = [
            " --features fs,search",
            " --features fs,shell",
            " --features search,shell",
            " --features shell,tools",
        ];
        check(pairs, &features, &two);
    }
}
