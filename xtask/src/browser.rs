//! `cargo xtask browser`: a headless Chromium opens the pages of `haft report` and of `haft serve --console`.
//!
//! The pages are those of runs that nobody has made, which the example `kept-runs` keeps: a large one, and one whose texts try to get
//! out of the page. What is tried is said in `crates/haft-cli/tests/browser/`, which needs Node.js and no package.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::built::Built;
use crate::packages::run_in;
use crate::step::{Failure, Outcome, StepResult};
use crate::tool::missing;
use crate::workspace::Workspace;

const REPAIR: &str = "Correct the page in crates/haft-cli/src/report/page/ or src/serve/console/page/, and look at it: the screenshots are in \
     target/browser/.";

/// How whoever reads it makes it possible to try the pages.
const INSTALL: &str = "Install Chromium (in Debian `apt-get install chromium`) and Node.js 20 or later.";

/// Where the pages and the screenshots are put.
const FOLDER: &str = "target/browser";

/// How many calls the large page has.
const CALLS: &str = "5000";

/// Makes the pages, and has the browser try them.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    if let Some(program) = ["chromium", "node"].into_iter().find(|program| !workspace.has_program(program)) {
        let problem = format!("{program} is not installed");
        return missing(workspace.on_ci(), &problem, INSTALL);
    }
    try_pages(workspace).map_err(|error| Failure::from_error(&error, REPAIR))?;
    Ok(Outcome::Done)
}

fn try_pages(workspace: &Workspace) -> anyhow::Result<()> {
    let built = Built::all(workspace)?;
    let folder = workspace.root().join(FOLDER);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {FOLDER}"))?;
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {FOLDER}"))?;
    let state = folder.join("state.db");
    run_in(&folder, Command::new(built.example("kept-runs")?).arg(&state).arg(CALLS))?;
    for (run, page) in [("run-large", "large.html"), ("run-hostile", "hostile.html")] {
        let mut report = Command::new(built.command("haft")?);
        report.env("HAFT_STATE", &state).args(["report", run, "--output", page]);
        run_in(&folder, &mut report)?;
    }
    let script = workspace.root().join("crates/haft-cli/tests/browser/report.mjs");
    let mut node = Command::new("node");
    run_in(&folder, node.arg(&script).args(["large.html", CALLS, "hostile.html", "screenshots"]))?;
    let script = script.with_file_name("console.mjs");
    let mut node = Command::new("node");
    let programs = [built.command("haft")?, built.example("mcp-guest")?];
    run_in(&folder, node.arg(script).args(programs).arg("screenshots"))?;
    let shots = folder.join("screenshots");
    if !Path::is_dir(&shots) {
        bail!("no screenshots are in {}", shots.display());
    }
    Ok(())
}
