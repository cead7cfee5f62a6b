use std::collections::BTreeMap;

use super::violations;
use crate::metadata::{Dependency, Graph, Kind, Node, Package, Standing};

/// A package in `crates/` whose dependencies are written `name`, `dev:name` or `build:name`.
fn package(name: &str, standing: Standing, dependencies: &[&str]) -> Package {
    package_in("crates", name, standing, dependencies)
}

fn package_in(folder: &str, name: &str, standing: Standing, dependencies: &[&str]) -> Package {
    let dependencies = dependencies
        .iter()
        .map(|line| {
            let (kind, name) = match line.split_once(':') {
                Some(("dev", name)) => (Kind::Dev, name),
                Some(("build", name)) => (Kind::Build, name),
                _ => (Kind::Normal, *line),
            };
            Dependency { name: name.to_owned(), kind }
        })
        .collect();
    Package {
        id: name.to_owned(),
        name: name.to_owned(),
        description: None,
        manifest: format!("{folder}/{name}/Cargo.toml"),
        rust_version: None,
        standing,
        features: BTreeMap::new(),
        dependencies,
    }
}

/// Checks the packages beside a clean core and tools-core, over a resolved graph of `package: needs, needs`.
fn check_resolved(packages: &[Package], resolved: &[(&str, &[&str])], expected: &[&str]) {
    let mut all = vec![
        package("haft-core", Standing::Layer(0), &[]),
        package("haft-tools-core", Standing::Layer(1), &["haft-core"]),
        package("haft-testkit", Standing::Beside, &["haft-tools-core"]),
    ];
    all.retain(|default| packages.iter().all(|package| package.name != default.name));
    all.extend_from_slice(packages);
    let nodes: BTreeMap<String, Node> = resolved
        .iter()
        .map(|(name, needs)| {
            let normal = needs.iter().map(ToString::to_string).collect();
            ((*name).to_owned(), Node { name: (*name).to_owned(), version: String::new(), normal })
        })
        .collect();
    let found: Vec<String> =
        violations(&Graph { packages: all, nodes }).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

fn check(packages: &[Package], expected: &[&str]) {
    check_resolved(packages, &[], expected);
}

#[test]
fn accepts_arrows_that_point_down() {
    check(
        &[
            package("haft-model", Standing::Layer(1), &["haft-core", "dev:haft-testkit"]),
            package("haft-tool-fs", Standing::Layer(2), &["haft-tools-core", "build:haft-core", "serde"]),
            package("haft-agent", Standing::Layer(3), &["haft-core", "haft-model", "dev:haft-tool-fs"]),
            package("haft-subagents", Standing::Layer(3), &["haft-agent"]),
            package("haft", Standing::Layer(4), &["haft-agent", "haft-tool-fs"]),
            package("haft-cli", Standing::Layer(4), &["haft", "clap", "anyhow"]),
            package_in("xtask", "xtask", Standing::Unsaid, &["anyhow", "serde_json"]),
            package_in("examples", "demo", Standing::Unsaid, &["haft", "haft-testkit", "reqwest"]),
        ],
        &[],
    );
}

#[test]
fn refuses_an_upward_arrow_of_any_kind() {
    check(
        &[
            package("haft-model", Standing::Layer(1), &["haft-agent", "build:haft-agent", "dev:haft-agent"]),
            package("haft-agent", Standing::Layer(3), &[]),
        ],
        &[
            "crates/haft-model/Cargo.toml: haft-model (L1) → haft-agent (L3) points up; move what is needed down, \
             or pass it in from the upper crate",
            "crates/haft-model/Cargo.toml: haft-model (L1) → haft-agent (L3) points up as a build-dependency; move \
             what is needed down, or pass it in from the upper crate",
            "crates/haft-model/Cargo.toml: haft-model (L1) → haft-agent (L3) points up as a dev-dependency; move \
             the test that needs it into the upper crate or into an example",
        ],
    );
}

#[test]
fn refuses_a_sideways_arrow() {
    check(
        &[
            package("haft-workdir", Standing::Layer(1), &["haft-tools-core"]),
            package("haft", Standing::Layer(4), &["haft-cli"]),
            package("haft-cli", Standing::Layer(4), &["haft"]),
        ],
        &[
            "crates/haft-workdir/Cargo.toml: haft-workdir (L1) → haft-tools-core (L1) points sideways; move what \
             both need one layer down, or join the two one layer up",
            "crates/haft/Cargo.toml: haft (L4) → haft-cli (L4) points sideways; move what both need one layer \
             down, or join the two one layer up",
        ],
    );
}

#[test]
fn tests_may_look_sideways_except_among_capabilities() {
    check(
        &[
            package("haft-workdir", Standing::Layer(1), &["dev:haft-tools-core"]),
            package("haft-tool-fs", Standing::Layer(2), &["dev:haft-tool-shell"]),
            package("haft-tool-shell", Standing::Layer(2), &[]),
        ],
        &["crates/haft-tool-fs/Cargo.toml: haft-tool-fs (L2) → haft-tool-shell (L2) points sideways as a \
           dev-dependency; move what both need one layer down, or join the two one layer up"],
    );
}

#[test]
fn keeps_the_test_crate_out_of_what_users_build() {
    check(
        &[package("haft-model", Standing::Layer(1), &["haft-testkit"])],
        &[
            "crates/haft-model/Cargo.toml: haft-model (L1) → haft-testkit (beside) is needed outside tests; move the \
           line to [dev-dependencies]",
        ],
    );
}

#[test]
fn refuses_a_crate_that_needs_the_repository_itself() {
    check(
        &[
            package("haft-model", Standing::Layer(1), &["dev:demo"]),
            package_in("examples", "demo", Standing::Unsaid, &[]),
        ],
        &[
            "crates/haft-model/Cargo.toml: haft-model (L1) → demo leaves the crates as a dev-dependency; move what \
           is needed into a crate",
        ],
    );
}

#[test]
fn asks_each_crate_where_it_stands() {
    check(
        &[
            package("haft-new", Standing::Unsaid, &["haft-core"]),
            package("haft-odd", Standing::Unclear("`layer = 9` is odd".to_owned()), &[]),
            package_in("tools", "stray", Standing::Layer(1), &[]),
            package_in("xtask", "xtask", Standing::Unsaid, &["a", "b", "c", "dev:d"]),
        ],
        &[
            "crates/haft-new/Cargo.toml: haft-new does not say where it stands; add `[package.metadata.haft]` with \
             `layer = 0` to `4` as in docs/architecture.md",
            "crates/haft-odd/Cargo.toml: haft-odd does not say clearly where it stands: `layer = 9` is odd; write \
             `layer = 0` to `4`, or `beside = true` for a crate that only tests use",
            "tools/stray/Cargo.toml: stray lives outside crates, xtask, examples; move it into one of these folders",
            "xtask/xtask/Cargo.toml: xtask has 3 dependencies; do with 2, so that every command starts quickly",
        ],
    );
}

#[test]
fn lets_one_crate_name_a_third_party() {
    check(
        &[
            package("haft-http", Standing::Layer(1), &["reqwest"]),
            package("haft-mcp", Standing::Layer(2), &["rmcp", "reqwest", "dev:reqwest"]),
            package("haft-agent", Standing::Layer(3), &["dev:anyhow"]),
        ],
        &[
            "crates/haft-mcp/Cargo.toml: haft-mcp → reqwest is named outside haft-http; use what that crate offers, \
             or let it offer what is missing",
            "crates/haft-agent/Cargo.toml: haft-agent → anyhow is named outside haft-cli and xtask; return \
             the library's own error type and leave the command line to the program",
        ],
    );
}

#[test]
fn keeps_http_and_file_walking_out_of_the_bare_crates() {
    check_resolved(
        &[],
        &[
            ("haft-core", &["serde"]),
            ("haft-tools-core", &["haft-core", "jsonschema"]),
            ("serde", &[]),
            ("jsonschema", &["client", "serde", "ignore"]),
            ("client", &["reqwest"]),
            ("reqwest", &["hyper"]),
            ("hyper", &[]),
            ("ignore", &[]),
            ("haft-testkit", &["walkdir"]),
            ("walkdir", &[]),
        ],
        &[
            "crates/haft-tools-core/Cargo.toml: haft-tools-core → jsonschema → ignore brings file walking into a \
             bare haft-tools-core; drop the dependency or switch off the feature that needs it",
            "crates/haft-tools-core/Cargo.toml: haft-tools-core → jsonschema → client → reqwest brings HTTP into \
             a bare haft-tools-core; drop the dependency or switch off the feature that needs it",
        ],
    );
}

#[test]
fn survives_a_cycle_in_the_graph() {
    check_resolved(&[], &[("haft-core", &["haft-tools-core"]), ("haft-tools-core", &["haft-core"])], &[]);
}

#[test]
fn notices_that_a_guarded_crate_is_gone() {
    let packages = vec![package("haft-core", Standing::Layer(0), &[])];
    let found: Vec<String> =
        violations(&Graph { packages, nodes: BTreeMap::new() }).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "Cargo.toml: haft-tools-core is not a member, so nobody watches what it pulls in; keep the name, or \
          change it in xtask/src/layers/reach.rs too"
        ]
    );
}
