//! What is declared of commands that write, where all of it is understood.

use haft_testkit::Tree;
use haft_tool_shell::Environment;

use crate::deciding::{Decision, Rules};

fn tree() -> Tree {
    Tree::new()
        .file("a", "")
        .file("b", "")
        .file("d/c", "")
        .file(".git/config", "")
        .link("link", "a")
        .link("dangling", "nowhere")
        .link("ld", "d")
}

fn written(rules: &Rules, script: &str) -> String {
    let accesses = rules.accesses(script);
    let accesses = accesses.iter().map(ToString::to_string);
    let told = |text: &String| text.starts_with("write") || text.starts_with("opaque");
    accesses.filter(told).collect::<Vec<_>>().join(", ")
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    let tree = tree();
    let rules = Rules::new(&tree, Environment::minimal(), &["@understood"], &[]);
    let others = cases.iter().filter(|(script, expected)| written(&rules, script) != *expected);
    let others: Vec<_> = others.map(|(script, _)| (script, written(&rules, script))).collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn a_command_that_a_host_adds_to_the_catalog_is_understood() {
    let lines = "[lines]\noptions = \"-n --to=write\"\noperands = \"read*\"\n";
    let tree = tree();
    let decided = |rules: &Rules| {
        let scripts =
            ["lines a", "lines -n a b", "lines --to c a", "lines -x a", "lines /etc/passwd", "rm a", "cat a"];
        scripts.map(|script| (script, rules.decide(script), written(rules, script)))
    };
    let knowing = Rules::knowing(&tree, lines, &["@reads"]);
    expect_test::expect![[r#"
        [
            (
                "lines a",
                Allow,
                "",
            ),
            (
                "lines -n a b",
                Allow,
                "",
            ),
            (
                "lines --to c a",
                Ask,
                "write file:c",
            ),
            (
                "lines -x a",
                Ask,
                "",
            ),
            (
                "lines /etc/passwd",
                Ask,
                "",
            ),
            (
                "rm a",
                Ask,
                "write file:a",
            ),
            (
                "cat a",
                Allow,
                "",
            ),
        ]"#]]
    .assert_eq(&format!("{:#?}", decided(&knowing)));
    let plain = decided(&Rules::new(&tree, Environment::minimal(), &["@reads"], &[]));
    assert!(
        plain.iter().all(|(script, decision, _)| (*decision == Decision::Allow) == script.starts_with("cat")),
        "{plain:#?}"
    );
}

#[test]
fn a_plain_file_is_written_and_nothing_below_it() {
    check(&[
        ("rm a", "write file:a"),
        ("rm -f ./a d/c", "write file:a, write file:d/c"),
        ("cd d && rm c", "write file:d/c"),
        ("cp a b", "write file:b"),
        ("mv a b", "write file:a, write file:b"),
        ("chmod +x a", "write file:a"),
    ]);
}

#[test]
fn what_is_no_plain_file_is_written_with_all_below_it() {
    check(&[
        ("rm -r d", "write file:d/**"),
        ("rm new", "write file:new/**"),
        ("rm link", "write file:a/**"),
        ("rm dangling", "opaque (where `dangling` leads: it cannot be resolved)"),
        ("rm ld/c", "write file:d/c/**"),
        ("cp a new", "write file:new/**"),
        ("cp a d", "write file:d/**"),
        ("mv link b", "write file:a/**, write file:b/**"),
        // It could become a link, which later commands would follow.
        ("cp -P link b", "write file:b/**"),
        ("ln -f a b", "write file:b/**"),
        ("cp -l a b", "write file:b/**"),
        ("rm a new", "write file:a/**, write file:new/**"),
    ]);
}

/// Tells whether nothing but accesses of files would have to be allowed.
fn is_understood(rules: &Rules, script: &str) -> bool {
    let accesses = rules.accesses(script);
    accesses.iter().all(|access| {
        !access.is_opaque()
            && (access.resource().is_none_or(|resource| *resource.scheme() != haft_tool_shell::EXEC)
                || rules.decide_access(access) == Decision::Allow)
    })
}

#[test]
fn what_else_a_command_writes_or_runs_is_not_understood() {
    let tree = tree();
    let rules = Rules::new(&tree, Environment::minimal(), &["@understood"], &[]);
    let scripts = [
        "psql -o '|rm -rf src' -c 'select 1'",
        "psql --output='|rm -rf src' -c 'select 1'",
        // The backup is named by these.
        "cp -b -S c a b",
        "cp --backup --suffix=c a b",
        "mv -b a b",
        "install --backup a b",
        // They make another name for the same file.
        "cp -l .git/config b",
        "cp -sf .git/config b",
        "cp --symbolic-link a b",
        "ln .git/config b",
        "ln -sf .git/config b",
        "link .git/config new",
        "rsync --link-dest=d a b",
        "gunzip .git/config.gz",
        "chown -RL ann d",
    ];
    let understood: Vec<_> = scripts.iter().filter(|script| is_understood(&rules, script)).collect();
    assert!(understood.is_empty(), "{understood:#?}");
    assert!(is_understood(&rules, "cp a b && mv a d && rm -r d && psql -c 'select 1'"));
}
