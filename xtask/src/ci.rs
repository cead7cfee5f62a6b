//! `cargo xtask ci`: every check a change must pass, in one order.
//!
//! The steps are a table; [`play`] walks it and knows none of them. The tests come last and nothing is printed after
//! them unless something failed, because a build host reads the test runner's closing lines.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io::Write;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use crate::docs::{Mode, Programs};
use crate::step::{Failure, Outcome, StepResult};
use crate::test_directory::TestDirectory;
use crate::tool::missing_tool;
use crate::workspace::Workspace;
use crate::{
    api, browser, corpus, crashes, deploy, docs, durable, examples, features, footprint, fuzz, layers,
    mcp_clients, mcp_conformance, mcp_servers, minimal, msrv, postgres, prism, release, sizes, together,
    walk as guide,
};

/// How much is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) reach: Reach,
    /// Runs the later steps after one has failed, too.
    pub(crate) keep_going: bool,
}

/// Which steps are run: those of each reach are among those of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// The inner loop: nothing that takes long or needs further tools.
    Quick,
    /// What a change must pass.
    Usual,
    /// What a release must pass, too.
    Full,
}

/// One line of the table of steps.
struct Step<C> {
    name: &'static str,
    /// What holds when it passes.
    claim: &'static str,
    /// The least reach that has it.
    reach: Reach,
    run: fn(&C) -> StepResult,
}

const STEPS: &[Step<Workspace>] = &[
    Step { name: "fmt", claim: "the code is laid out by rustfmt", reach: Reach::Quick, run: fmt },
    Step { name: "clippy", claim: "no lint has anything to say", reach: Reach::Quick, run: clippy },
    Step { name: "msrv", claim: "the promised Rust version is checked", reach: Reach::Usual, run: msrv::run },
    Step { name: "layers", claim: "dependencies point down only", reach: Reach::Quick, run: layers::run },
    Step { name: "sizes", claim: "files are short and well named", reach: Reach::Quick, run: sizes::run },
    Step {
        name: "docs",
        claim: "the pages build, are fresh and link to something",
        reach: Reach::Usual,
        run: pages,
    },
    Step {
        name: "features",
        claim: "each crate compiles without its features",
        reach: Reach::Usual,
        run: features::none,
    },
    Step {
        name: "alone",
        claim: "each feature compiles alone, and each example",
        reach: Reach::Full,
        run: features::each_alone,
    },
    Step {
        name: "pairs",
        claim: "each two features of a crate compile together",
        reach: Reach::Full,
        run: features::each_two,
    },
    Step {
        name: "footprint",
        claim: "the bare facade brings few crates",
        reach: Reach::Usual,
        run: footprint::run,
    },
    Step {
        name: "locks",
        claim: "the fuzz targets are locked to what they try",
        reach: Reach::Usual,
        run: fuzz::locked,
    },
    Step { name: "packages", claim: "crates can be published", reach: Reach::Usual, run: release::check },
    Step { name: "api", claim: "public items are as written down", reach: Reach::Full, run: api::check },
    Step { name: "semver", claim: "the version says what breaks", reach: Reach::Full, run: release::semver },
    Step {
        name: "publish",
        claim: "packages build as published",
        reach: Reach::Full,
        run: release::rehearse,
    },
    Step { name: "minimal", claim: "the lowest versions are enough", reach: Reach::Full, run: minimal::run },
    Step { name: "fuzz", claim: "random texts break no promise", reach: Reach::Full, run: fuzz::run_all },
    Step { name: "soak", claim: "ten thousand random batches leave nothing", reach: Reach::Full, run: soak },
    Step {
        name: "crashes",
        claim: "nothing is done twice or lost when a process dies",
        reach: Reach::Full,
        run: crashes::run,
    },
    Step { name: "deny", claim: "licences and sources are acceptable", reach: Reach::Usual, run: deny },
    Step { name: "examples", claim: "the examples build and play", reach: Reach::Usual, run: examples::run },
    Step {
        name: "servers",
        claim: "real MCP servers work with the client",
        reach: Reach::Usual,
        run: mcp_servers::run,
    },
    Step {
        name: "clients",
        claim: "real MCP clients work with the server",
        reach: Reach::Usual,
        run: mcp_clients::run,
    },
    Step {
        name: "instances",
        claim: "instances behind nginx go on when one dies",
        reach: Reach::Usual,
        run: mcp_clients::instances::run,
    },
    Step {
        name: "protocol",
        claim: "the client of MCP servers conforms to the protocol",
        reach: Reach::Usual,
        run: mcp_conformance::run,
    },
    Step {
        name: "deploy",
        claim: "Compose, Kubernetes and nginx take what deploy/ says",
        reach: Reach::Usual,
        run: deploy::run,
    },
    Step {
        name: "durable",
        claim: "calls survive the death of what makes them",
        reach: Reach::Usual,
        run: durable::run,
    },
    Step {
        name: "postgres",
        claim: "stores keep in PostgreSQL what they keep in a file",
        reach: Reach::Usual,
        run: postgres::run,
    },
    Step {
        name: "corpus",
        claim: "real OpenAPI documents are read",
        reach: Reach::Usual,
        run: corpus::examples,
    },
    Step {
        name: "browser",
        claim: "the pages of reports work in a browser",
        reach: Reach::Usual,
        run: browser::run,
    },
    Step {
        name: "walk",
        claim: "a new user's first steps go as the guide says",
        reach: Reach::Usual,
        run: walk,
    },
    Step {
        name: "prism",
        claim: "a judge takes the requests of OpenAPI",
        reach: Reach::Usual,
        run: prism::run,
    },
    Step {
        name: "genai",
        claim: "the feature that is built apart works",
        reach: Reach::Usual,
        run: together::run_apart,
    },
    Step {
        name: "doctests",
        claim: "the examples in the documentation run",
        reach: Reach::Usual,
        run: doctests,
    },
    Step { name: "tests", claim: "all tests pass", reach: Reach::Quick, run: tests },
];

/// Runs the steps and tells whether all of them passed.
pub(crate) fn run(workspace: &Workspace, options: Options) -> bool {
    play(STEPS, options, workspace, &mut std::io::stderr())
}

/// How one step ended.
enum Ending {
    Passed,
    Skipped(String),
    Failed(Failure),
    /// An earlier step failed.
    NotReached,
}

struct Row {
    name: &'static str,
    ending: Ending,
    duration: Duration,
}

/// Walks the steps. The table of results stands before the last step, whose own output closes a good run.
fn play<C>(steps: &[Step<C>], options: Options, context: &C, out: &mut dyn Write) -> bool {
    let chosen: Vec<&Step<C>> = steps.iter().filter(|step| step.reach <= options.reach).collect();
    let mut rows: Vec<Row> = Vec::new();
    let mut has_failed = false;
    for (index, step) in chosen.iter().enumerate() {
        let is_last = index + 1 == chosen.len();
        if has_failed && !options.keep_going {
            rows.push(Row { name: step.name, ending: Ending::NotReached, duration: Duration::ZERO });
            continue;
        }
        if is_last {
            say(out, &table(&rows, Some(step.name)));
        }
        say(out, &format!("\n=== {}: {}\n", step.name, step.claim));
        let start = Instant::now();
        let ending = match (step.run)(context) {
            Ok(Outcome::Done) => Ending::Passed,
            Ok(Outcome::Skipped(why)) => {
                say(out, &format!("skipped: {why}\n"));
                Ending::Skipped(why)
            }
            Err(failure) => {
                // With the table below it the repair would be lost; it is said again at the end.
                say(out, &format!("{failure}\n"));
                has_failed = true;
                Ending::Failed(failure)
            }
        };
        rows.push(Row { name: step.name, ending, duration: start.elapsed() });
    }
    if has_failed {
        say(out, &table(&rows, None));
        say(out, &repairs(&rows));
    }
    !has_failed
}

/// Nothing can be done about a terminal that is gone; the exit code still tells how it ended.
fn say(out: &mut dyn Write, text: &str) {
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes one line per step, and one for the step that is still to come.
fn table(rows: &[Row], next: Option<&str>) -> String {
    let mut text = format!("\n{:<10}{:<12}{:>7}\n", "step", "result", "seconds");
    for Row { name, ending, duration } in rows {
        let (result, note) = match ending {
            Ending::Passed => ("ok", ""),
            Ending::Skipped(why) => ("skipped", why.as_str()),
            Ending::Failed(_) => ("failed", ""),
            Ending::NotReached => ("not run", ""),
        };
        let line = format!("{name:<10}{result:<12}{:>7.1}  {note}", duration.as_secs_f64());
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if let Some(next) = next {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{next:<10}now, and last");
    }
    text
}

/// Says for each failed step how to repair it, one line each.
fn repairs(rows: &[Row]) -> String {
    let mut text = "\n".to_owned();
    for row in rows {
        if let Ending::Failed(failure) = &row.ending {
            let _ = writeln!(text, "{} failed. {}", row.name, failure.repair);
        }
    }
    text
}

fn fmt(workspace: &Workspace) -> StepResult {
    workspace.cargo(&["fmt", "--all", "--check"], "Run `cargo fmt --all` and commit the result.")?;
    Ok(Outcome::Done)
}

fn clippy(workspace: &Workspace) -> StepResult {
    const REPAIR: &str =
        "Correct what is marked above, or put `#[expect(lint, reason = \"…\")]` where the lint is wrong.";
    let features = together::step_features(workspace)?;
    let arguments = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--features",
        &features,
        "--locked",
        "--",
        "-D",
        "warnings",
    ];
    workspace.cargo(&arguments, REPAIR)?;
    Ok(Outcome::Done)
}

/// The pages that rustdoc builds and the ones that stand in the repository.
fn pages(workspace: &Workspace) -> StepResult {
    const REPAIR: &str = "Correct the comments that rustdoc marks above.";
    let features = together::step_features(workspace)?;
    workspace.cargo_with(
        &[("RUSTDOCFLAGS", "-D warnings")],
        &["doc", "--workspace", "--no-deps", "--features", &features, "--locked"],
        REPAIR,
    )?;
    docs::run(workspace, Mode::Check, Programs::Build)
}

fn walk(workspace: &Workspace) -> StepResult {
    guide::run(workspace, Mode::Check, Programs::Build)
}

fn deny(workspace: &Workspace) -> StepResult {
    if !workspace.has_cargo_tool("deny") {
        return missing_tool(workspace.on_ci(), "cargo-deny");
    }
    workspace.cargo(
        &["deny", "--locked", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"],
        "Choose another dependency for the one named above (`cargo tree -i NAME` shows who needs it), or argue for \
         it in deny.toml.",
    )?;
    Ok(Outcome::Done)
}

/// As many batches as the tests have seconds for are run by these; a release takes more.
fn soak(workspace: &Workspace) -> StepResult {
    const REPAIR: &str =
        "Correct what the batches above break; `HAFT_SOAK_SEED` and `HAFT_SOAK_BATCHES` play them again.";
    let features = together::step_features(workspace)?;
    workspace.cargo_with(
        &[("HAFT_SOAK_BATCHES", "10000")],
        &["test", "--workspace", "--features", &features, "--locked", "--test", "soak"],
        REPAIR,
    )?;
    Ok(Outcome::Done)
}

fn doctests(workspace: &Workspace) -> StepResult {
    const REPAIR: &str = "Correct the example in the documentation that failed above, or the code it shows.";
    let features = together::step_features(workspace)?;
    workspace.cargo(&["test", "--doc", "--workspace", "--features", &features, "--locked"], REPAIR)?;
    Ok(Outcome::Done)
}

fn tests(workspace: &Workspace) -> StepResult {
    const REPAIR: &str = "Correct the tests that failed above, or the code they check, and run `cargo xtask ci --quick` again.";
    let features = together::step_features(workspace)?;
    let directory = TestDirectory::new().map_err(|error| {
        Failure::from_error(
            &error,
            "Give yourself the right to write there, or set `TMPDIR` to where you may.",
        )
    })?;
    let place = directory.path().to_string_lossy();
    let variables = [seed(workspace), &[("TMPDIR", &*place)]].concat();
    if workspace.has_cargo_tool("nextest") {
        // Twice as many as there are cores, since many tests wait for a program or a server most of the time.
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let at_once = format!("--test-threads={}", 2 * cores);
        let mut arguments =
            vec!["nextest", "run", "--workspace", "--features", &features, "--locked", &at_once];
        // A build host is asked once and tells everything; a person wants the first failure now.
        if workspace.on_ci() {
            arguments.push("--no-fail-fast");
        }
        workspace.cargo_with(&variables, &arguments, REPAIR)?;
    } else if workspace.on_ci() {
        return missing_tool(true, "cargo-nextest");
    } else {
        // Tests start examples, which `cargo test` only builds where no targets are named.
        let all = ["--workspace", "--features", &features, "--locked"];
        workspace.cargo(&[&["build", "--examples"], &all[..]].concat(), REPAIR)?;
        // The targets that nextest runs: benchmarks are not tests.
        let targets = ["test", "--lib", "--bins", "--tests", "--examples"];
        workspace.cargo_with(&variables, &[&targets, &all[..]].concat(), REPAIR)?;
    }
    directory.check_empty()
}

/// A build host judges a change by what it changes, so that properties are tried with the same cases each time; whoever
/// works on them tries others.
fn seed(workspace: &Workspace) -> &'static [(&'static str, &'static str)] {
    if workspace.on_ci() { &[("PROPTEST_RNG_SEED", "0")] } else { &[] }
}
