//! `cargo xtask layers`: arrows between crates point down only.
//!
//! Each manifest under `crates/` says where its package stands (`[package.metadata.haft]` with `layer = 0` to `4`, or
//! `beside = true`). The checks are functions over a parsed [`Graph`]; the invariant they guard is written in
//! `docs/architecture.md`. What lies beside them at the root is looked at, too.

mod naming;
mod reach;
#[cfg(test)]
mod tests;
mod top_level;

use std::fmt;

use crate::metadata::{Dependency, Graph, Kind, Package, Standing};
use crate::step::{Failure, Outcome, StepResult};
use crate::workspace::Workspace;

const REPAIR: &str =
    "Turn each arrow above as its line says, in the manifest it names, and run `cargo xtask layers` again.";

/// Arrows inside one layer that the architecture allows by name.
const ALLOWED_SIDEWAYS: [(&str, &str); 3] =
    [("haft-subagents", "haft-agent"), ("haft-durable-restate", "haft-agent"), ("haft-cli", "haft")];

/// The layer of the capabilities, which never depend on each other, tests included.
const CAPABILITIES: u8 = 2;

/// The folders a package may live in.
const HOMES: [&str; 3] = ["crates", "xtask", "examples"];

/// The dependencies that xtask itself may have, so that it builds in seconds.
const XTASK_DEPENDENCIES: usize = 2;

/// Checks the workspace.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let graph = Graph::resolved(workspace).map_err(|error| {
        Failure::from_error(
            &error,
            "Make `cargo metadata --locked` succeed and run `cargo xtask layers` again.",
        )
    })?;
    let mut found = violations(&graph);
    // Without a repository there is nothing at the root but what was packed.
    if let Ok(kept) = workspace.capture("git", &["ls-files", "-z"]) {
        found.extend(top_level::violations(&String::from_utf8_lossy(&kept)));
    }
    let problems: Vec<String> = found.iter().map(ToString::to_string).collect();
    Failure::unless_empty(&problems, REPAIR)?;
    println!("{} packages looked at; every arrow between them points down", graph.packages.len());
    Ok(Outcome::Done)
}

/// One broken rule: where it is written, what is wrong and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Violation {
    manifest: String,
    fault: String,
    repair: String,
}

impl Violation {
    fn new(package: &Package, fault: impl Into<String>, repair: impl Into<String>) -> Self {
        Self { manifest: package.manifest.clone(), fault: fault.into(), repair: repair.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.manifest, self.fault, self.repair)
    }
}

/// Finds everything in the graph that breaks a rule, package by package.
fn violations(graph: &Graph) -> Vec<Violation> {
    let mut found = Vec::new();
    for package in &graph.packages {
        found.extend(standing(package));
        found.extend(package.dependencies.iter().filter_map(|dependency| {
            let target = graph.package(&dependency.name)?;
            arrow(package, dependency, target)
        }));
        found.extend(naming::violations(package));
    }
    found.extend(reach::violations(graph));
    found
}

/// Checks what a manifest says about its own package.
fn standing(package: &Package) -> Option<Violation> {
    let name = &package.name;
    if !HOMES.iter().any(|home| package.is_under(home)) {
        return Some(Violation::new(
            package,
            format!("{name} lives outside {}", HOMES.join(", ")),
            "move it into one of these folders",
        ));
    }
    if package.is_under("xtask") {
        let count = package.dependencies.iter().filter(|dependency| dependency.kind == Kind::Normal).count();
        return (count > XTASK_DEPENDENCIES).then(|| {
            Violation::new(
                package,
                format!("{name} has {count} dependencies"),
                format!("do with {XTASK_DEPENDENCIES}, so that every command starts quickly"),
            )
        });
    }
    if !package.is_under("crates") {
        return None;
    }
    match &package.standing {
        Standing::Layer(_) | Standing::Beside => None,
        Standing::Unsaid => Some(Violation::new(
            package,
            format!("{name} does not say where it stands"),
            "add `[package.metadata.haft]` with `layer = 0` to `4` as in docs/architecture.md",
        )),
        Standing::Unclear(why) => Some(Violation::new(
            package,
            format!("{name} does not say clearly where it stands: {why}"),
            "write `layer = 0` to `4`, or `beside = true` for a crate that only tests use",
        )),
    }
}

/// Checks one dependency between two packages of the workspace.
fn arrow(from: &Package, dependency: &Dependency, to: &Package) -> Option<Violation> {
    if !from.is_under("crates") {
        return None;
    }
    let violation = |direction: &str, repair: &str| {
        let kind = match dependency.kind {
            Kind::Normal => "",
            Kind::Build => " as a build-dependency",
            Kind::Dev => " as a dev-dependency",
        };
        let fault = format!("{} → {} {direction}{kind}", place(from), place(to));
        Some(Violation::new(from, fault, repair))
    };
    if !to.is_under("crates") {
        return violation("leaves the crates", "move what is needed into a crate");
    }
    let is_dev = dependency.kind == Kind::Dev;
    match (&from.standing, &to.standing) {
        (Standing::Layer(above), Standing::Layer(below)) if below < above => None,
        (Standing::Layer(level), Standing::Layer(other)) if level == other => {
            let is_named = ALLOWED_SIDEWAYS.contains(&(from.name.as_str(), to.name.as_str()));
            if is_named || (is_dev && *level != CAPABILITIES) {
                return None;
            }
            violation("points sideways", "move what both need one layer down, or join the two one layer up")
        }
        (Standing::Layer(_), Standing::Layer(_)) if is_dev => {
            violation("points up", "move the test that needs it into the upper crate or into an example")
        }
        (Standing::Layer(_), Standing::Layer(_)) => {
            violation("points up", "move what is needed down, or pass it in from the upper crate")
        }
        (Standing::Layer(_), Standing::Beside) if !is_dev => {
            violation("is needed outside tests", "move the line to [dev-dependencies]")
        }
        // Anyone's tests may use a crate of tests, which may itself look at every layer. A place that is not clear
        // has been complained about where it is written.
        _ => None,
    }
}

/// Names a package together with where it stands.
fn place(package: &Package) -> String {
    let name = &package.name;
    match &package.standing {
        Standing::Layer(layer) => format!("{name} (L{layer})"),
        Standing::Beside => format!("{name} (beside)"),
        Standing::Unsaid | Standing::Unclear(_) => name.clone(),
    }
}
