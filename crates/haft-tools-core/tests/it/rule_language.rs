use crate::fixture::resource;
use crate::patterns::language;
use expect_test::{Expect, expect};
use haft_tools_core::{Access, AccessMode, RuleError, RuleLanguage};
use proptest::prelude::*;

/// Shows what a text is read as, or what is wrong with which part of it.
fn check<T: ToString>(text: &str, read: Result<T, RuleError>, expect: Expect) {
    let said = match read {
        Ok(read) => read.to_string(),
        Err(error) => {
            format!("{error}\n{text}\n{}{}", " ".repeat(error.range().start), "^".repeat(error.range().len()))
        }
    };
    expect.assert_eq(&said);
}

fn rule(text: &str, expect: Expect) {
    check(text, language().rule(text), expect);
}

fn access(text: &str, expect: Expect) {
    check(text, language().access(text), expect);
}

#[test]
fn rules_are_written_back_as_they_were_written() {
    for text in [
        "read(src/**)",
        "write(a)",
        "exec(git diff/*)",
        "read(output:**)",
        "write(memory:a/b)",
        "call(mcp:github/x)",
        "call(@github/create_*)",
        "opaque",
        "opaque(bash)",
        "bash",
        "*",
        "@github, !bash",
    ] {
        let rule = language().rule(text).unwrap();
        assert_eq!(rule.to_string(), text);
        assert_eq!(language().rule(&rule.to_string()).unwrap(), rule);
    }
}

#[test]
fn blanks_around_a_rule_and_its_pattern_are_no_part_of_them() {
    rule("  read ( src/** )\t", expect!["read(src/**)"]);
    rule(" opaque ", expect!["opaque"]);
    rule("call( @github )", expect!["call(@github)"]);
    access(" write ( a b ) ", expect!["write file:a b"]);
    assert_eq!(language().access("write( a )"), Ok(Access::write(resource("file:a"))));
}

#[test]
fn what_is_no_rule_is_refused_at_its_place() {
    rule(
        "raed(src/**)",
        expect![[r#"
        `raed` is not a mode; write `read`
        raed(src/**)
        ^^^^"#]],
    );
    rule(
        "  fetch (x)",
        expect![[r#"
        `fetch` is not a mode; write `read`, `write`, `exec`, `connect`, `call` or `opaque`
          fetch (x)
          ^^^^^"#]],
    );
    rule(
        "read(src/**",
        expect![[r#"
        `read(src/**` does not end with `)`; close the pattern
        read(src/**
        ^^^^^^^^^^^"#]],
    );
    rule(
        "read(src/**) and more",
        expect![[r#"
        `read(src/**) and more` does not end with `)`; close the pattern
        read(src/**) and more
        ^^^^^^^^^^^^^^^^^^^^^"#]],
    );
    rule(
        "read()",
        expect![[r#"
        the pattern of `read` is empty; write what it is about, such as `read(src/**)`
        read()
        ^^^^^^"#]],
    );
    rule(
        "exec(  )",
        expect![[r#"
        the pattern of `exec` is empty; write what it is about, such as `exec(git diff *)`
        exec(  )
        ^^^^^^^^"#]],
    );
    rule(
        "opaque()",
        expect![[r#"
        the pattern of `opaque` is empty; write what it is about, such as `opaque(bash)`
        opaque()
        ^^^^^^^^"#]],
    );
    rule(
        " read( src/?.rs )",
        expect![[r#"
        `?` is not known here; write `*`
         read( src/?.rs )
                   ^"#]],
    );
    rule(
        "connect(example.org)",
        expect![[r#"
        this program knows no patterns of `connect`; leave the rule out, or use a program with the tools it is for
        connect(example.org)
                ^^^^^^^^^^^"#]],
    );
    rule(
        "call(@git*)",
        expect![[r#"
        `@git*` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not
        call(@git*)
             ^^^^^"#]],
    );
    rule(
        "opaque(@)",
        expect![[r#"
        `@` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not
        opaque(@)
               ^"#]],
    );
    rule(
        "@git*",
        expect![[r#"
        `@git*` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not
        @git*
        ^^^^^"#]],
    );
    rule(
        "read",
        expect![[r#"
        `read` needs a pattern, as in `read(src/**)`; a tool of that name is chosen by `@origin/read`
        read
        ^^^^"#]],
    );
    rule(
        "",
        expect![[r#"
        a selector cannot be empty; write `*` for every tool

    "#]],
    );
    rule(
        "read src",
        expect![[r#"
            `read` is a mode and no tool; write it as a rule of its own, such as `read(src/**)`; a tool of that name is chosen by `@origin/read`
            read src
            ^^^^"#]],
    );
    rule(
        "read,",
        expect![[r#"
            `read` is a mode and no tool; write it as a rule of its own, such as `read(src/**)`; a tool of that name is chosen by `@origin/read`
            read,
            ^^^^"#]],
    );
    rule(
        "edit_file, write",
        expect![[r#"
            `write` is a mode and no tool; write it as a rule of its own, such as `write(src/**)`; a tool of that name is chosen by `@origin/write`
            edit_file, write
                       ^^^^^"#]],
    );
    rule(
        "!write",
        expect![[r#"
            `write` is a mode and no tool; leave it out here, and say what may not be done as a rule of `deny`, such as `write(src/**)`; a tool of that name is chosen by `@origin/write`
            !write
             ^^^^^"#]],
    );
    rule(
        "opaque,",
        expect![[r#"
            `opaque` is a mode and no tool; write it as a rule of its own, such as `opaque(bash)`; a tool of that name is chosen by `@origin/opaque`
            opaque,
            ^^^^^^"#]],
    );
    rule("read_file,", expect!["read_file"]);
    rule("@host/read, @host/opaque", expect!["@host/read, @host/opaque"]);
    rule(
        "()",
        expect![[r#"
            `` is not a mode; write `read`, `write`, `exec`, `connect`, `call` or `opaque`
            ()
        "#]],
    );
}

#[test]
fn resources_of_a_domain_are_written_as_its_patterns() {
    rule(
        "write(file:**)",
        expect![[r#"
        `file:**` is a resource; write a pattern without `file:`, such as `write(src/**)`
        write(file:**)
              ^^^^^^^"#]],
    );
    rule(
        "read( file:a )",
        expect![[r#"
        `file:a` is a resource; write a pattern without `file:`, such as `read(src/**)`
        read( file:a )
              ^^^^^^"#]],
    );
    rule("read(./file:a)", expect!["read(./file:a)"]);
    rule("read(c:/windows)", expect!["read(c:/windows)"]);
    // A language that has no patterns of files has nothing else to name them by.
    check("write(file:**)", RuleLanguage::new().rule("write(file:**)"), expect!["write(file:**)"]);
}

#[test]
fn accesses_are_read_like_rules_with_one_thing_in_the_place_of_a_pattern() {
    access("read(src/lib.rs)", expect!["read file:src/lib.rs"]);
    access("exec(git push)", expect!["exec exec:git push"]);
    access("write(outside:/etc/hosts)", expect!["write outside:/etc/hosts"]);
    access("call(mcp:github/create_issue)", expect!["call mcp:github/create_issue"]);
    access("opaque", expect!["opaque (not said)"]);
}

#[test]
fn what_is_no_access_is_refused_at_its_place() {
    access(
        "  wriet(x)",
        expect![[r#"
        `wriet` is not a mode; write `write`
          wriet(x)
          ^^^^^"#]],
    );
    access(
        "write(x",
        expect![[r#"
        `write(x` is not an access; write one such as `write(src/lib.rs)`
        write(x
        ^^^^^^^"#]],
    );
    access(
        "bash",
        expect![[r#"
        `bash` is not an access; write one such as `write(src/lib.rs)`
        bash
        ^^^^"#]],
    );
    access(
        "write( src/* )",
        expect![[r#"
        this is a pattern; write one path
        write( src/* )
                   ^"#]],
    );
    access(
        "connect(example.org:443)",
        expect![[r#"
        this program knows no patterns of `connect`; leave the rule out, or use a program with the tools it is for
        connect(example.org:443)
                ^^^^^^^^^^^^^^^"#]],
    );
    access(
        "call(create_issue)",
        expect![[r#"
        `create_issue` is not a resource; write one such as `mcp:github/create_issue`
        call(create_issue)
             ^^^^^^^^^^^^"#]],
    );
    access(
        "opaque(bash)",
        expect![[r#"
            what cannot be told has no pattern here; write `opaque`
            opaque(bash)
            ^^^^^^^^^^^^"#]],
    );
}

#[test]
fn a_language_knows_the_modes_that_it_was_given_patterns_of() {
    let knows = |language: &RuleLanguage| {
        let modes =
            [AccessMode::Read, AccessMode::Write, AccessMode::Execute, AccessMode::Connect, AccessMode::Call];
        modes.map(|mode| language.knows(mode))
    };
    assert_eq!(knows(&language()), [true, true, true, false, true]);
    assert_eq!(knows(&RuleLanguage::new()), [false, false, false, false, true]);
}

#[test]
fn a_suggestion_is_the_domains_and_contains_what_was_asked_for() {
    let suggest = |access: Access| language().suggest(&access).map(|rule| rule.to_string());
    assert_eq!(suggest(Access::write(resource("file:src/a.rs"))), Some("write(src/*)".to_owned()));
    assert_eq!(suggest(Access::write(resource("file:src/a/**"))), None);
    assert_eq!(suggest(Access::write(resource("file:a"))), None);
    assert_eq!(suggest(Access::write(resource("file:wrong"))), None);
    assert_eq!(suggest(Access::opaque("eval")), None);
    // What has no domain is named as it is, unless it would be run or connected to.
    assert_eq!(suggest(Access::read(resource("output:a"))), Some("read(output:a)".to_owned()));
    assert_eq!(suggest(Access::call(resource("mcp:github/x"))), Some("call(mcp:github/x)".to_owned()));
    assert_eq!(suggest(Access::write(resource("memory:a"))), Some("write(memory:a)".to_owned()));
    assert_eq!(suggest(Access::connect(resource("net:a"))), None);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_within_itself(text in "[ a-z(){}*?/:@!,\\\\é]{0,16}|(read|write|exec|call|opaque|connect) ?\\( ?[a-z*?/:@!é ]{0,8}\\)?") {
        for error in [language().rule(&text).err(), language().access(&text).err()].into_iter().flatten() {
            let range = error.range();
            prop_assert!(text.get(range.clone()).is_some(), "{text:?} {range:?}");
        }
        if let Ok(rule) = language().rule(&text) {
            prop_assert_eq!(language().rule(&rule.to_string()), Ok(rule));
        }
    }
}
