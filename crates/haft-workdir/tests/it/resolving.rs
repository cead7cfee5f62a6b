//! What resolves, and to what.

use expect_test::{Expect, expect};

use crate::fixture::on_both;

const TREE: &str = "
    src/main.rs = fn main() {}
    src/net/mod.rs =
    a b/naïve.txt =
    link -> src
    deep -> src/net
    src/net/up -> ../..
    file-link -> src/main.rs
    chain -> link/net
    absolute -> {root}/src/net/mod.rs
    absolute-root -> {root}
    here -> .
";

/// Resolves each line of `given` and compares the lines that come out.
fn check(given: &[&str], expected: &Expect) {
    let answer = on_both(TREE, |fixture, workdir| {
        let resolved = given.iter().map(|given| match workdir.resolve(&fixture.fill(given)) {
            Ok(path) => format!("{given:?} is {path}\n"),
            Err(error) => format!("{given:?} refused: {}\n", fixture.hide(&error.to_string())),
        });
        resolved.collect::<String>()
    });
    expected.assert_eq(&answer);
}

#[test]
fn resolves_relative_paths_in_any_spelling() {
    check(
        &[
            "src/main.rs",
            "./src/main.rs",
            "src//main.rs",
            "src/./main.rs",
            "src/net/",
            "src/net/.",
            "a b/naïve.txt",
        ],
        &expect![[r#"
            "src/main.rs" is src/main.rs
            "./src/main.rs" is src/main.rs
            "src//main.rs" is src/main.rs
            "src/./main.rs" is src/main.rs
            "src/net/" is src/net
            "src/net/." is src/net
            "a b/naïve.txt" is a b/naïve.txt
        "#]],
    );
}

#[test]
fn resolves_the_root() {
    check(
        &["", ".", "./", "./.", "src/..", "src/net/../..", "{root}", "{root}/", "{root}/."],
        &expect![[r#"
        "" is .
        "." is .
        "./" is .
        "./." is .
        "src/.." is .
        "src/net/../.." is .
        "{root}" is .
        "{root}/" is .
        "{root}/." is .
    "#]],
    );
}

#[test]
fn resolves_parents_that_stay_inside() {
    check(
        &["src/../src/main.rs", "src/net/../main.rs", "./src/./../src/net/../net/mod.rs"],
        &expect![[r#"
        "src/../src/main.rs" is src/main.rs
        "src/net/../main.rs" is src/main.rs
        "./src/./../src/net/../net/mod.rs" is src/net/mod.rs
    "#]],
    );
}

#[test]
fn resolves_absolute_paths_below_the_root() {
    check(
        &["{root}/src/main.rs", "{root}//src/net/", "/{root}/src/../src", "{root}/link/main.rs"],
        &expect![[r#"
            "{root}/src/main.rs" is src/main.rs
            "{root}//src/net/" is src/net
            "/{root}/src/../src" is src
            "{root}/link/main.rs" is src/main.rs
        "#]],
    );
}

#[test]
fn follows_links_that_stay_inside() {
    check(
        &[
            "link",
            "link/",
            "link/main.rs",
            "file-link",
            "chain/mod.rs",
            "deep/up/src",
            "absolute",
            "absolute-root/src",
            "here/here/src",
            "link/new.rs",
        ],
        &expect![[r#"
            "link" is src
            "link/" is src
            "link/main.rs" is src/main.rs
            "file-link" is src/main.rs
            "chain/mod.rs" is src/net/mod.rs
            "deep/up/src" is src
            "absolute" is src/net/mod.rs
            "absolute-root/src" is src
            "here/here/src" is src
            "link/new.rs" is src/new.rs
        "#]],
    );
}

#[test]
fn takes_the_parent_of_where_a_link_leads() {
    check(
        &["deep/../main.rs", "deep/../../src", "chain/.."],
        &expect![[r#"
        "deep/../main.rs" is src/main.rs
        "deep/../../src" refused: path `deep/../../src` is outside the working directory
        "chain/.." is src
    "#]],
    );
}

#[test]
fn resolves_what_does_not_exist_yet() {
    check(
        &["new.rs", "src/new/deep/file.rs", "src/../new/file.rs", "new/", "new/./file", "~/file"],
        &expect![[r#"
            "new.rs" is new.rs
            "src/new/deep/file.rs" is src/new/deep/file.rs
            "src/../new/file.rs" is new/file.rs
            "new/" is new
            "new/./file" is new/file
            "~/file" is ~/file
        "#]],
    );
}

#[test]
fn keeps_a_backslash_as_a_character() {
    check(
        &[r"..\..\etc\passwd", r"src\main.rs"],
        &expect![[r#"
        "..\\..\\etc\\passwd" is ..\..\etc\passwd
        "src\\main.rs" is src\main.rs
    "#]],
    );
}
