//! `cargo xtask api`: every public item of every published crate, written down, so that a change to one is seen in review.

mod traits;

use std::path::Path;

use anyhow::Context as _;

use crate::docs::Mode;
use crate::metadata::{Graph, Package};
use crate::step::{Failure, StepResult};
use crate::together;
use crate::tool::missing_tool;
use crate::workspace::Workspace;

/// Where the lists are, below the root.
const LISTS: &str = "docs/api";

/// Where rustdoc writes what the lists are made of.
const BUILT: &str = "target/api";

const REPAIR: &str =
    "Run `cargo xtask api`, look at what it changed in docs/api, and commit that if users may see it.";

/// rustdoc writes what it knows as JSON only where what is not stable is let be used.
const UNSTABLE: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

/// As [`run`] with [`Mode::Check`], for a step.
pub(crate) fn check(workspace: &Workspace) -> StepResult {
    run(workspace, Mode::Check)
}

/// Writes the lists, or compares them with what they would be.
pub(crate) fn run(workspace: &Workspace, mode: Mode) -> StepResult {
    if !workspace.has_cargo_tool("public-api") {
        return missing_tool(workspace.on_ci(), "cargo-public-api");
    }
    let graph = Graph::of_manifests(workspace).map_err(|error| Failure::from_error(&error, REPAIR))?;
    let packages: Vec<&Package> = graph.packages.iter().filter(|package| is_listed(package)).collect();
    let features = together::listed_of(packages.iter().copied());
    let mut document =
        vec!["doc", "--no-deps", "--lib", "--locked", "--target-dir", BUILT, "--features", &features];
    document.extend(packages.iter().flat_map(|package| ["--package", package.name.as_str()]));
    let flags = ("RUSTDOCFLAGS", "-Z unstable-options --output-format json --document-hidden-items");
    workspace.cargo_with(&[UNSTABLE, flags], &document, "Make `cargo doc` work for every crate.")?;
    let problems = lists(workspace, &packages, mode).map_err(|error| Failure::from_error(&error, REPAIR))?;
    Failure::unless_empty(&problems, REPAIR)
}

/// A crate whose items others can name: the command has none.
fn is_listed(package: &Package) -> bool {
    package.is_under("crates") && package.name != "haft-cli"
}

fn lists(workspace: &Workspace, packages: &[&Package], mode: Mode) -> anyhow::Result<Vec<String>> {
    let folder = workspace.root().join(LISTS);
    let mut stale = Vec::new();
    for Package { name, .. } in packages {
        let json = format!("{BUILT}/doc/{}.json", name.replace('-', "_"));
        let listed = |without: &str| {
            let listed = workspace.capture("cargo", &["public-api", "--rustdoc-json", &json, without])?;
            String::from_utf8(listed).context("`cargo public-api` wrote no UTF-8")
        };
        // Without all that is derived or holds by itself, which is told in short.
        let items = listed("-sss")?;
        let fresh = format!("{items}\n{}", traits::held(&listed("-s")?, &items));
        let file = folder.join(format!("{name}.txt"));
        let Some(change) = change(&std::fs::read_to_string(&file).unwrap_or_default(), &fresh) else {
            continue;
        };
        match mode {
            Mode::Check => stale.push(format!("{LISTS}/{name}.txt is stale: {change}")),
            Mode::Rewrite => write(&file, &fresh)?,
        }
    }
    Ok(stale)
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let folder = file.parent().context("a list is in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {LISTS}"))?;
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    println!("{} rewritten", file.display());
    Ok(())
}

/// Says what became other: how many items came and went, and the first of them.
fn change(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let missing_in = |there: &str, from: &str| -> Vec<String> {
        let there: std::collections::BTreeSet<&str> = there.lines().collect();
        from.lines().filter(|line| !there.contains(line)).map(str::to_owned).collect()
    };
    let (gone, new) = (missing_in(new, old), missing_in(old, new));
    let first =
        gone.first().map(|item| format!("-{item}")).or_else(|| new.first().map(|item| format!("+{item}")));
    Some(format!(
        "{} items more and {} fewer, such as `{}`",
        new.len(),
        gone.len(),
        first.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn says_what_became_other() {
        assert_eq!(change("pub fn a()\n", "pub fn a()\n"), None);
        assert_eq!(
            change("pub fn a()\npub fn b()\n", "pub fn a()\npub fn c()\npub fn d()\n").unwrap(),
            "2 items more and 1 fewer, such as `-pub fn b()`"
        );
        assert_eq!(change("", "pub mod a\n").unwrap(), "1 items more and 0 fewer, such as `+pub mod a`");
    }
}
