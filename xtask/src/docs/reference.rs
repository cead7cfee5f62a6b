//! The pages that are made of something else.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use super::{Programs, cell, cookbook, dependencies, events, feature_table, messages, plots, read, tools};
use crate::metadata::Graph;
use crate::workspace::Workspace;

/// The types that say what happens in a run.
const EVENTS: &str = "crates/haft-core/src/event.rs";

/// Makes all of them, each with its path, and says what is wrong with what they are made of.
pub(super) fn pages(
    workspace: &Workspace,
    graph: &Graph,
    manifests: &BTreeMap<String, String>,
    programs: Programs,
    problems: &mut Vec<String>,
) -> anyhow::Result<Vec<(String, String)>> {
    let root = workspace.root();
    let mut pages = vec![("docs/reference/features.md".to_owned(), features(graph, manifests))];
    if root.join(EVENTS).is_file() {
        pages.push(("docs/reference/events.md".to_owned(), events::page(EVENTS, &read(root, EVENTS)?)));
    }
    if let Some(page) = cookbook::page(root)? {
        pages.push(("docs/cookbook.md".to_owned(), page));
    }
    if graph.package(super::FACADE).is_some() {
        let page = dependencies::page(graph, &read(root, "Cargo.toml")?)?;
        pages.push(("docs/reference/dependencies.md".to_owned(), page));
    }
    if graph.package("haft-cli").is_some() {
        let built = programs.built(workspace)?;
        let haft = built.command("haft")?;
        pages.push(("docs/reference/cli.md".to_owned(), said(workspace, haft, &["man", "--markdown"])?));
        let specs = said(workspace, haft, &["tools", "--json"])?;
        pages.push(("docs/reference/tools.md".to_owned(), tools::page(root, &specs)?));
        let maker = built.example("pages")?;
        let (page, faults) = messages::page(workspace, graph, maker)?;
        pages.push(("docs/reference/messages.md".to_owned(), page));
        problems.extend(faults);
        pages.extend(plots::all(workspace, maker)?);
    }
    Ok(pages)
}

/// Runs the command in an empty directory, for a user who has configured nothing.
fn said(workspace: &Workspace, haft: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let empty = workspace.root().join("target/docs-nowhere");
    std::fs::create_dir_all(&empty).with_context(|| format!("cannot make {}", empty.display()))?;
    let mut command = Command::new(haft);
    command.args(arguments).current_dir(&empty).stdin(Stdio::null()).stderr(Stdio::inherit());
    command.env_clear().env("HOME", &empty).env("PATH", "/usr/bin:/bin");
    let output = command.output().with_context(|| format!("cannot start `{haft}`"))?;
    ensure!(output.status.success(), "`haft {}` failed ({})", arguments.join(" "), output.status);
    String::from_utf8(output.stdout).context("what it says is not UTF-8")
}

/// Lists the features of all crates with what they are for.
fn features(graph: &Graph, manifests: &BTreeMap<String, String>) -> String {
    let mut page = "# Features\n\n\
                    <!-- Written by `cargo xtask docs` from the comments in the manifests. -->\n\n\
                    What the features of each crate add; none takes anything away. Most programs need those of `haft` only.\n"
        .to_owned();
    let mut packages: Vec<_> = graph.packages.iter().filter(|package| package.is_under("crates")).collect();
    // The one that most programs need comes first.
    packages.sort_by_key(|package| (package.name != super::FACADE, package.name.clone()));
    for package in packages {
        let Some(manifest) = manifests.get(&package.manifest) else { continue };
        let features = feature_table::parse(manifest);
        let _ = writeln!(page, "\n## `{}`\n\n| feature | what it adds |\n| --- | --- |", package.name);
        for feature in features.iter().filter(|feature| !feature.comment.is_empty()) {
            let _ = writeln!(page, "| `{}` | {} |", feature.name, cell(&feature.comment));
        }
    }
    page
}
