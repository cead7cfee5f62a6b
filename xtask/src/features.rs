//! `cargo xtask features`: each package compiles without features and with each of its features alone.

use crate::metadata::{Graph, Package};
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str = "Make the command above compile, for example by moving what the feature needs behind its `#[cfg]` \
                      or into its own list of dependencies.";

/// Checks every package of the workspace, without features and with each alone.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    check(workspace, combinations)
}

/// Checks every crate without features.
pub(crate) fn none(workspace: &Workspace) -> StepResult {
    check(workspace, |package| combinations(package).into_iter().take(with_each_change(package)).collect())
}

/// Checks every feature alone, and the examples without those of others: each can have much of the workspace compiled anew.
pub(crate) fn each_alone(workspace: &Workspace) -> StepResult {
    check(workspace, |package| combinations(package).into_iter().skip(with_each_change(package)).collect())
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

/// Lists the arguments for each way in which a package is checked.
fn combinations(package: &Package) -> Vec<Vec<String>> {
    let bare = ["check", "--quiet", "--locked", "--package", &package.name, "--no-default-features"];
    let bare: Vec<String> = bare.map(str::to_owned).into();
    let alone = package.features.iter().map(|feature| {
        let mut arguments = bare.clone();
        arguments.extend(["--features".to_owned(), feature.clone()]);
        arguments
    });
    std::iter::once(bare.clone()).chain(alone).collect()
}

#[cfg(test)]
mod tests {
    use super::combinations;
    use crate::metadata::{Package, Standing};

    fn check(features: &[&str], expected: &[&str]) {
        let package = Package {
            id: String::new(),
            name: "haft".to_owned(),
            description: None,
            manifest: String::new(),
            rust_version: None,
            standing: Standing::Unsaid,
            features: features.iter().map(ToString::to_string).collect(),
            dependencies: Vec::new(),
        };
        let found: Vec<String> = combinations(&package).iter().map(|arguments| arguments.join(" ")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn checks_a_package_without_features_once() {
        check(&[], &["check --quiet --locked --package haft --no-default-features"]);
    }

    #[test]
    fn checks_each_feature_alone() {
        check(
            &["default", "fs"],
            &[
                "check --quiet --locked --package haft --no-default-features",
                "check --quiet --locked --package haft --no-default-features --features default",
                "check --quiet --locked --package haft --no-default-features --features fs",
            ],
        );
    }
}
