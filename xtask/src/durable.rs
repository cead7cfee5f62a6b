//! `cargo xtask durable`: a real engine keeps calls while its workers, its clients and it itself die.
//!
//! It is a package of npm in the version that stands here and is put below `target/` once; nothing is fetched afterwards.

use crate::nginx;
use crate::packages::Packages;
use crate::step::StepResult;
use crate::together;
use crate::workspace::Workspace;

const REPAIR: &str = "Correct haft-durable-restate or haft-cli, or say in their tests/it what has changed.";

/// The engine, which comes as the package of the machine that installs it.
const PACKAGES: Packages = Packages {
    folder: "target/restate",
    programs: &["npm", "node"],
    npm: &["@restatedev/restate-server@1.7.12"],
    runs_scripts: false,
    pypi: &[],
    install: "Install Node.js 20 or later with npm, and let npm reach its registry once.",
};

/// More than there are cores, since each test waits for its engine most of the time.
pub(crate) const AT_ONCE: &str = "--test-threads=6";

/// Installs what is not there, and runs the tests that need it.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    if let Err(missing) = installed(workspace) {
        return missing;
    }
    together::ignored_tests(workspace, &[AT_ONCE, "with_engine::"], REPAIR)
}

/// Installs what the tests need, and otherwise says how the step ends without it.
pub(crate) fn installed(workspace: &Workspace) -> Result<(), StepResult> {
    PACKAGES.installed(workspace)?;
    // Workers stand behind it as deploy/ says.
    nginx::program(workspace)?;
    Ok(())
}
