//! `cargo xtask crashes`: processes are killed at every place where something is kept, and nothing is done twice or lost.
//!
//! The tests of every crate that keeps something try a part of these places; here they try all.

use crate::durable;
use crate::step::{Outcome, StepResult};
use crate::together;
use crate::workspace::Workspace;

const REPAIR: &str = "Correct what is kept, or in which order, at the place that is named above.";

/// Has the tests try every place, or as many random ones as take minutes.
const ALL: (&str, &str) = ("HAFT_CRASHES", "all");

/// The modules of tests in which processes are killed or end early.
const TESTS: [&str; 7] =
    ["changes::", "interrupted::", "kept::", "killed::", "killing::", "matrix::", "waiting::"];

/// Those of calls and runs that an engine keeps.
const OF_ENGINE: [&str; 3] = [durable::AT_ONCE, "with_engine::deaths::", "with_engine::runs::"];

/// Runs all of them: first what needs no other program, then what needs the engine.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let features = together::step_features(workspace)?;
    let arguments = ["test", "--quiet", "--locked", "--workspace", "--features", &features, "--test", "it"];
    let chosen = [&["--", "--include-ignored", "--skip", "with_engine::"], &TESTS[..]].concat();
    workspace.cargo_with(&[ALL], &[&arguments[..], &chosen].concat(), REPAIR)?;
    match durable::installed(workspace) {
        Ok(()) => together::ignored_tests(workspace, &OF_ENGINE, REPAIR),
        // Most of it was looked at.
        Err(Ok(Outcome::Skipped(why))) => {
            eprintln!("skipped, as far as an engine keeps calls: {why}");
            Ok(Outcome::Done)
        }
        Err(missing) => missing,
    }
}
