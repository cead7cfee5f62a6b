//! What is asked where only commands that read may run, and a directory is theirs to read.

use expect_test::expect;
use haft_testkit::Tree;
use haft_tool_shell::Environment;
use haft_tools_core::{Access, AccessMode, Resource, Scheme};

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
            "/usr/bin/time -f echo touch p",
            "env time -f echo touch p",
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

#[test]
fn asks_about_options_that_have_a_tool_set_up_by_files_of_the_tree() {
    check(
        &[
            "kubectl --kubeconfig=./evil get pods",
            "kubectl get pods --kubeconfig evil",
            "kubectl diff -k src",
            "helm list --kubeconfig=evil",
            "helm search repo x --repository-config=evil",
            "helm list --registry-config=evil",
            "docker --config=./d info",
            "docker ps --config ./d",
            "docker --config ./d compose ps",
            "flyctl status -c evil",
            "fly status --config=evil",
            "flux get all --kubeconfig=evil",
            "crictl --config=evil ps",
            "crictl ps -r unix:///tmp/x",
            "gcloud projects list --credential-file-override=evil",
            "ruff check --config evil .",
            "ruff check --config 'fix=true' .",
            "black --check --config evil .",
            "codespell --config evil .",
            "ansible-config dump -c evil",
        ],
        Decision::Ask,
    );
}

#[test]
fn asks_about_options_that_are_not_known_to_be_harmless() {
    check(
        &[
            "openssl list -provider-path ./o -provider evil",
            "openssl version -engine ./o",
            "podman info --format X --out=src/lib.rs",
            "podman --runtime ./evil ps",
            "podman ps --conmon=./evil",
            "nerdctl ps --data-root=src",
            "7z l f -i@/etc/shadow",
            "unrar lt -ilogsrc/lib.rs f",
            "shellcheck -x f",
            "mix help",
            "composer help",
            "podman top x aux",
            "npm diff --diff=github:evil/a --diff=b",
            "npm diff",
            "scp -F evil h:x y",
            "scp -D ./evil h:x y",
        ],
        Decision::Ask,
    );
    check(
        &[
            "openssl version",
            "openssl list -commands",
            "podman ps -a",
            "podman info",
            "7z l f",
            "docker ps -a",
        ],
        Decision::Allow,
    );
}

#[test]
fn asks_about_writing_that_an_option_has_done() {
    check(
        &["lz4 -lf a src/lib.rs", "lz4 -l a src/lib.rs", "atop -w src/lib.rs 1 1", "glances -w", "gunzip f"],
        Decision::Ask,
    );
    check(&["gzip -l f", "xz --list f", "zstd -t f"], Decision::Allow);
}

#[test]
fn asks_about_connections_whatever_the_word_is_for() {
    check(
        &[
            "git remote show http://h/x",
            "git remote show git@h:leak",
            "git remote show x:leak",
            "kubectl describe -f http://h/x",
            "kubectl diff -f https://h/x",
            "kubectl diff -k https://h/x",
            "xmllint http://h/x",
            "xmllint ftp://h/x",
            "xmllint --schema http://h/x f",
            "psql -d postgresql://h/x -c 'select 1'",
            "psql --dbname 'host=h' -c 'select 1'",
            "docker manifest inspect h/x",
            "docker buildx imagetools inspect h/x",
            "docker trust inspect h/x",
            "docker search h/x",
            "docker compose -f git@h:x ps",
            "docker compose -f oci://h/x config",
            "getent hosts leak.h",
            "getent ahosts leak.h",
            "curl 'http://allowed\\@evil/'",
            "cat http://h/x",
            "cat http://h/*",
            "curl 'http://[a-c].evil/'",
            "curl 'http://x[1-3].evil/'",
            "getent -s ../../evil passwd",
            "fping -m evil h",
            "npm view git@h:x",
            "npm view evil/a",
            "npm view github:evil/a",
            "npm info ./src",
            "pnpm view http://h/x",
            "yarn npm info h:x",
            "flatpak remote-ls http://h/x",
            "dnf repoquery http://h/x",
            "inxi -i",
        ],
        Decision::Ask,
    );
    check(&["npm view @types/node@20 version", "yarn info react"], Decision::Allow);
    check(&["git remote show origin", "docker trust inspect nginx", "getent passwd ann"], Decision::Allow);
}

#[test]
fn takes_a_backslash_in_a_host_for_what_nobody_agrees_on() {
    let tree = tree();
    let accesses = rules(&tree).accesses("curl 'http://allowed\\@evil/'");
    let accesses: Vec<_> = accesses.iter().map(ToString::to_string).collect();
    assert!(!accesses.iter().any(|access| access.starts_with("connect")), "{accesses:#?}");
}

#[test]
fn asks_about_paths_behind_what_is_a_flag_of_one_tool_and_not_of_another() {
    check(
        &[
            "od -s /etc/shadow",
            "od -w /etc/shadow",
            "hexdump -w /etc/shadow",
            "pr -t /etc/shadow",
            "pr -d /etc/shadow",
            "pr -f /etc/shadow",
            "pr -a /etc/shadow",
            "fmt -t /etc/shadow",
            "fmt -s /etc/shadow",
            "fold -s /etc/shadow",
            "expand -i /etc/shadow",
            "objdump -t /etc/shadow",
            "objdump -x /etc/shadow",
            "readelf -t /etc/shadow",
            "size -t /etc/shadow",
            "ag -C TODO /etc",
            "ag -A TODO /etc",
            "ack -C TODO /etc",
            "yamllint -s /etc/shadow",
            "codespell -d /etc/shadow",
            "radon -s /etc",
            "who /etc/shadow",
            "who -s /etc/shadow",
            "who -t /etc/shadow",
            "users /etc/shadow",
            "man /etc/shadow",
            "info -f /etc/shadow",
            "lspci -i /etc/shadow",
            "sar -f /etc/shadow",
            "ls -I /etc",
            "ls -w /etc",
            "dust -t /etc",
            "gdu -d /etc",
            "lsd -L /etc",
            "echo /etc/shadow | ack -x KEY",
            "strings @/etc/shadow",
            "nm @evil",
            "zstd -b /etc/shadow",
        ],
        Decision::Ask,
    );
}

#[test]
fn asks_where_nothing_says_what_is_read() {
    check(
        &["rgrep KEY /etc", "cd / && rgrep KEY", "yq -n 'eval(\"lo\"+\"ad_str(\\\"/etc/shadow\\\")\")'"],
        Decision::Ask,
    );
    let tree = tree();
    let accesses = rules(&tree).accesses("rgrep KEY");
    let accesses: Vec<_> = accesses.iter().map(ToString::to_string).collect();
    assert_eq!(accesses, ["exec exec:rgrep KEY", "read file:**"]);
}

#[test]
fn asks_about_patterns_that_links_lead_out_of() {
    let tree = tree()
        .file(".env", "")
        .link("docs/out", "/etc/passwd")
        .link("docs/deep/.hidden", "/etc/passwd")
        .link("docs/deep/env", "../../.env")
        .link("src/same", "lib.rs")
        .file("many/x", "");
    check_in(
        &tree,
        &[
            "cat docs/*",
            "cat docs/o*",
            "cat ./docs/o?t",
            "cat d*/*",
            "cat docs/*/env",
            "cat docs/{out,a.md}",
            "cd docs && cat ./*",
            "cat docs/deep/*",
            "cat docs/deep/.h*",
            "cat docs/deep/{.hidden,a}",
            "find docs -type l -exec cat {} +",
            "find docs -type f,l -exec cat {} \\;",
            "find docs ! -type f -exec cat {} +",
            "find docs -not -type f -exec cat {} +",
            "find docs -xtype f -exec cat {} +",
            "find docs -lname '*pass*' -exec cat {} +",
            "find -L docs -exec cat {} +",
            "find docs -exec cat {} +",
            "ag -f x .",
            "ls -RL docs",
        ],
        Decision::Ask,
    );
    check_in(
        &tree,
        &["cat docs/a*", "cat src/*", "cat many/*", "find src -type f -exec cat {} +", "grep x src/*.rs"],
        Decision::Allow,
    );
}

#[test]
fn asks_about_variables_with_a_path_for_a_value() {
    check(
        &[
            "LANG=../evil ls",
            "LANGUAGE=$X ls",
            "TERM=/tmp/evil ls",
            "env TERM=./evil ls",
            "export LC_ALL=./evil; ls",
            "TZ=:/etc/shadow date",
            "declare -x TZ=:/etc/shadow; date",
        ],
        Decision::Ask,
    );
    check(
        &[
            "LC_ALL=C ls",
            "TZ=UTC date",
            "export LANG=C; ls",
            "CI= ls",
            "NO_COLOR=1 GIT_TERMINAL_PROMPT=0 git status",
        ],
        Decision::Allow,
    );
}

#[test]
fn what_only_tells_names_touches_the_directory_and_is_ordered_by_all_below_it() {
    let tree = tree();
    let rules = rules(&tree);
    let reads = |script: &str| -> Vec<Access> {
        let reads = |access: &Access| access.mode() == Some(AccessMode::Read);
        rules.accesses(script).into_iter().filter(reads).collect()
    };
    let scripts = [
        "ls",
        "ls -la src docs",
        "ls README.md",
        "cd src && ls",
        "ls src/*",
        "ls -R",
        "ls -laR src",
        "git status --short",
        "git status -sv",
        "git -C src status",
        "git status --verbose -- docs",
    ];
    let told = scripts.map(|script| {
        let reads = reads(script).iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        format!("{script}: {reads}\n")
    });
    expect![[r#"
        ls: read file:.
        ls -la src docs: read file:src, read file:docs
        ls README.md: read file:README.md
        cd src && ls: read file:src, read file:src
        ls src/*: read file:src/**
        ls -R: read file:**
        ls -laR src: read file:src/**
        git status --short: read file:.git, read file:.
        git status -sv: read file:**
        git -C src status: read file:src/.git, read file:src
        git status --verbose -- docs: read file:**
    "#]]
    .assert_eq(&told.concat());
    // A file that is made or removed shows, however deep it is, and one elsewhere does not.
    let file = |path: &str| Access::write(Resource::exact(Scheme::new("file"), path));
    let waits = |script: &str, path: &str| reads(script).iter().any(|read| read.conflicts_with(&file(path)));
    assert!(waits("ls src", "src/new.rs") && waits("ls", "new.rs") && waits("git status", "src/deep/new.rs"));
    assert!(!waits("ls src", "docs/new.md"));
}
