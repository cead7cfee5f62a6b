//! Which features are built together: all but those that change what the rest of a program does.

use crate::metadata::{Graph, Package};
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

/// Has `serde_json` keep the order of members in every crate, so that what is written of all of them would be another.
const APART: [&str; 1] = ["genai"];

const REPAIR: &str =
    "Correct what failed above: the feature `genai` is checked apart, since it changes what other crates do.";

const UNLISTED: &str = "Make `cargo metadata --locked --no-deps` succeed: it lists the features.";

/// Gives the features of all packages that are built together, as `cargo --features` takes them.
pub(crate) fn features(workspace: &Workspace) -> anyhow::Result<String> {
    Ok(listed_of(Graph::of_manifests(workspace)?.packages.iter()))
}

/// As [`features`], for a step.
pub(crate) fn step_features(workspace: &Workspace) -> Result<String, Failure> {
    features(workspace).map_err(|error| Failure::from_error(&error, UNLISTED))
}

/// Runs tests that need other programs, as is said of them behind `--ignored`.
pub(crate) fn ignored_tests(workspace: &Workspace, chosen: &[&str], repair: &str) -> StepResult {
    let features = step_features(workspace)?;
    let all = [
        "test",
        "--quiet",
        "--locked",
        "--workspace",
        "--features",
        &features,
        "--test",
        "it",
        "--",
        "--ignored",
    ];
    workspace.cargo(&[&all, chosen].concat(), repair)?;
    Ok(Outcome::Done)
}

/// Checks the features that are left out.
pub(crate) fn run_apart(workspace: &Workspace) -> StepResult {
    let package = ["--locked", "--package", "haft-providers", "--all-features"];
    let with = |before: &[&'static str], after: &[&'static str]| [before, &package, after].concat();
    workspace.cargo(&with(&["clippy", "--no-deps", "--all-targets"], &["--", "-D", "warnings"]), REPAIR)?;
    let deny = [("RUSTDOCFLAGS", "-D warnings")];
    workspace.cargo_with(&deny, &with(&["doc", "--no-deps"], &[]), REPAIR)?;
    workspace.cargo(&with(&["test", "--quiet"], &["--test", "genai"]), REPAIR)?;
    workspace.cargo(&with(&["test", "--quiet", "--doc"], &["genai"]), REPAIR)?;
    Ok(Outcome::Done)
}

/// As [`features`], of some packages.
pub(crate) fn listed_of<'a>(packages: impl Iterator<Item = &'a Package>) -> String {
    let features = packages.flat_map(|package| {
        let together = package.features.keys().filter(|feature| !APART.contains(&feature.as_str()));
        together.map(move |feature| format!("{}/{feature}", package.name))
    });
    features.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::listed_of;
    use crate::metadata::{Package, Standing};

    #[test]
    fn all_features_are_listed_but_those_that_are_built_apart() {
        let package = |name: &str, features: &[&str]| Package {
            id: String::new(),
            name: name.to_owned(),
            description: None,
            manifest: String::new(),
            rust_version: None,
            standing: Standing::Unsaid,
            features: features.iter().map(|name| ((*name).to_owned(), Vec::new())).collect(),
            dependencies: Vec::new(),
        };
        let packages = [package("a", &["default", "x"]), package("b", &[]), package("c", &["genai", "y"])];
        assert_eq!(listed_of(packages.iter()), "a/default,a/x,c/y");
    }
}
