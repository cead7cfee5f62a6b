//! `cargo xtask release`: everything that a release needs and that can be found out before one.
//!
//! Nothing here publishes. [`check`] looks at manifests and at what packages would hold, which takes seconds; [`run`] also
//! writes the papers that go with the command, and can have cargo rehearse the publishing of all crates in their order.

mod baseline;
mod contents;
mod inventory;
mod licences;
mod manifests;
mod sbom;

use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;
use inventory::Inventory;

pub(crate) use baseline::run as semver;

const REPAIR: &str =
    "Correct each manifest above, or what lies in its folder, and run `cargo xtask release` again.";

/// The package whose program is given to people, and so the one whose parts are written down.
const PROGRAM: &str = "haft-cli";

/// Where the papers are written, below the root.
const PAPERS: &str = "target/release-papers";

/// How far a release is rehearsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Manifests, contents and papers.
    Papers,
    /// And packages that are built as a registry would get them, in the order of their publishing.
    DryRun,
}

/// Checks the manifests, and what packages would hold.
pub(crate) fn check(workspace: &Workspace) -> StepResult {
    let problems = problems(workspace).map_err(|error| Failure::from_error(&error, REPAIR))?;
    Failure::unless_empty(&problems, REPAIR)
}

fn problems(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let metadata = metadata(workspace, &["--no-deps"])?;
    let published = manifests::published(&metadata)?;
    let mut problems: Vec<String> = published.iter().flat_map(manifests::Manifest::problems).collect();
    for manifest in &published {
        let listed = workspace.capture(
            "cargo",
            &["package", "--quiet", "--locked", "--allow-dirty", "--list", "--package", &manifest.name],
        )?;
        let listed = String::from_utf8(listed).context("`cargo package --list` wrote no UTF-8")?;
        let contents = contents::Contents::of(&manifest.folder, &listed)?;
        println!(
            "{:<18} {:>4} files {:>6} KiB",
            manifest.name,
            contents.files,
            contents.bytes.div_ceil(1024)
        );
        problems.extend(contents.problems(&manifest.name));
    }
    Ok(problems)
}

/// Checks all of it, writes the papers and rehearses what is asked for.
pub(crate) fn run(workspace: &Workspace, extent: Extent) -> StepResult {
    check(workspace)?;
    write_papers(workspace).map_err(|error| Failure::from_error(&error, REPAIR))?;
    if extent == Extent::DryRun {
        workspace.cargo(
            &["publish", "--workspace", "--dry-run", "--locked"],
            "Make every crate build from what its package holds; commit first, since a package is made of what is committed.",
        )?;
    }
    Ok(Outcome::Done)
}

/// As [`run`] with [`Extent::DryRun`], for a step.
pub(crate) fn rehearse(workspace: &Workspace) -> StepResult {
    run(workspace, Extent::DryRun)
}

/// Writes which crates are in the program, as a bill of materials and with their licences.
fn write_papers(workspace: &Workspace) -> anyhow::Result<()> {
    let metadata = metadata(workspace, &[])?;
    let lock =
        std::fs::read_to_string(workspace.root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let inventory = Inventory::of(&metadata, &lock, PROGRAM)?;
    let papers = workspace.root().join(PAPERS);
    std::fs::create_dir_all(&papers).with_context(|| format!("cannot make {PAPERS}"))?;
    let sbom = serde_json::to_string_pretty(&sbom::document(&inventory)).context("a document is JSON")?;
    write(&papers, "sbom.cdx.json", &sbom)?;
    write(&papers, "licences.md", &licences::report(&inventory, &licences::texts_of))
}

fn write(folder: &Path, name: &str, text: &str) -> anyhow::Result<()> {
    std::fs::write(folder.join(name), text).with_context(|| format!("cannot write {PAPERS}/{name}"))?;
    println!("{PAPERS}/{name} written");
    Ok(())
}

fn metadata(workspace: &Workspace, more: &[&str]) -> anyhow::Result<Value> {
    let mut arguments = vec!["metadata", "--format-version", "1", "--locked"];
    arguments.extend(more);
    serde_json::from_slice(&workspace.capture("cargo", &arguments)?).context("`cargo metadata` wrote no JSON")
}
