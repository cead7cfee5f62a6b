//! `cargo xtask mcp-servers`: real MCP servers are installed, and the client of haft-mcp works with each of them.
//!
//! They come from npm and `PyPI`, in the versions that stand here, and are put below `target/mcp/` once; nothing is fetched
//! afterwards.

use crate::packages::Packages;
use crate::step::StepResult;
use crate::together;
use crate::workspace::Workspace;

const REPAIR: &str =
    "Correct the client of haft-mcp, or say in crates/haft-mcp/tests/it/counterparts.rs what has changed.";

/// The servers.
const PACKAGES: Packages = Packages {
    folder: "target/mcp",
    programs: &["npm", "node", "python3"],
    npm: &[
        "@modelcontextprotocol/server-everything@2026.8.31",
        "@modelcontextprotocol/server-filesystem@2026.8.31",
        "@modelcontextprotocol/server-memory@2026.8.31",
    ],
    runs_scripts: false,
    pypi: &[
        ("servers", &["mcp-server-git==2026.10.19", "mcp-server-time==2026.10.19"]),
        ("fastmcp", &["fastmcp==4.1.2"]),
    ],
    install: "Install Node.js 20 or later with npm, and Python 3.10 or later with venv, and let npm and pip reach their \
              registries once.",
};

/// Installs what is not there, and runs the tests that need it.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    if let Err(missing) = PACKAGES.installed(workspace) {
        return missing;
    }
    together::ignored_tests(workspace, &["counterparts::"], REPAIR)
}
