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

#[test]
fn what_may_not_be_named_takes_no_place_and_is_not_told_by_what_is_left_out() {
    let check = |missing: &str, denied: &str, expected: &[&str]| {
        let answer = on_both(TREE, |_, workdir| {
            let may_be_named = |path: &haft_workdir::WorkdirPath| path.as_str() != denied;
            let near = workdir.near_names_where(&path(workdir, missing), may_be_named);
            near.iter().map(ToString::to_string).collect::<Vec<_>>()
        });
        assert_eq!(answer, expected, "{missing} without {denied}");
    };
    // The fourth comes up where one of the first three may not be named.
    check("config.yanl", "config.yml", &["config.yaml", "config.toml", "config.json"]);
    check("config.yanl", "nothing", &["config.yaml", "config.yml", "config.toml"]);
    // A file that may not be named is as one that is not there.
    check("scr/main.rs", "src/main.rs", &["src"]);
    check("scr/absent.rs", "src/main.rs", &["src"]);
}
