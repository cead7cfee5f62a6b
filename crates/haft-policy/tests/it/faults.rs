use crate::fixture::language;
use expect_test::{Expect, expect};
use haft_policy::PolicyFile;

/// Reads a file, and shows all that is wrong with it.
fn check(text: &str, expect: Expect) {
    let said = match PolicyFile::parse(text, "policy.toml", &language()) {
        Ok(_) => "nothing is wrong".to_owned(),
        Err(error) => error.to_string(),
    };
    expect.assert_eq(&said);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    check(
        r#"profil = "read_only"
profile = "readonly"

[permissions]
mode = "plann"
allow = ["raed(src/**)", "read(src/[a)", 7]
dany = []

[agents.explorer.permission]
allow = []

[agents.explorer.ceiling]
deny = ["wriet(**)"]

[limits]
time_out = 30
timeout = "30 fortnights"
output_bytes = -1
nesting = 1.5

[limits.retries]
mosst = 1

[limits.tools."@git*"]
timeout = "1s"

[sandbox]
mode = "on"

[[test]]
access = "write(src/x"
expect = "alow"

[[test]]
command = "ls"
access = "opaque"
expect = "ask"

[[test]]
input = { a = 1 }
"#,
        expect![[r#"
            error: `profil` is not a key of a policy file; write `profile`
             --> policy.toml:1:1
              |
            1 | profil = "read_only"
              | ^^^^^^

            error: `readonly` is not a profile; write `read_only`
             --> policy.toml:2:12
              |
            2 | profile = "readonly"
              |            ^^^^^^^^

            error: `plann` is not a mode; write `plan`
             --> policy.toml:5:9
              |
            5 | mode = "plann"
              |         ^^^^^

            error: `raed` is not a mode; write `read`
             --> policy.toml:6:11
              |
            6 | allow = ["raed(src/**)", "read(src/[a)", 7]
              |           ^^^^

            error: `[` opens a class that is not closed; write `]`
             --> policy.toml:6:36
              |
            6 | allow = ["raed(src/**)", "read(src/[a)", 7]
              |                                    ^

            error: each of `allow` is a text, and this is a whole number
             --> policy.toml:6:42
              |
            6 | allow = ["raed(src/**)", "read(src/[a)", 7]
              |                                          ^

            error: `dany` is not a key of `[permissions]`; write `deny`
             --> policy.toml:7:1
              |
            7 | dany = []
              | ^^^^

            error: `permission` is not a key of `[agents.explorer]`; write `permissions`
             --> policy.toml:9:18
              |
            9 | [agents.explorer.permission]
              |                  ^^^^^^^^^^

            error: `wriet` is not a mode; write `write`
              --> policy.toml:13:10
               |
            13 | deny = ["wriet(**)"]
               |          ^^^^^

            error: `time_out` is not a key of `[limits]`; write `timeout`
              --> policy.toml:16:1
               |
            16 | time_out = 30
               | ^^^^^^^^

            error: `30 fortnights` is not a time; write one such as `500ms`, `30s`, `2min` or `1h`
              --> policy.toml:17:11
               |
            17 | timeout = "30 fortnights"
               |           ^^^^^^^^^^^^^^^

            error: `output_bytes` is a whole number from 1
              --> policy.toml:18:16
               |
            18 | output_bytes = -1
               |                ^^

            error: `nesting` is a whole number from 0
              --> policy.toml:19:11
               |
            19 | nesting = 1.5
               |           ^^^

            error: `mosst` is not a key of `[limits.retries]`; write `most`
              --> policy.toml:22:1
               |
            22 | mosst = 1
               | ^^^^^

            error: `@git*` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not
              --> policy.toml:24:15
               |
            24 | [limits.tools."@git*"]
               |               ^^^^^^^

            error: `on` is not a mode of the sandbox; write `off`, `prefer` or `require`
              --> policy.toml:28:9
               |
            28 | mode = "on"
               |         ^^

            error: `write(src/x` is not an access; write one such as `write(src/lib.rs)`
              --> policy.toml:31:11
               |
            31 | access = "write(src/x"
               |           ^^^^^^^^^^^

            error: `alow` is not a decision; write `allow`
              --> policy.toml:32:11
               |
            32 | expect = "alow"
               |           ^^^^

            error: the test has `access` already; make another test for `command`
              --> policy.toml:35:11
               |
            35 | command = "ls"
               |           ^^^^

            error: the test does not say what to `expect`; write `allow`, `ask` or `deny`
              --> policy.toml:39:1
               |
            39 | [[test]]
               | ^^^^^^^^

            error: the test does not say what is decided; write an `access`, a `command`, or a `tool` with its `input`
              --> policy.toml:39:1
               |
            39 | [[test]]
               | ^^^^^^^^"#]],
    );
}

#[test]
fn the_place_in_a_rule_is_pointed_at_however_the_text_is_quoted() {
    check(
        "[permissions]\nallow = ['read(src/[a)']\n",
        expect![[r#"
        error: `[` opens a class that is not closed; write `]`
         --> policy.toml:2:20
          |
        2 | allow = ['read(src/[a)']
          |                    ^"#]],
    );
    check(
        "[permissions]\nallow = [\"\"\"read(src/[a)\"\"\"]\n",
        expect![[r#"
        error: `[` opens a class that is not closed; write `]`
         --> policy.toml:2:22
          |
        2 | allow = ["""read(src/[a)"""]
          |                      ^"#]],
    );
    check(
        "[permissions]\nallow = ['''\nread(src/[a)''']\n",
        expect![[r#"
        error: `[` opens a class that is not closed; write `]`
         --> policy.toml:3:10
          |
        3 | read(src/[a)''']
          |          ^"#]],
    );
    check(
        "[permissions]\nallow = [\"read(\\u0073rc/[a)\"]\n",
        expect![[r#"
        error: `[` opens a class that is not closed; write `]`
         --> policy.toml:2:10
          |
        2 | allow = ["read(\u0073rc/[a)"]
          |          ^^^^^^^^^^^^^^^^^^^"#]],
    );
    check(
        "[permissions]\r\nallow = [\"\",\r\n  \"  read(é/[a)\"]\r\n",
        expect![[r#"
        error: a selector cannot be empty; write `*` for every tool
         --> policy.toml:2:11
          |
        2 | allow = ["",
          |           ^

        error: `[` opens a class that is not closed; write `]`
         --> policy.toml:3:13
          |
        3 |   "  read(é/[a)"]
          |             ^"#]],
    );
}

#[test]
fn what_is_no_toml_is_said_with_the_rest() {
    check(
        "[permissions\nallow = [\"bash\"]\ndeny = [\"raed(x)\"]\n",
        expect![[r#"
            error: unclosed table, expected `]`
             --> policy.toml:1:13
              |
            1 | [permissions
              |             ^

            error: `deny` is a key of `[permissions]`; write that above it
             --> policy.toml:3:1
              |
            3 | deny = ["raed(x)"]
              | ^^^^"#]],
    );
    check(
        "[permissions]\nallow = [\"bash\", \"x\n",
        expect![[r#"
        error: unclosed array, expected `]`
         --> policy.toml:2:20
          |
        2 | allow = ["bash", "x
          |                    ^

        error: invalid basic string, expected `"`
         --> policy.toml:2:20
          |
        2 | allow = ["bash", "x
          |                    ^"#]],
    );
    check(
        "[permissions]\nallow = []\nallow = []\n[permissions]\n",
        expect![[r#"
        error: duplicate key
         --> policy.toml:3:1
          |
        3 | allow = []
          | ^^^^^

        error: duplicate key
         --> policy.toml:4:2
          |
        4 | [permissions]
          |  ^^^^^^^^^^^"#]],
    );
}

#[test]
fn what_is_of_another_kind_is_refused() {
    check(
        "include = 1\nprofile = []\npermissions = 1\nagents = { x = 1 }\nlimits = []\nsandbox = \"off\"\ntest = {}\n",
        expect![[r#"
            error: `include` is a list, and this is a whole number
             --> policy.toml:1:11
              |
            1 | include = 1
              |           ^

            error: a profile is a text, and this is a list
             --> policy.toml:2:11
              |
            2 | profile = []
              |           ^^

            error: `permissions` is a table, and this is a whole number
             --> policy.toml:3:15
              |
            3 | permissions = 1
              |               ^

            error: an agent is a table, and this is a whole number
             --> policy.toml:4:16
              |
            4 | agents = { x = 1 }
              |                ^

            error: `limits` is a table, and this is a list
             --> policy.toml:5:10
              |
            5 | limits = []
              |          ^^

            error: `sandbox` is a table, and this is a text
             --> policy.toml:6:11
              |
            6 | sandbox = "off"
              |           ^^^^^

            error: tests are written one by one, each under its own `[[test]]`
             --> policy.toml:7:8
              |
            7 | test = {}
              |        ^^"#]],
    );
}

#[test]
fn tables_of_others_are_left_to_them_by_name_alone() {
    let text =
        "[model]\nname = 1\n[modle]\n[agents.x]\nprompt = \"a\"\npormpt = \"b\"\n[agents.x.permissions]\n";
    let error = PolicyFile::parse_with_others(text, "haft.toml", &language(), &["model", "agents.prompt"])
        .unwrap_err();
    expect![[r#"
        error: `modle` is not a key of this file; write `model`
         --> haft.toml:3:2
          |
        3 | [modle]
          |  ^^^^^

        error: `pormpt` is not a key of `[agents.x]`; write `permissions` or `ceiling`
         --> haft.toml:6:1
          |
        6 | pormpt = "b"
          | ^^^^^^"#]]
    .assert_eq(&error.to_string());
}

#[test]
fn characters_that_cannot_be_seen_are_shown_and_counted_as_one() {
    check(
        "[permissions]\nallow = [\"a\u{202e}b\u{200b}c\"]\n",
        expect![[r#"
        error: `a\u{202e}b\u{200b}c` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not
         --> policy.toml:2:11
          |
        2 | allow = ["a�b�c"]
          |           ^^^^^"#]],
    );
    check(
        "[permissions]\nallow = [\"read(x)\",\t\"bäsh(x)\"]\n",
        expect![[r#"
        error: `bäsh` is not a mode; write `read`, `write`, `exec`, `connect`, `call` or `opaque`
         --> policy.toml:2:22
          |
        2 | allow = ["read(x)",    "bäsh(x)"]
          |                         ^^^^"#]],
    );
}

#[test]
fn a_long_line_is_not_shown() {
    let text = format!("[permissions]\nallow = [\"{}\", \"x(y)\"]\n", "a".repeat(2_000));
    check(
        &text,
        expect![[r#"
        error: `x` is not a mode; write `read`, `write`, `exec`, `connect`, `call` or `opaque`
        --> policy.toml:2:2015"#]],
    );
}

#[test]
fn a_program_that_knows_no_patterns_says_so() {
    let text = "[permissions]\nallow = [\"exec(ls)\"]\n";
    let language = haft_tools_core::RuleLanguage::new();
    let error = PolicyFile::parse(text, "policy.toml", &language).unwrap_err();
    expect![[r#"
        error: this program knows no patterns of `exec`; leave the rule out, or use a program with the tools it is for
         --> policy.toml:2:16
          |
        2 | allow = ["exec(ls)"]
          |                ^^"#]].assert_eq(&error.to_string());
}
