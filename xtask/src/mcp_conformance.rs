//! `cargo xtask mcp-conformance`: the protocol's own suite finds nothing wrong with the client and the server of haft-mcp.
//!
//! The suite is a package of npm and needs a newer Node.js than many machines have, which is a package of npm, too: both are
//! put below `target/` once, and nothing is fetched afterwards.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};

use crate::built::Built;
use crate::packages::{Packages, run_in};
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str = "Look below target/mcp-conformance/results for what each scenario saw, and correct the client or the server.";

/// The suite, and a Node.js that is new enough for it; what the suite has seen is put beside them.
const PACKAGES: Packages = Packages {
    folder: "target/mcp-conformance",
    programs: &["npm"],
    npm: &["node@22", "@modelcontextprotocol/conformance@0.2.0-alpha.12"],
    runs_scripts: true,
    pypi: &[],
    install: "Install Node.js with npm, whatever its version, and let npm reach its registry once.",
};

/// The revisions whose scenarios are played: the last one of each era.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Runs the scenarios of both eras.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let folder = match PACKAGES.installed(workspace) {
        Ok(folder) => folder,
        Err(missing) => return missing,
    };
    play_all(workspace, &folder).map_err(|error| Failure::from_error(&error, REPAIR))?;
    Ok(Outcome::Done)
}

/// Plays the scenarios of each revision, those of clients and those of servers.
fn play_all(workspace: &Workspace, folder: &Path) -> anyhow::Result<()> {
    let built = Built::all(workspace)?;
    let (client, server) = (built.example("conformance-client")?, built.example("conformance-server")?);
    for revision in REVISIONS {
        play(folder, revision, "client", ["--command", &format!("'{client}'")])?;
        let server = Server::start(server)?;
        play(folder, revision, "server", ["--url", &server.url])?;
    }
    Ok(())
}

/// Is the server that the suite talks to; dropped, it is ended.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(program: &str) -> anyhow::Result<Self> {
        let mut command = Command::new(program);
        // It serves until its input ends.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).env("RUST_BACKTRACE", "0");
        let child = command.spawn().with_context(|| format!("cannot start `{program}`"))?;
        let mut server = Self { child, url: String::new() };
        let output = server.child.stdout.take().context("its output is read")?;
        BufReader::new(output).read_line(&mut server.url).context("cannot read where the server is")?;
        server.url.truncate(server.url.trim_end().len());
        if server.url.is_empty() {
            bail!("`{program}` does not say where it is");
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended by itself is not there any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Plays the scenarios of one revision and side; those that are no part of it are played and not counted.
fn play(folder: &Path, revision: &str, side: &str, other: [&str; 2]) -> anyhow::Result<()> {
    let modules = folder.join("node_modules");
    let mut suite = Command::new(modules.join(".bin/node"));
    suite
        .arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"))
        .args([side, "--requirements", revision])
        .args(other)
        .arg("-o")
        .arg(folder.join("results").join(side).join(revision))
        // Of a scenario that fails the reason is enough.
        .env("RUST_BACKTRACE", "0");
    run_in(folder, &mut suite)
}
