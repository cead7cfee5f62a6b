//! `cargo xtask fuzz`: what reads texts of others is given random ones, and its promises are held against what it does.
//!
//! The targets are the crate `fuzz/`, which is no member of the workspace. They are built with the instrumentation that
//! libFuzzer is led by, which the compiler has on its stable channel too, so that no tool has to be installed. What the
//! repository's own tests write between quotes is what a target begins with.

mod literals;
mod seeds;

use std::path::Path;

use anyhow::Context as _;

use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;
use seeds::{Seeds, write_dictionary, write_seeds};

/// The crate with the targets.
const MANIFEST: &str = "fuzz/Cargo.toml";

/// Below the root: what was found by random and is kept from one run to the next, and what made a target fail.
const KEPT: &str = "fuzz/corpus";
const FAILED: &str = "fuzz/artifacts";

/// How the compiler is told to count which branches are taken and what is compared, for libFuzzer to see.
const INSTRUMENTED: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                            -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                            -Cllvm-args=-sanitizer-coverage-pc-table \
                            -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=16";

/// What bounds each target: a minute in all, 30 seconds and 2 GiB for one text, and texts that can still be read.
const BOUNDS: [&str; 5] =
    ["-max_total_time=60", "-timeout=30", "-rss_limit_mb=2048", "-max_len=4096", "-print_final_stats=1"];

const REPAIR: &str = "Put the text that is named above into a test of the crate it breaks and mend that; then run `cargo xtask \
                      fuzz NAME` again.";

/// One target.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// What is tried, and what must hold.
    claim: &'static str,
    seeds: Seeds,
}

/// Every target, in the order in which they are run.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "path",
        claim: "paths stay below their root",
        seeds: Seeds::each(&["crates/haft-workdir/tests", "crates/haft/tests/it/attacks.rs"]),
    },
    Target {
        name: "glob",
        claim: "patterns of paths that contain also touch",
        seeds: Seeds::pairs(&["crates/haft-tool-fs/src/path_patterns"]),
    },
    Target {
        name: "rule",
        claim: "rules are read as they are written",
        seeds: Seeds::pairs(&["crates/haft-policy/profiles", "crates/haft/tests/it"]),
    },
    Target {
        name: "bash",
        claim: "scripts are let run in no other that is not",
        seeds: Seeds::each(&["crates/haft-tool-shell/tests", "crates/haft-tool-shell/src/syntax"]),
    },
    Target {
        name: "patch",
        claim: "patches change all or nothing",
        seeds: Seeds::each(&["crates/haft-tool-fs/tests", "crates/haft-tool-fs/src/apply_patch"]),
    },
    Target {
        name: "openapi",
        claim: "no request leaves its place",
        seeds: Seeds::each(&[
            "crates/haft-openapi/tests",
            "crates/haft-openapi/src",
            "examples/openapi-petstore",
        ]),
    },
    Target {
        name: "json-rpc",
        claim: "each request has one answer",
        seeds: Seeds::each(&["crates/haft-mcp/src/server/rmcp_service", "crates/haft-mcp/src/lines"]),
    },
];

/// Checks that the targets' lock file names what the crates they try need today: they are built by nothing that runs often.
pub(crate) fn locked(workspace: &Workspace) -> StepResult {
    let resolve = ["metadata", "--format-version", "1", "--locked", "--manifest-path", MANIFEST];
    workspace.capture("cargo", &resolve).map_err(|error| {
        Failure::from_error(
            &error,
            "Run `cargo metadata --format-version 1 --manifest-path fuzz/Cargo.toml` and commit the fuzz/Cargo.lock it writes.",
        )
    })?;
    Ok(Outcome::Done)
}

/// Runs every target for a minute.
pub(crate) fn run_all(workspace: &Workspace) -> StepResult {
    run(workspace, None, &[])
}

/// Runs one target, or all; what is handed on to libFuzzer counts before the bounds here.
pub(crate) fn run(workspace: &Workspace, only: Option<&Target>, arguments: &[String]) -> StepResult {
    let host = host(workspace).map_err(|error| Failure::from_error(&error, REPAIR))?;
    let chosen = TARGETS.iter().filter(|target| only.is_none_or(|only| only == *target));
    let chosen: Vec<&Target> = chosen.collect();
    let mut build = vec!["build", "--release", "--locked", "--manifest-path", MANIFEST, "--target", &host];
    build.extend(chosen.iter().flat_map(|target| ["--bin", target.name]));
    // A target is named for libFuzzer by its file; the flags would otherwise be those of every build script, too.
    let variables = [("RUSTFLAGS", INSTRUMENTED), ("CARGO_TARGET_DIR", "target/fuzz")];
    workspace.cargo_with(&variables, &build, "Make the targets in fuzz/ compile with what they try.")?;
    for target in chosen {
        println!("{}: {}", target.name, target.claim);
        let folders =
            prepared(workspace.root(), target).map_err(|error| Failure::from_error(&error, REPAIR))?;
        let program = format!("target/fuzz/{host}/release/{}", target.name);
        let line = command_line(&folders, arguments);
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        workspace.run(&program, &line, REPAIR)?;
    }
    Ok(Outcome::Done)
}

/// Where a target's texts are, below the root.
struct Folders {
    kept: String,
    seeds: String,
    committed: Option<String>,
    dictionary: String,
    failed: String,
}

/// Writes what a target begins with.
fn prepared(root: &Path, target: &Target) -> anyhow::Result<Folders> {
    let Target { name, seeds, .. } = target;
    let committed = format!("fuzz/seeds/{name}");
    let folders = Folders {
        kept: format!("{KEPT}/{name}"),
        seeds: format!("target/fuzz/seeds/{name}"),
        committed: root.join(&committed).is_dir().then_some(committed),
        dictionary: format!("target/fuzz/{name}.dict"),
        failed: format!("{FAILED}/{name}/"),
    };
    for folder in [&folders.kept, &folders.failed] {
        std::fs::create_dir_all(root.join(folder)).with_context(|| format!("cannot make {folder}"))?;
    }
    let texts = seeds.texts(root)?;
    write_seeds(&root.join(&folders.seeds), seeds, &texts)?;
    write_dictionary(&root.join(&folders.dictionary), &texts)?;
    Ok(folders)
}

/// What libFuzzer is told: the last of two settings counts, and the first folder is where it keeps what is new.
fn command_line(folders: &Folders, arguments: &[String]) -> Vec<String> {
    let mut line: Vec<String> = BOUNDS.map(str::to_owned).into();
    line.push(format!("-dict={}", folders.dictionary));
    line.push(format!("-artifact_prefix={}", folders.failed));
    line.extend_from_slice(arguments);
    line.push(folders.kept.clone());
    line.push(folders.seeds.clone());
    line.extend(folders.committed.clone());
    line
}

/// The platform of this machine: with it named, build scripts are built without the instrumentation.
fn host(workspace: &Workspace) -> anyhow::Result<String> {
    let output = workspace.capture("rustc", &["--version", "--verbose"])?;
    let output = String::from_utf8_lossy(&output);
    let host = output.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("`rustc --version --verbose` names no host")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Folders, TARGETS, command_line};

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    #[test]
    fn every_target_is_a_program_of_the_crate_and_every_program_a_target() {
        let manifest = std::fs::read_to_string(root().join(super::MANIFEST)).unwrap();
        let programs: Vec<&str> =
            manifest.split("[[bin]]").skip(1).filter_map(|program| program.split('"').nth(1)).collect();
        let targets: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        assert_eq!(programs, targets);
    }

    #[test]
    fn every_target_begins_with_texts_of_the_tests() {
        for target in TARGETS {
            let texts = target.seeds.texts(root()).unwrap();
            assert!(texts.len() >= 20, "{}: {} texts", target.name, texts.len());
        }
    }

    #[test]
    fn what_is_asked_for_counts_before_the_bounds() {
        let folders = Folders {
            kept: "kept".to_owned(),
            seeds: "seeds".to_owned(),
            committed: Some("more".to_owned()),
            dictionary: "d".to_owned(),
            failed: "failed/".to_owned(),
        };
        let line = command_line(&folders, &["-max_total_time=5".to_owned()]);
        assert_eq!(line[0], "-max_total_time=60");
        assert_eq!(
            line[5..],
            ["-dict=d", "-artifact_prefix=failed/", "-max_total_time=5", "kept", "seeds", "more"]
        );
    }
}
