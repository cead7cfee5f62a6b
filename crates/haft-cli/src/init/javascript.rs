use super::project::{Part, is_there, text};
use serde_json::Value;
use std::path::Path;

/// The scripts that people build and test by; what deploys or publishes is not among them.
const SCRIPTS: [&str; 7] = ["build", "check", "format", "lint", "test", "typecheck", "type-check"];

/// The lock files by which the programs are told that run scripts.
const RUNNERS: [(&str, &str); 4] =
    [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")];

/// Finds the scripts of a package by which it is built and tested.
pub(super) fn part(directory: &Path) -> Option<Part> {
    let package: Value = serde_json::from_str(&text(directory, "package.json")?).ok()?;
    let runner =
        RUNNERS.iter().find(|(lock, _)| is_there(directory, lock)).map_or("npm", |(_, runner)| runner);
    let scripts = SCRIPTS.iter().filter(|script| package["scripts"].get(script).is_some());
    let commands = scripts.map(|script| format!("{runner} run {script} *")).collect();
    let language = if is_there(directory, "tsconfig.json") { "TypeScript" } else { "JavaScript" };
    Some(Part { language, file: "package.json", commands })
}
