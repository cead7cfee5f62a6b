use haft_testkit::Tree;
use haft_tool_shell::Environment;

use crate::deciding::{Decision, Rules};
use crate::oracle::Oracle;

fn tree() -> Tree {
    Tree::new().file("--output=x", "").file("src/lib.rs", "").directory("d/.git")
}

fn environment() -> Environment {
    Environment::minimal().with("HOME", "/home/ann").expect("a variable")
}

/// None of these runs unasked where only `git diff`, `find` and `ls` may run.
#[track_caller]
fn check_asked(scripts: &[&str]) {
    check(scripts, &["git diff *", "find *", "ls *"], &[], Decision::Ask);
    check_said(scripts);
}

/// `git push` is found in each of these.
#[track_caller]
fn check_denied(scripts: &[&str]) {
    check(scripts, &["*"], &["git push *"], Decision::Deny);
    check_said(scripts);
}

/// Bash runs nothing of these of which it was not said.
#[track_caller]
fn check_said(scripts: &[&str]) {
    let oracle = Oracle::new("bash");
    // Bash itself connects to these.
    let scripts =
        scripts.iter().filter(|script| !script.contains("/dev/tcp") && !script.contains("/dev/udp"));
    let unsaid: Vec<_> = scripts.filter_map(|script| Some((script, oracle.unsaid(script)?))).collect();
    assert!(unsaid.is_empty(), "{unsaid:#?}");
}

#[track_caller]
fn check(scripts: &[&str], allow: &[&str], deny: &[&str], expected: Decision) {
    let tree = tree();
    let rules = Rules::new(&tree, environment(), allow, deny);
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
fn allows_what_the_rules_say() {
    let scripts = [
        "ls",
        "ls -la src",
        "git diff",
        "git diff --stat HEAD~1 -- src/lib.rs",
        "/usr/bin/git diff",
        "git diff; ls\nls src",
        "ls src && git diff | ls",
        "find . -name '*.rs'",
        "find src -type f",
        "ls 2>/dev/null >&2",
        "if ls src; then git diff; fi",
        "for f in a b; do ls src; done",
        "(ls; ls)",
        "( (ls) )",
        "{ ls; }",
        "time ls",
        "ls # and then; rm x",
        "ls src/*",
        "ls 'a b' \"c\"",
        "ls \\\n  src",
        "LC_ALL=C ls",
    ];
    check(&scripts, &["git diff *", "find *", "ls *"], &[], Decision::Allow);
}

#[test]
fn asks_about_commands_behind_an_operator() {
    for operator in ["&&", ";", "\n", "&", "|", "||", "|&"] {
        check_asked(&[&format!("git diff {operator} rm x"), &format!("git diff{operator}rm x")]);
    }
}

#[test]
fn asks_about_substitutions() {
    check_asked(&[
        "git diff $(rm x)",
        "git diff `rm x`",
        "git diff <(rm x)",
        "git diff \"$(rm x)\"",
        "git diff \"`rm x`\"",
        "ls >(rm x)",
        "ls ${X:-$(rm x)}",
        "ls \"${X:-$(rm x)}\"",
        "ls $((a[$(rm x)]))",
        "ls ${a[$(rm x)]}",
        "ls <<E\n$(rm x)\nE\n",
        "ls <<< $(rm x)",
        "ls <<E\n`rm x`\nE",
        "X=$(rm x) ls",
        "X=`rm x`",
        "a[$(rm x)]=1",
        "a=($(rm x))",
        "for x in $(rm x); do ls; done",
        "case $(rm x) in a) ls;; esac",
        "case a in $(rm x)) ls;; esac",
        "[[ $(rm x) ]]",
        "[[ -n `rm x` ]]",
        "(( $(rm x) ))",
        "ls ${X@P}",
        "ls > $(rm x)",
        "ls 2>&$(rm x)",
        "ls ${X/$(rm x)/}",
        "ls ${X#`rm x`}",
        "$(echo rm) x",
        "`echo rm` x",
        "ls $[ $(rm x) ]",
        "ls \"$\\\n(rm x)\"",
        "ls $\\\n(rm x)",
        "ls <<E\n$\\\n(rm x)\nE",
        "x='a[$(rm x)]'; ls $(\\\n(x))",
        "ls \"$\\\n{x:-$(rm x)}\"",
        "a\\\n['' # $(rm x) ]=1",
        "ls ${ rm x; }",
        "ls ${!x}",
        "ls \"$(case x in x) rm x;; esac)\"",
        "ls $(ls # )\nrm x)",
        "x='a[$(rm x)]'; ls $((x))",
        "x='a[$(rm x)]'; (( x ))",
        "x='a[$(rm x)]'; [[ x -eq 1 ]]",
        "x='a[$(rm x)]'; [[ -v $x ]]",
        "test -v 'a[$(rm x)]'",
        "ls <<-E\n\t$(rm x)\n\tE\n",
        "ls <<'E'\nE\nrm x",
        "ls <<E; rm x\nE",
        "ls <<\"E\"\n$(ls)\nE\nrm x",
    ]);
}

#[test]
fn asks_about_redirections() {
    check_asked(&[
        "ls > f",
        "ls >> f",
        "ls >| f",
        "ls &> f",
        "ls &>> f",
        "ls >& f",
        "ls <> f",
        "ls 2> f",
        "> f ls",
        "> f",
        "{ ls; } > f",
        "(ls) > f",
        "while ls; do ls; done > f",
        "if ls; then ls; fi > f",
        "f() { ls; } > f; f",
        "ls > /dev/tcp/example.org/80",
        "ls < /etc/passwd",
        "cat < /dev/udp/1.1.1.1/53",
        "exec 3> f",
        "ls 2>/dev/null >f",
    ]);
}

#[test]
fn asks_about_options_that_write_or_run() {
    check_asked(&[
        "git diff --output=f",
        "git diff --output f",
        "git diff --outpu=f",
        "git diff --ext-diff",
        "git diff *",
        "git diff -- *",
        "find . -{delete,print}",
        "find . -delete",
        "find . -exec rm {} ;",
        "find . -exec rm {} \\;",
        "find . -exec rm {} +",
        "find . -execdir rm {} \\;",
        "find . -ok rm {} \\;",
        "find . -fprintf f x",
        "find . -fprint f",
        "find . -fls f",
        "find . $X",
        "find . \"$X\"",
        "find *",
        "ls *",
        "git -c core.pager=x diff",
        "git -c diff.external=x diff",
        "git --exec-path=x diff",
        "git --git-dir=x diff",
        "git -C /x diff",
        "git diff --no-index /etc/passwd /etc/shadow",
        "find / -name x",
        "find .. -name x",
        "ls /",
        "ls ..",
        "ls ../x",
        "ls ~",
        "ls ~/x",
        "ls ~root",
        "ls ~+",
        "ls /etc/*",
        "ls src/../../*",
        "ls src/{a,../../b}",
        "find -files0-from f",
        "find -f /",
        "git diff --output='f'",
        "git diff $'--output=f'",
        "git diff --out\\put=f",
        "git diff --out\"put\"=f",
        "find . -del''ete",
    ]);
}

#[test]
fn asks_about_variables_that_have_commands_do_something_else() {
    check_asked(&[
        "GIT_EXTERNAL_DIFF=x git diff",
        "GIT_PAGER=x git diff",
        "PATH=. ls",
        "PATH=.; ls",
        "LD_PRELOAD=./x ls",
        "export GIT_EXTERNAL_DIFF=x; git diff",
        "declare -x GIT_EXTERNAL_DIFF=x; git diff",
        "BASH_ENV=x ls",
        "GIT_PAGER=x; git diff",
        "export PATH=.; ls",
        "read PATH <<< .; ls",
        "for PATH in .; do ls; done",
        "IFS=x; ls",
        "printf -v PATH .; ls",
        "declare -n r=PATH; r=.; ls",
        "set -a; GIT_EXTERNAL_DIFF=x; git diff",
        "unset PATH; ls",
        "env GIT_EXTERNAL_DIFF=x git diff",
        "typeset -x GIT_EXTERNAL_DIFF=x; git diff",
        "${PATH:=x} ls",
        "ls ${PATH:=x}",
        "BASH_CMDS[ls]=/bin/rm; ls x",
        "BASH_ALIASES[ls]='rm'; ls x",
        "mapfile -t PATH < src/lib.rs; ls",
        "PS4='$(rm x)'; set -x; ls",
        "HOME=/ ; ls ~/x",
        "GIT_EXTERNAL_DIFF=x ls; git diff",
        "coproc PATH { ls; }",
    ]);
}

#[test]
fn asks_about_what_takes_the_settings_of_git_away() {
    check_asked(&[
        "GIT_CONFIG_COUNT=0 git diff",
        "GIT_CONFIG_COUNT=0; git diff",
        "GIT_CONFIG_KEY_0=x; git diff",
        "GIT_CONFIG_VALUE_0=all; git diff",
        "GIT_CONFIG_PARAMETERS=\"'safe.bareRepository'='all'\" git diff",
        "GIT_CONFIG_KEY_7=x; git diff",
        "export GIT_CONFIG_COUNT=0; git diff",
        "export -n GIT_CONFIG_COUNT; git diff",
        "declare +x GIT_CONFIG_COUNT; git diff",
        "unset GIT_CONFIG_COUNT; git diff",
        "unset GIT_CONFIG_{COUNT,KEY_0}; git diff",
        "read GIT_CONFIG_COUNT <<< 0; git diff",
        "for GIT_CONFIG_COUNT in 0; do git diff; done",
        "printf -v GIT_CONFIG_COUNT 0; git diff",
        "env GIT_CONFIG_COUNT=0 git diff",
        "git -c safe.bareRepository=all diff",
        "git --config-env=safe.bareRepository=HOME diff",
    ]);
    // Even where these may run by themselves.
    let allowed = ["git diff *", "env *", "exec *", "bash *", "command *"];
    let scripts = [
        "env -i git diff",
        "env -iv git diff",
        "env - git diff",
        "env --ignore-environment git diff",
        "env --ignore git diff",
        "env -u GIT_CONFIG_COUNT git diff",
        "env -uGIT_CONFIG_COUNT git diff",
        "env --unset GIT_CONFIG_COUNT git diff",
        "env --unset=GIT_CONFIG_COUNT git diff",
        "env -S'-i git diff'",
        "exec -c git diff",
        "exec -cl git diff",
        "bash -c 'env -i git diff'",
        "bash -c 'GIT_CONFIG_COUNT=0 git diff'",
        "command exec -c git diff",
    ];
    check(&scripts, &allowed, &[], Decision::Ask);
    check(&["env git diff", "exec git diff", "env LANG=C git diff"], &allowed, &[], Decision::Allow);
}

#[test]
fn asks_about_other_directories() {
    check_asked(&[
        "cd / && ls",
        "cd /; ls",
        "cd ..; ls",
        "cd; ls",
        "cd -; ls",
        "cd $X; ls",
        "pushd /; ls",
        "cd ~ && ls",
        "cd src; cd ../..; ls",
        "cd \"$(ls)\"; ls",
        "(cd /; ls)",
        "cd nowhere || cd /; ls",
        "for x in a b; do cd ..; ls; done",
        "cd /tmp/.. && ls",
    ]);
}

#[test]
fn asks_about_commands_in_disguise() {
    check_asked(&[
        "$'\\x72m' x",
        "r\\m x",
        "'r'm x",
        "\"rm\" x",
        "r\"\"m x",
        "time rm x",
        "time -p rm x",
        "! rm x",
        "coproc rm x",
        "coproc X { rm x; }",
        "uniq a b",
        "xargs rm",
        "ls | xargs rm",
        "command rm x",
        "builtin eval 'rm x'",
        "exec rm x",
        "eval 'rm x'",
        "eval rm x",
        "eval \"$X\"",
        "bash -c 'rm x'",
        "sh -c 'rm x'",
        "env rm x",
        "nice rm x",
        "nohup rm x",
        "timeout 1 rm x",
        "stdbuf -o0 rm x",
        "setsid rm x",
        "sudo rm x",
        "busybox rm x",
        "/bin/rm x",
        "./ls",
        "src/git diff",
        "../bin/ls",
        "/tmp/git diff",
        "LS",
        "$LS",
        "${X}ls",
        "l$X",
        "ls$X",
        "l?",
        "l*",
        "{rm,x}",
        "{ rm x; }",
        "(rm x)",
        "if rm x; then ls; fi",
        "while rm x; do ls; done",
        "until rm x; do ls; done",
        "for x in a; do rm x; done",
        "case a in a) rm x;; esac",
        "case a in (a) rm x;; esac",
        "f() { rm x; }; f",
        "function f { rm x; }",
        "f() (rm x)",
        "select x in a; do rm x; done",
        "for ((i=0;i<1;i++)); do rm x; done",
        "((rm x) )",
        "( (rm x) )",
        "((ls); (rm x))",
        "{fd}>f rm x",
        "1>f rm x",
    ]);
}

#[test]
fn asks_about_names_and_lines_that_mean_something_else() {
    check_asked(&[
        "alias ls='rm x'\nls",
        "alias ls=rm; ls x",
        "shopt -s expand_aliases\nalias ls=rm\nls x",
        "git() { rm x; }; git diff",
        "function git { rm x; }\ngit diff",
        "ls() { :; }",
        "unset -f ls",
        "enable -n ls",
        "hash -p /bin/rm ls; ls x",
        "trap 'rm x' EXIT",
        "trap \"$X\" EXIT",
        "source ./x",
        ". ./x",
        "sh <<E\nrm x\nE",
        "bash <<< 'rm x'",
        "sh <<'E'\nrm x\nE",
        "echo rm x | sh",
        "ls\\\n;rm x",
        "ls \\\n# rm\nrm x",
        "ls &\\\n& rm x",
        "\\$'a\\'; rm x; echo 'b'",
        "ls \\$'a\\'; rm x; ls 'b'",
        "ls $$'a\\'; rm x; ls 'b'",
        "[[ x =~ ( #) ]]; rm x\ny) ]]",
        "ls 'a\\'; rm x #'",
        "ls \"a\\\"\"; rm x",
        "ls a#b; rm x",
        "ls ${x#a}; rm x",
        "ls $#; rm x",
        "ls\r\nrm x",
        "ls\x0brm",
        "!(rm x)",
        "ls !(a|rm x)",
        "i\\\nf rm x; then ls; fi",
        "jobs -x rm x",
        "sleep 1 & jobs -x git %1",
        "sleep 1 & jobs -lx git diff %%",
        "sleep 1 & jobs -x -- git $X",
        "compgen -C 'rm x'",
        "complete -C rm ls",
        "mapfile -C 'rm x' -c 1 a < src/lib.rs",
        "let 'a[$(rm x)]'",
        "2>&1 rm x",
        "X=1 rm x",
        "X+=1 rm x",
        "X= rm x",
        "a[0]=1 rm x",
        "ls;;rm x",
        "ls &&\nrm x",
        "ls |\nrm x",
        "time",
        "ls 9999999999999>f",
        "ls {1..99999999999999999999}",
        "git diff\n\n\nrm x\n",
        "git diff;;",
        "git diff )",
        "( git diff",
        "ls '",
        "ls \"",
        "ls `",
        "ls $(",
        "ls ${",
        "ls <<",
        "if ls",
        "for",
        "case x in",
        "f(",
        "{ ls",
        "[[ x",
        "((",
        "$((",
        "ls |",
        "ls &&",
        "! ",
        "ls > ",
        "ls <(ls",
        "function",
    ]);
}

#[test]
fn finds_what_is_denied_behind_any_number_of_words() {
    let many = |count: usize, before: &str| {
        let words = (0..count).map(|number| format!("{before} {number};"));
        format!("{} git push", words.collect::<String>())
    };
    let long = format!("if git {} push", "-c a=b ".repeat(40));
    check_denied(&[&many(2_100, "true"), &many(100, "true"), &many(8_000, "a b c"), &long]);
}

#[test]
fn finds_what_is_denied_however_it_is_run() {
    check_denied(&[
        "git push",
        "git push origin main",
        "git -C d push",
        "cd d && git push",
        "env git push",
        "sudo git push",
        "bash -c 'git push'",
        "/usr/bin/git push",
        "G=1 git push",
        "G=(1) git push",
        "G=([0]=1) H=2 git push",
        "true | git push",
        "$(git push)",
        "xargs git push",
        "/opt/git push",
        "./git push",
        "GIT push",
        "git --no-pager push",
        "git -c a=b push",
        "sudo -u x git push",
        "sudo -E env A=b nice -n 3 git push",
        "timeout 3 git push",
        "sh -c \"git push\"",
        "bash -lc 'cd x; git push'",
        "eval 'git push'",
        "eval git push",
        "command git push",
        "exec git push",
        "if x; then git push; fi",
        "f() { git push; }",
        "x=$(git push)",
        "echo `git push`",
        "cat <(git push)",
        "git 'push'",
        "git pu\\sh",
        "g\"\"it push",
        "(git push)",
        "{ git push; }",
        "git push &",
        "coproc git push",
        "time git push",
        "! git push",
        "for x in a; do git push; done",
        "while git push; do :; done",
        "case x in x) git push;; esac",
        "bash <<< 'git push'",
        "bash <<E\ngit push\nE",
        "find . -exec git push \\;",
        "echo \"$(git push)\"",
        "cat <<E\n$(git push)\nE",
        "[[ $(git push) ]]",
        "git \\\n push",
        "nohup git push &",
        "git push > f",
        "2>f git push",
        "$'git' push",
        "trap 'git push' EXIT",
        "jobs -x git push",
        "jobs -lx git push",
        "compgen -C 'git push'",
        "compgen -A file -C 'git push' x",
        "ls | xargs -n1 git push",
        "((git push",
        "if git push",
        "git push;;",
        "git push )",
        "bash -c \"bash -c 'git push'\"",
    ]);
}
