//! "Did you mean".

use crate::fixture::{on_both, path};

const TREE: &str = "
    README.md =
    src/main.rs =
    src/lib.rs =
    src/network/mod.rs =
    tests/one.rs =
    tests/two.rs =
    config.json =
    config.toml =
    config.yaml =
    config.yml =
";

fn check(missing: &str, expected: &[&str]) {
    let answer = on_both(TREE, |_, workdir| {
        let near = workdir.near_names(&path(workdir, missing));
        near.iter().map(ToString::to_string).collect::<Vec<_>>()
    });
    assert_eq!(answer, expected);
}

#[test]
fn finds_a_name_with_a_slip() {
    check("src/mian.rs", &["src/main.rs", "src/lib.rs"]);
    check("readme.md", &["README.md"]);
    check("README", &["README.md"]);
    check("src/lib", &["src/lib.rs"]);
}

#[test]
fn finds_at_most_three_the_best_first() {
    check("config.yanl", &["config.yaml", "config.yml", "config.toml"]);
}

#[test]
fn finds_the_rest_below_a_directory_with_a_slip() {
    check("scr/main.rs", &["src/main.rs"]);
    check("src/netwrk/mod.rs", &["src/network/mod.rs"]);
}

#[test]
fn stops_at_the_directory_when_the_rest_is_not_there() {
    check("test/three.rs", &["tests"]);
}

#[test]
fn finds_nothing_far_away_or_already_there() {
    check("zzzzzz", &[]);
    check("src/main.rs", &[]);
    check("src", &[]);
    check(".", &[]);
}
