//! `cargo xtask msrv`: the Rust version that the manifests promise is the one that the build host checks.

use anyhow::Context as _;

use crate::metadata::{Graph, Package};
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str = "Set `rust-version` in the root Cargo.toml, inherited by every package, to the toolchain that the \
                      build host runs, or change that toolchain.";

/// Compares on the build host only: a person may well work with a newer toolchain.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    if !workspace.on_ci() {
        return Ok(Outcome::Skipped("compared only where CI=true".to_owned()));
    }
    let problems = problems(workspace).map_err(|error| Failure::from_error(&error, REPAIR))?;
    Failure::unless_empty(&problems, REPAIR)
}

fn problems(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let output = workspace.capture("rustc", &["--version"])?;
    let output = String::from_utf8_lossy(&output);
    let toolchain = output.split_whitespace().nth(1).context("`rustc --version` names no version")?;
    Ok(mismatches(&Graph::of_manifests(workspace)?.packages, toolchain))
}

fn mismatches(packages: &[Package], toolchain: &str) -> Vec<String> {
    packages
        .iter()
        .filter_map(|package| match package.rust_version.as_deref() {
            None => Some(format!("{}: there is no `rust-version`", package.manifest)),
            Some(promised) if minor(promised) == minor(toolchain) => None,
            Some(promised) => Some(format!(
                "{}: `rust-version` promises {promised}, and what is checked is {toolchain}",
                package.manifest
            )),
        })
        .collect()
}

/// Cuts a version down to its first two numbers: a patch release of the compiler breaks no promise.
fn minor(version: &str) -> (&str, &str) {
    let mut parts = version.split(['.', '-']);
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::mismatches;
    use crate::metadata::{Package, Standing};

    fn check(promised: Option<&str>, toolchain: &str, expected: &[&str]) {
        let package = Package {
            id: String::new(),
            name: "a".to_owned(),
            description: None,
            manifest: "crates/a/Cargo.toml".to_owned(),
            rust_version: promised.map(str::to_owned),
            standing: Standing::Unsaid,
            features: BTreeMap::new(),
            dependencies: Vec::new(),
        };
        assert_eq!(mismatches(&[package], toolchain), expected);
    }

    #[test]
    fn compares_up_to_the_minor_version() {
        check(Some("1.95"), "1.95.0", &[]);
        check(Some("1.95.0"), "1.95.1-nightly", &[]);
    }

    #[test]
    fn names_the_manifest_that_promises_something_else() {
        check(
            Some("1.9"),
            "1.95.0",
            &["crates/a/Cargo.toml: `rust-version` promises 1.9, and what is checked is 1.95.0"],
        );
        check(None, "1.95.0", &["crates/a/Cargo.toml: there is no `rust-version`"]);
    }
}
