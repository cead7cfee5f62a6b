//! `cargo xtask mcp-clients`: real MCP clients are installed, and `haft serve` works with each of them.
//!
//! They come from npm and `PyPI`, in the versions that stand here, and are put below `target/mcp-clients/` once; nothing is
//! fetched afterwards. What each of them does is said in `crates/haft-cli/tests/clients/`.

mod installed;
pub(crate) mod instances;
mod served;

use std::path::PathBuf;

use anyhow::Context as _;

use crate::built::Built;
use crate::packages::Packages;
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;
use installed::Installed;
use served::{Directory, Served};

const REPAIR: &str =
    "Correct what `haft serve` answers, or say in crates/haft-cli/tests/clients/ what has changed.";

/// The clients, and a Node.js that is new enough for those of npm.
const PACKAGES: Packages = Packages {
    folder: "target/mcp-clients",
    programs: &["npm", "python3"],
    npm: &[
        "node@22",
        "@modelcontextprotocol/inspector@2.12.0",
        "@modelcontextprotocol/sdk@1.32.2",
        "@modelcontextprotocol/client@2.4.0",
    ],
    runs_scripts: true,
    pypi: &[("sdk", &["mcp==2.3.0"]), ("fastmcp", &["fastmcp==4.1.2"])],
    install: "Install Node.js with npm, whatever its version, and Python 3.11 or later with venv, and let npm and pip reach \
              their registries once.",
};

/// The eras of the protocol.
const ERAS: [&str; 2] = ["legacy", "modern"];

/// Installs what is not there, and has each client work with the server.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let folder = match PACKAGES.installed(workspace) {
        Ok(folder) => folder,
        Err(missing) => return missing,
    };
    let installed = Installed::below(workspace.root(), folder);
    let played = installed.and_then(|installed| play(workspace, &installed));
    played.map_err(|error| Failure::from_error(&error, REPAIR))?;
    Ok(Outcome::Done)
}

/// Has every client work over standard input and output, and over HTTP.
fn play(workspace: &Workspace, installed: &Installed) -> anyhow::Result<()> {
    let program = built(workspace)?;
    let program = program.to_str().context("the path of `haft` is text")?;
    inspect(installed, program)?;
    for era in ERAS {
        // Each client works in a directory of its own.
        let over_both = |client: &dyn Fn(&Directory, &str) -> anyhow::Result<()>| {
            client(&Directory::new()?, program)?;
            let directory = Directory::new()?;
            let served = Served::start(program, &directory)?;
            client(&directory, served.url())
        };
        over_both(&|directory, target| installed.python(directory, "sdk", "sdk.py", &[era, target]))?;
        over_both(&|directory, target| installed.node(directory, "sdk-2.mjs", &[era, target]))?;
        if era == "legacy" {
            over_both(&|directory, target| installed.node(directory, "sdk-1.mjs", &[era, target]))?;
        }
        over_both(&|directory, target| {
            installed.python(directory, "fastmcp", "fastmcp_client.py", &[era, "direct", target])
        })?;
        let directory = Directory::new()?;
        let served = Served::start(program, &directory)?;
        installed.python(&directory, "fastmcp", "fastmcp_client.py", &[era, "proxy", served.url()])?;
    }
    Ok(())
}

/// Has the Inspector judge the tools in all eras, and send a thousand requests.
fn inspect(installed: &Installed, program: &str) -> anyhow::Result<()> {
    let list = ["--method", "tools/list", "--strict", "--format", "json"];
    for era in ["legacy", "auto", "modern"] {
        let era = ["--protocol-era", era];
        let directory = Directory::new()?;
        let of_stdio = [&["--cli", program, "serve"], &era[..], &list].concat();
        installed.inspector(&directory, &of_stdio)?;
        let served = Served::start(program, &directory)?;
        let of_http = ["--cli", served.url(), "--transport", "http"];
        installed.inspector(&directory, &[&of_http, &era[..], &list].concat())?;
        let call = ["--method", "tools/call", "--tool-name", "read_file"];
        let arguments = ["--tool-args-json", r#"{"path":"notes.txt"}"#];
        let load = ["--load", "--load-requests", "1000", "--load-concurrency", "32"];
        installed.inspector(&directory, &[&of_http, &era[..], &call, &arguments, &load].concat())?;
    }
    Ok(())
}

/// Builds the command and says where it is.
fn built(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    Ok(PathBuf::from(Built::all(workspace)?.command("haft")?))
}
