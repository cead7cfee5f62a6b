#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use super::CommandPatterns;
use crate::EXEC;
use expect_test::{Expect, expect};
use haft_tools_core::{PatternSyntax as _, Resource};

fn command(text: &str) -> Resource {
    Resource::exact(EXEC, text)
}

/// Shows which of the commands a pattern contains, and which it only touches.
fn check(pattern: &str, commands: &[&str], expected: &Expect) {
    let set = CommandPatterns::new().compile(&[pattern.into()]).expect("a pattern");
    let line = |text: &&str| {
        let command = command(text);
        let sign = match (set.first_containing(&command), set.first_touching(&command)) {
            (Some(_), Some(_)) => "contains",
            (None, Some(_)) => "touches",
            (None, None) => "-",
            (Some(_), None) => "contains and does not touch",
        };
        format!("{sign:9} {text}\n")
    };
    expected.assert_eq(&commands.iter().map(line).collect::<String>());
}

#[test]
fn compares_word_by_word() {
    check(
        "git diff *",
        &[
            "git diff",
            "git diff a b",
            "git difftool",
            "git",
            "git diffa",
            "git -C d diff",
            "/usr/bin/git diff",
            "/opt/git diff",
            "GIT diff",
            "git diff --output=f",
            "git diff --stat",
            "git diff $X",
            "git $X",
            "$X diff",
            "git 'diff'",
            "git log diff",
            "A=1 git diff",
            "if git diff",
            "git diff && rm x",
            "'git diff'",
            "git --no-pager diff",
        ],
        &expect![[r#"
            contains  git diff
            contains  git diff a b
            -         git difftool
            -         git
            -         git diffa
            touches   git -C d diff
            contains  /usr/bin/git diff
            touches   /opt/git diff
            touches   GIT diff
            touches   git diff --output=f
            contains  git diff --stat
            contains  git diff $X
            -         git $X
            -         $X diff
            contains  git 'diff'
            -         git log diff
            touches   A=1 git diff
            touches   if git diff
            touches   git diff && rm x
            -         'git diff'
            touches   git --no-pager diff
        "#]],
    );
}

#[test]
fn finds_options_in_any_order_to_deny() {
    check(
        "rm -rf *",
        &[
            "rm -rf x",
            "rm -fr x",
            "rm -r -f x",
            "rm x -rf",
            "rm -r x",
            "rm -rfv x",
            "rm --recursive --force x",
        ],
        &expect![[r#"
            contains  rm -rf x
            touches   rm -fr x
            touches   rm -r -f x
            touches   rm x -rf
            -         rm -r x
            touches   rm -rfv x
            touches   rm --recursive --force x
        "#]],
    );
    check(
        "git push --force *",
        &[
            "git push --force",
            "git push origin --force",
            "git push --forc",
            "git push --force=x",
            "git push -f",
            "git push",
        ],
        &expect![[r#"
            contains  git push --force
            touches   git push origin --force
            touches   git push --forc
            touches   git push --force=x
            touches   git push -f
            -         git push
        "#]],
    );
}

#[test]
fn words_that_expand_are_denied_as_they_are_written() {
    check(
        "rm -rf '$HOME'* *",
        &[
            "rm -rf $HOME",
            "rm -rf $HOME/src",
            "rm -rf '$HOME'",
            "rm -rf $OTHER",
            "rm -rf -- $HOME",
            "rm $HOME",
        ],
        &expect![[r#"
            touches   rm -rf $HOME
            touches   rm -rf $HOME/src
            contains  rm -rf '$HOME'
            -         rm -rf $OTHER
            touches   rm -rf -- $HOME
            -         rm $HOME
        "#]],
    );
}

#[test]
fn matches_parts_of_a_word_only_within_it() {
    check(
        "npm run test:*",
        &[
            "npm run test:unit",
            "npm run test:",
            "npm run test",
            "npm run 'test:a b'",
            "npm run test:a rm",
            "npm run test:$X",
        ],
        &expect![[r#"
            contains  npm run test:unit
            contains  npm run test:
            -         npm run test
            contains  npm run 'test:a b'
            touches   npm run test:a rm
            touches   npm run test:$X
        "#]],
    );
}

#[test]
fn knows_commands_that_only_read_and_those_that_are_understood() {
    let commands = [
        "ls -la",
        "rm x",
        "git diff",
        "git diff --output=f",
        "make",
        "curl https://example.org",
        "cp a b",
        "A=1 ls",
    ];
    check(
        "@reads",
        &commands,
        &expect![[r#"
            contains  ls -la
            -         rm x
            contains  git diff
            -         git diff --output=f
            -         make
            -         curl https://example.org
            -         cp a b
            touches   A=1 ls
        "#]],
    );
    check(
        "@understood",
        &commands,
        &expect![[r#"
            contains  ls -la
            contains  rm x
            contains  git diff
            contains  git diff --output=f
            -         make
            contains  curl https://example.org
            contains  cp a b
            touches   A=1 ls
        "#]],
    );
}

#[test]
fn refuses_what_is_not_the_words_of_one_command() {
    let patterns = [
        "", " ", "@read", "@under", "a && b", "a | b", "a; b", "a > f", "a 'b", "a \"b", "a $X", "a `b`",
        "a \"$X\"", "a ?", "a [ab]", "a {b,c}", "~/x", "# a", "a\\", "a (b)",
    ];
    let line = |pattern: &&str| {
        let error =
            CommandPatterns::new().compile(&["ls".into(), (*pattern).into()]).expect_err("it is refused");
        format!("{pattern:?} {} {:?}: {error}\n", error.index(), error.range())
    };
    expect![[r##"
        "" 1 0..0: the pattern is empty; write the words of a command, or `*`
        " " 1 0..1: the pattern is empty; write the words of a command, or `*`
        "@read" 1 0..5: `@read` stands for no commands; did you mean `@reads`?
        "@under" 1 0..6: `@under` stands for no commands; did you mean `@understood`?
        "a && b" 1 2..3: `&` joins commands or redirects them, and a rule is about one; write a rule for each
        "a | b" 1 2..3: `|` joins commands or redirects them, and a rule is about one; write a rule for each
        "a; b" 1 1..2: `;` joins commands or redirects them, and a rule is about one; write a rule for each
        "a > f" 1 2..3: `>` joins commands or redirects them, and a rule is about one; write a rule for each
        "a 'b" 1 2..3: a quote that does not close; add the other one
        "a \"b" 1 2..3: a quote that does not close; add the other one
        "a $X" 1 2..3: `$` would expand; put the word in single quotes if it is meant as it is, or write `*`
        "a `b`" 1 2..3: ``` would expand; put the word in single quotes if it is meant as it is, or write `*`
        "a \"$X\"" 1 3..4: it would expand between `"`; write `'` around it
        "a ?" 1 2..3: `?` would expand; put the word in single quotes if it is meant as it is, or write `*`
        "a [ab]" 1 2..3: `[` would expand; put the word in single quotes if it is meant as it is, or write `*`
        "a {b,c}" 1 2..3: `{` would expand; put the word in single quotes if it is meant as it is, or write `*`
        "~/x" 1 0..1: a word that begins with `~` reads otherwise in a shell; write the whole path, or put it in single quotes
        "# a" 1 0..1: a word that begins with `#` reads otherwise in a shell; write the whole path, or put it in single quotes
        "a\\" 1 1..2: a `\` at the end; write what it escapes
        "a (b)" 1 2..3: `(` joins commands or redirects them, and a rule is about one; write a rule for each
    "##]].assert_eq(&patterns.iter().map(line).collect::<String>());
}

#[test]
fn suggests_the_narrowest_useful_pattern() {
    let commands = [
        "git log --oneline -3",
        "git status",
        "git push origin main",
        "ls -la src",
        "make test",
        "./run.sh 'a b'",
        "cargo test -q",
        "npm run build",
        "python x.py",
        "bash x.sh",
        "sudo ls",
        "find . -name x",
        "env A=1 ls",
        "git diff --output=f",
        "ls $X",
        "A=1 make",
        "$X a",
        "docker run x",
        "docker ps",
        "kubectl get pods",
        "kubectl exec x",
        "ssh host",
        "rm -rf x",
        "/usr/bin/git log -1",
        "xargs ls",
        "a && b",
        "git --no-pager log -1",
        "git -C d log",
        "git --version",
        "kubectl -n prod get pods",
        "cargo --version",
        "/opt/python x.py",
        "docker --version",
    ];
    let line = |text: &&str| {
        format!("{text} -> {}\n", CommandPatterns::new().suggest(&command(text)).as_deref().unwrap_or("-"))
    };
    expect![[r#"
        git log --oneline -3 -> git log *
        git status -> git status *
        git push origin main -> git push *
        ls -la src -> ls *
        make test -> make test
        ./run.sh 'a b' -> ./run.sh 'a b'
        cargo test -q -> cargo test *
        npm run build -> npm run build *
        python x.py -> -
        bash x.sh -> -
        sudo ls -> -
        find . -name x -> -
        env A=1 ls -> -
        git diff --output=f -> -
        ls $X -> -
        A=1 make -> -
        $X a -> -
        docker run x -> -
        docker ps -> docker ps *
        kubectl get pods -> kubectl get *
        kubectl exec x -> -
        ssh host -> -
        rm -rf x -> rm *
        /usr/bin/git log -1 -> /usr/bin/git log *
        xargs ls -> -
        a && b -> -
        git --no-pager log -1 -> git --no-pager log -1 *
        git -C d log -> git -C d log *
        git --version -> git --version *
        kubectl -n prod get pods -> kubectl -n prod get pods *
        cargo --version -> cargo --version *
        /opt/python x.py -> -
        docker --version -> docker --version *
    "#]]
    .assert_eq(&commands.iter().map(line).collect::<String>());
}

#[test]
fn reads_resources_as_people_write_them() {
    let texts = [
        "git  commit -m \"a b\"",
        "ls 'a'",
        "ls $X",
        "A=1 B=\"it's\" C='' make D='a b'",
        "A=$X make",
        "'A=a b' make",
        "ls && rm",
        "ls > f",
        "",
        "ls 'a",
    ];
    let line = |text: &&str| match CommandPatterns::new().resource(text) {
        Ok(resource) => format!("{text:?}: {}\n", resource.path()),
        Err(error) => format!("{text:?}: refused: {error}\n"),
    };
    expect![[r#"
        "git  commit -m \"a b\"": git commit -m 'a b'
        "ls 'a'": ls a
        "ls $X": ls $X
        "A=1 B=\"it's\" C='' make D='a b'": A=1 B='it'\''s' C= make 'D=a b'
        "A=$X make": A=$X make
        "'A=a b' make": 'A=a b' make
        "ls && rm": refused: it has an operator or a redirection; write the words of one command, and test a script as a call of `bash`
        "ls > f": refused: it has an operator or a redirection; write the words of one command, and test a script as a call of `bash`
        "": refused: it is empty; write the words of one command
        "ls 'a": refused: it has a `'` that does not close; write the words of one command, and test a script as a call of `bash`
    "#]].assert_eq(&texts.iter().map(line).collect::<String>());
}
