//! `cargo xtask mcp-conformance`: the protocol's own suite finds nothing wrong with the client of haft-mcp.
//!
//! The suite is a package of npm and needs a newer Node.js than many machines have, which is a package of npm, too: both are
//! put below `target/` once, and nothing is fetched afterwards.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str =
    "Look below target/mcp-conformance/results for what each scenario saw, and correct the client.";

const INSTALL: &str = "Install Node.js with npm, whatever its version, and let npm reach its registry once.";

/// Where the packages, the client and the results are.
const FOLDER: &str = "target/mcp-conformance";

const PACKAGES: [&str; 2] = ["node@22", "@modelcontextprotocol/conformance@0.2.0-alpha.12"];

/// The revisions whose scenarios are played: the last one of each era.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Runs the scenarios of both eras.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    if !workspace.has_program("npm") {
        let problem = "npm is not installed".to_owned();
        return if workspace.on_ci() {
            Err(Failure::new(problem, INSTALL))
        } else {
            Ok(Outcome::Skipped(problem))
        };
    }
    let folder = workspace.root().join(FOLDER);
    install(&folder).map_err(|error| Failure::from_error(&error, INSTALL))?;
    let client = client(workspace).map_err(|error| Failure::from_error(&error, REPAIR))?;
    for revision in REVISIONS {
        play(&folder, &client, revision).map_err(|error| Failure::from_error(&error, REPAIR))?;
    }
    Ok(Outcome::Done)
}

/// Installs the packages unless they are there.
fn install(folder: &Path) -> anyhow::Result<()> {
    let (mark, wanted) = (folder.join("installed"), PACKAGES.join("\n"));
    if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {FOLDER}"))?;
    let mut npm = Command::new("npm");
    // With a prefix of its own it leaves the manifests of the folders above alone.
    npm.arg("install")
        .arg("--prefix")
        .arg(folder)
        .args(["--no-audit", "--no-fund", "--loglevel=error"])
        .args(PACKAGES);
    run_in(folder, npm)?;
    std::fs::write(&mark, wanted).with_context(|| format!("cannot write {}", mark.display()))
}

/// Builds the client and says where it is.
fn client(workspace: &Workspace) -> anyhow::Result<String> {
    let arguments = [
        "build",
        "--quiet",
        "--locked",
        "--package",
        "haft-mcp",
        "--features",
        "client",
        "--example",
        "conformance-client",
        "--message-format=json",
    ];
    executable(&workspace.capture("cargo", &arguments)?)
}

/// Finds the program in what cargo says of what it has built.
fn executable(output: &[u8]) -> anyhow::Result<String> {
    let messages =
        output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let mut built = messages.filter_map(|message| message["executable"].as_str().map(str::to_owned));
    built.next_back().context("cargo names no program that it has built")
}

/// Plays the scenarios of one revision; those that are no part of it are played and not counted.
fn play(folder: &Path, client: &str, revision: &str) -> anyhow::Result<()> {
    let modules = folder.join("node_modules");
    let mut suite = Command::new(modules.join(".bin/node"));
    suite
        .arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"))
        .args(["client", "--requirements", revision, "--command"])
        .arg(format!("'{client}'"))
        .arg("-o")
        .arg(folder.join("results").join(revision))
        // Of a scenario that fails the reason is enough.
        .env("RUST_BACKTRACE", "0");
    run_in(folder, suite)
}

fn run_in(folder: &Path, mut command: Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.current_dir(folder).stdin(std::process::Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start `{name}`"))?;
    if !status.success() {
        bail!("`{name}` failed ({status})");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::executable;

    #[test]
    fn finds_the_program_that_cargo_has_built() {
        let said = br#"{"reason":"compiler-artifact","executable":null}
{"reason":"compiler-artifact","executable":"/a/client"}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(executable(said).unwrap(), "/a/client");
        assert!(executable(b"").is_err());
    }
}
