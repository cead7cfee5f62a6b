//! `cargo xtask examples`: the examples build, and every recorded session plays to its end.

use std::path::Path;

use anyhow::Context as _;

use crate::built::Built;
use crate::metadata::Graph;
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str = "Repair the example that the command above names, or the change that broke it.";

const SESSIONS: &str = "examples/sessions";

/// Builds and plays all of them.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let graph = Graph::of_manifests(workspace).map_err(|error| Failure::from_error(&error, REPAIR))?;
    let built = Built::all(workspace).map_err(|error| Failure::from_error(&error, REPAIR))?;
    if graph.package("haft-cli").is_none() {
        return Ok(Outcome::Skipped("no session is played while the workspace has no haft-cli".to_owned()));
    }
    let sessions = sessions(workspace.root()).map_err(|error| Failure::from_error(&error, REPAIR))?;
    if sessions.is_empty() {
        let problem = format!("there is no {SESSIONS}/*/session.jsonl");
        return Err(Failure::new(
            problem,
            format!("Put a recorded session with its project into {SESSIONS}."),
        ));
    }
    let haft = built.command("haft").map_err(|error| Failure::from_error(&error, REPAIR))?;
    for session in sessions {
        workspace.run(haft, &["run", &session], REPAIR)?;
    }
    Ok(Outcome::Done)
}

/// Finds the folders that hold a recorded session, ordered by name and relative to the root.
fn sessions(root: &Path) -> anyhow::Result<Vec<String>> {
    let folder = root.join(SESSIONS);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot list {SESSIONS}"))? {
        let entry = entry.with_context(|| format!("cannot list {SESSIONS}"))?;
        if entry.path().join("session.jsonl").is_file() {
            found.push(format!("{SESSIONS}/{}", entry.file_name().to_string_lossy()));
        }
    }
    found.sort();
    Ok(found)
}
