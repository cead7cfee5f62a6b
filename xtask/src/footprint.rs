//! How many crates the facade brings without any feature: what a tool costs whoever wants nothing else.

use std::collections::BTreeSet;

use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

/// The most crates, the facade and its own crates not counted.
const MOST: usize = 95;

const REPAIR: &str = "Put what the new dependency is for behind a feature, or do without it; `cargo tree -p haft \
                      --no-default-features -e normal` shows who needs what.";

/// Counts them.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let tree =
        ["tree", "--locked", "-p", "haft", "--no-default-features", "-e", "normal", "--prefix", "none"];
    let listed = workspace.capture("cargo", &tree).map_err(|error| Failure::from_error(&error, REPAIR))?;
    let crates = crates(&String::from_utf8_lossy(&listed));
    println!("haft without features brings {} crates of others, and {MOST} are the most", crates.len());
    if crates.len() <= MOST {
        return Ok(Outcome::Done);
    }
    let problem = format!("haft without features brings {} crates: {}", crates.len(), crates.join(", "));
    Err(Failure::new(problem, REPAIR))
}

/// The crates of others in what `cargo tree` writes, each once, with its version.
fn crates(listed: &str) -> Vec<String> {
    // Those of the workspace are written with their folder; what was listed before has a mark.
    let others = listed.lines().filter(|line| !line.is_empty() && !line.contains(" (/"));
    let names = others.map(|line| line.split(" (").next().unwrap_or(line).to_owned());
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::crates;

    #[test]
    fn counts_each_crate_of_others_once() {
        let listed = "haft v0.1.0 (/w/crates/haft)\nserde v1.0.0\nserde_derive v1.0.0 (proc-macro)\nserde v1.0.0 (*)\n\
                      syn v2.0.0\nsyn v3.0.0\nhaft-core v0.1.0 (/w/crates/haft-core) (*)\n\n";
        assert_eq!(crates(listed), ["serde v1.0.0", "serde_derive v1.0.0", "syn v2.0.0", "syn v3.0.0"]);
    }
}
