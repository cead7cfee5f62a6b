//! What is asked where only commands that read may run, and a directory is theirs to read.

use haft_testkit::Tree;
use haft_tool_shell::Environment;

use crate::deciding::{Decision, Rules};

fn rules(tree: &Tree) -> Rules {
    let environment = Environment::minimal().with("HOME", "/home/ann").expect("a variable");
    Rules::new(tree, environment, &["@reads"], &[])
}

fn tree() -> Tree {
    Tree::new()
        .file("README.md", "")
        .file("f", "")
        .file("src/lib.rs", "")
        .file("docs/a.md", "")
        .file("evil", "")
}

#[track_caller]
fn check(scripts: &[&str], expected: Decision) {
    check_in(&tree(), scripts, expected);
}

#[track_caller]
fn check_in(tree: &Tree, scripts: &[&str], expected: Decision) {
    let rules = rules(tree);
    let others = scripts.iter().filter(|script| rules.decide(script) != expected);
    let others: Vec<_> = others
        .map(|script| {
            let accesses = rules.accesses(script);
            (script, rules.decide(script), accesses.iter().map(ToString::to_string).collect::<Vec<_>>())
        })
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn asks_about_commands_of_which_nothing_is_known_also_without_a_word() {
    check(
        &[
            "echo 'rm -rf src' | parallel",
            "echo 'rm -rf src' | unshare -r",
            "echo '!rm -rf src' | lftp",
            "nix-store --gc",
            "nix-env -u",
            "split -b1 < f",
            "csplit --x < f",
            "dd < f",
            "dig",
            "http --session=x",
            "trivy",
            "firejail --x",
        ],
        Decision::Ask,
    );
}

#[test]
fn asks_about_input_that_becomes_part_of_a_script() {
    check(
        &[
            "echo 'x; rm -rf src' | xargs -i sh -c 'echo {}'",
            "echo 'x; rm -rf src' | xargs --replace sh -c 'echo {}'",
            "echo 'x; rm -rf src' | xargs -ri sh -c 'echo {}'",
            "echo 'x; rm -rf src' | xargs -iX sh -c 'echo X'",
            "echo -delete | xargs -I{} -n1 find src",
            "echo -delete | xargs -I{} -L1 find src",
            "echo -delete | xargs -I{} -l find src",
            "echo -delete | xargs -J % find src -name %",
        ],
        Decision::Ask,
    );
    check(&["echo f | xargs -i echo {}", "echo f | xargs -I{} echo {}"], Decision::Allow);
}

#[test]
fn asks_about_scripts_that_another_shell_reads_otherwise() {
    check(
        &[
            "sh -c \"echo \\$'\\\\'; rm -rf src #'\"",
            "sh -c 'echo $\"a\"'",
            "sh -c '[[ a || ./evil ]]'",
            "sh -c '[[ a > README.md ]]'",
            "dash -c '[[ a > README.md ]]'",
            "ash -c 'echo $((1))'",
            "sh -c 'ls |& cat'",
            "sh -c 'ls &>/dev/null'",
            "sh -c 'cat <(ls)'",
            "sh -c 'a[0]=d/evil'",
            "sh -c 'a+=d/evil'",
            "sh -c 'uniq f {fd}>/dev/null'",
            "sh -c 'uniq f 10>/dev/null'",
            "zsh -c 'ls'",
            "ksh -c 'ls'",
            "/bin/sh -c '[[ a || ./evil ]]'",
            "env sh -c '[[ a || ./evil ]]'",
            "watch '[[ a || ./evil ]]'",
            "watch -x sh -c 'env touch p'",
            "watch --exec sh -c 'env touch p'",
        ],
        Decision::Ask,
    );
    check(&["sh -c 'ls src'", "bash -c '[[ a == a ]] && ls'", "watch ls", "watch -x ls"], Decision::Allow);
}

#[test]
fn asks_about_programs_of_awk_and_sed_that_end_elsewhere_than_they_seem_to() {
    check(
        &[
            r#"awk '/[]/"]/ { print "rm -rf src" | "sh" } #"' f"#,
            r#"awk '/[[:alpha:]/"]/ { print "rm -rf src" | "sh" } #"' f"#,
            r#"awk '/[^]/"]/ { print "rm -rf src" | "sh" } #"' f"#,
            r#"awk 'BEGIN { exit /"/ } END { print "rm -rf src" | "sh" } #"' f"#,
            r#"awk 'BEGIN { SYMTAB["AR" "GV"][1]="/etc/shadow" } 1' f"#,
            "awk 'BEGIN { print FUNCTAB[1] }' f",
            "sed 't a e make' f",
            "sed ': a e sh evil' f",
            "sed 'b a e sh evil' f",
            "sed 'T a e sh evil' f",
        ],
        Decision::Ask,
    );
    check(
        &[
            "awk '/[[:alpha:]]/ { print $1 }' f",
            "awk '/[]x]/' f",
            "awk 'NR > 2 { exit } 1' f",
            "sed ':a;N;$!ba;s/a/b/' f",
            "sed ': a ; N ; t a ; p' f",
        ],
        Decision::Allow,
    );
}
