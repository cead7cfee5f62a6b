use std::collections::BTreeMap;

use super::described::Described;
use super::feature_table::parse;
use super::{generated, too_long};
use crate::metadata::{Graph, Package, Standing};

fn package(name: &str, standing: Standing, description: Option<&str>, features: &[&str]) -> Package {
    Package {
        id: name.to_owned(),
        name: name.to_owned(),
        description: description.map(str::to_owned),
        manifest: format!("crates/{name}/Cargo.toml"),
        rust_version: None,
        standing,
        features: features.iter().map(|name| ((*name).to_owned(), Vec::new())).collect(),
        dependencies: Vec::new(),
    }
}

fn facade() -> Vec<Package> {
    vec![
        package("haft", Standing::Layer(4), Some("The whole | in one"), &["default", "fs"]),
        package("haft-core", Standing::Layer(0), Some("Nouns"), &[]),
        package("haft-testkit", Standing::Beside, Some("Tests"), &[]),
        Package { manifest: "xtask/Cargo.toml".to_owned(), ..package("xtask", Standing::Unsaid, None, &[]) },
    ]
}

const MANIFEST: &str =
    "[features]\ndefault = []\n# Reads and writes\n# files.\nfs = [\"dep:haft-tool-fs\"]\n";

fn check(packages: Vec<Package>, readme: &str, manifest: &str, expected: Result<&str, &[&str]>) {
    let manifests = BTreeMap::from([("crates/haft/Cargo.toml".to_owned(), manifest.to_owned())]);
    let graph = Graph { packages, nodes: BTreeMap::new() };
    let found = generated(readme, &graph, &manifests);
    let expected = match expected {
        Ok(page) => Ok(page.to_owned()),
        Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
    };
    assert_eq!(found, expected);
    if let Ok(page) = found {
        assert_eq!(generated(&page, &graph, &manifests), Ok(page.clone()), "a second run changes nothing");
    }
}

#[test]
fn writes_both_tables_and_nothing_else() {
    check(
        facade(),
        "# haft\n<!-- crates:start -->\nold\n<!-- crates:end -->\ntext\n  <!-- features:start -->\n<!-- features:end -->",
        MANIFEST,
        Ok("# haft\n\
            <!-- crates:start -->\n\
            | crate | layer | what it holds |\n\
            | --- | --- | --- |\n\
            | [`haft`](crates/haft) | L4 | The whole \\| in one |\n\
            | [`haft-core`](crates/haft-core) | L0 | Nouns |\n\
            | [`haft-testkit`](crates/haft-testkit) | beside | Tests |\n\
            <!-- crates:end -->\n\
            text\n  \
            <!-- features:start -->\n\
            | feature | what it adds |\n\
            | --- | --- |\n\
            | `fs` | Reads and writes files. |\n\
            <!-- features:end -->"),
    );
}

#[test]
fn names_every_marker_that_is_not_there_once() {
    check(
        facade(),
        "# haft\n<!-- crates:end -->\n<!-- crates:start -->\n<!-- features:start -->\n",
        MANIFEST,
        Err(&[
            "README.md: `<!-- crates:start -->` stands below `<!-- crates:end -->`",
            "README.md: the line `<!-- features:end -->` is missing",
        ]),
    );
    check(
        vec![],
        "<!-- crates:start -->\n<!-- crates:start -->\n<!-- crates:end -->\n",
        "",
        Err(&["README.md: the line `<!-- crates:start -->` stands there twice"]),
    );
}

#[test]
fn asks_for_a_description_of_each_crate_and_feature() {
    check(
        vec![package("haft", Standing::Layer(4), Some(" "), &["default", "fs", "web"])],
        "<!-- crates:start -->\n<!-- crates:end -->\n<!-- features:start -->\n<!-- features:end -->\n",
        "[features]\nfs = []\n",
        Err(&[
            "crates/haft/Cargo.toml: there is no `description`",
            "crates/haft/Cargo.toml: the feature `fs` has no comment above it that says what it adds",
            "crates/haft/Cargo.toml: the feature `web` comes from an optional dependency; list it as \
             `web = [\"dep:web\"]` under a comment",
        ]),
    );
}

#[test]
fn reads_features_from_a_manifest_as_people_write_it() {
    let manifest = r#"
[package]
# Not a feature.
name = "haft"
[features] # What can be switched on.
# Too far away.

default = ["fs"]
# Everything
#   at once.
full = [
    # Inside a list.
    "fs", # why ] not
    "web]",
]
# Quoted.
"a-b" = []
[dependencies]
# Not a feature either.
serde = "1"
"#;
    let feature =
        |name: &str, comment: &str| Described { name: name.to_owned(), comment: comment.to_owned() };
    assert_eq!(
        parse(manifest),
        [feature("default", ""), feature("full", "Everything at once."), feature("a-b", "Quoted.")]
    );
}

#[test]
fn keeps_the_readme_short() {
    assert_eq!(too_long(&"line\n".repeat(199)), None);
    assert_eq!(
        too_long(&"line\n".repeat(200)).as_deref(),
        Some(
            "README.md has 200 lines: move what a first reader can do without into docs/ until it has fewer than 200"
        )
    );
}
