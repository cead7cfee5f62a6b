//! `cargo xtask mcp-servers`: real MCP servers are installed, and the client of haft-mcp works with each of them.
//!
//! They come from npm and `PyPI`, in the versions that stand here, and are put below `target/mcp/` once; nothing is fetched
//! afterwards.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const INSTALL: &str = "Install Node.js 20 or later with npm, and Python 3.10 or later with venv, and let npm and pip reach \
                       their registries once.";

const REPAIR: &str =
    "Correct the client of haft-mcp, or say in crates/haft-mcp/tests/it/counterparts.rs what has changed.";

/// Where the servers are.
const FOLDER: &str = "target/mcp";

/// Those of npm, below `npm/node_modules`.
const NPM: [&str; 3] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];

/// Those of `PyPI`, each list in an environment of its own, since they want different versions of the same packages.
const PYPI: [(&str, &[&str]); 2] = [
    ("servers", &["mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19"]),
    ("fastmcp", &["fastmcp==4.1.2"]),
];

/// Installs what is not there, and runs the tests that need it.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    for program in ["npm", "node", "python3"] {
        if !has_program(program) {
            return missing(workspace, &format!("{program} is not installed"));
        }
    }
    let folder = workspace.root().join(FOLDER);
    if let Err(error) = install(&folder) {
        return missing(workspace, &format!("the servers cannot be installed: {error:#}"));
    }
    let arguments = [
        "test",
        "--locked",
        "--package",
        "haft-mcp",
        "--features",
        "client",
        "--test",
        "it",
        "--",
        "--ignored",
        "counterparts::",
    ];
    workspace.cargo(&arguments, REPAIR)?;
    Ok(Outcome::Done)
}

/// A person may do without the servers; the build host may not, or nobody would notice that they are never tried.
fn missing(workspace: &Workspace, problem: &str) -> StepResult {
    if workspace.on_ci() {
        Err(Failure::new(problem, INSTALL))
    } else {
        Ok(Outcome::Skipped(format!("{problem}; {INSTALL}")))
    }
}

/// Installs the servers unless they are there in these versions.
fn install(folder: &Path) -> anyhow::Result<()> {
    let (mark, wanted) = (folder.join("installed"), wanted());
    if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    // What was begun, or is of other versions, would be mixed with these.
    if folder.exists() {
        std::fs::remove_dir_all(folder).with_context(|| format!("cannot empty {FOLDER}"))?;
    }
    let modules = folder.join("npm");
    std::fs::create_dir_all(&modules).with_context(|| format!("cannot make {FOLDER}"))?;
    let mut npm = Command::new("npm");
    // With a prefix of its own it leaves the manifests of the folders above alone.
    npm.arg("install").arg("--prefix").arg(&modules);
    npm.args(["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]).args(NPM);
    run_in(folder, npm)?;
    for (name, packages) in PYPI {
        let environment = folder.join(name);
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv"]).arg(&environment);
        run_in(folder, venv)?;
        let mut pip = Command::new(environment.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(packages);
        run_in(folder, pip)?;
    }
    std::fs::write(&mark, wanted).with_context(|| format!("cannot write {}", mark.display()))
}

/// Writes down what is installed.
fn wanted() -> String {
    let pypi = PYPI.iter().flat_map(|(_, packages)| packages.iter());
    NPM.iter().chain(pypi).copied().collect::<Vec<_>>().join("\n")
}

fn has_program(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn run_in(folder: &Path, mut command: Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.current_dir(folder).stdin(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start `{name}`"))?;
    if !status.success() {
        bail!("`{name}` failed ({status})");
    }
    Ok(())
}
