use std::time::Duration;

use expect_test::{Expect, expect};
use haft_hooks::{CommandHook, CommandHooks, HookError, Obligation};
use haft_tools_core::Selector;
use serde_json::{Value, json};

use crate::harness::{VARIABLES, before};

/// Reads a hook, and compares how it is written again or why it cannot be read.
fn check(config: &Value, expected: &Expect) {
    let read = serde_json::from_value::<CommandHook>(config.clone());
    let shown = match read {
        Ok(hook) => {
            let written = serde_json::to_value(&hook).expect("it can be written");
            assert_eq!(serde_json::from_value::<CommandHook>(written.clone()).ok(), Some(hook));
            written.to_string()
        }
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn reads_what_is_said_and_fills_in_the_rest() {
    check(
        &json!({ "when": "before", "command": ["check"] }),
        &expect![[
            r#"{"command":["check"],"obligation":"required","timeout":60,"tools":"*","when":"before"}"#
        ]],
    );
    check(
        &json!({
            "when": "after", "tools": "!bash", "command": ["a", "b c"], "obligation": "advisory", "timeout": 0.25,
            "env": ["TOKEN"]
        }),
        &expect![[
            r#"{"command":["a","b c"],"env":["TOKEN"],"obligation":"advisory","timeout":0.25,"tools":"!bash","when":"after"}"#
        ]],
    );
}

#[test]
fn refuses_what_it_does_not_know() {
    let with = |name: &str, value: Value| {
        let mut config = json!({ "when": "before", "command": ["check"] });
        config[name] = value;
        config
    };
    check(
        &with("comand", json!(["x"])),
        &expect![
            "unknown field `comand`, expected one of `when`, `tools`, `command`, `obligation`, `timeout`, `env`"
        ],
    );
    check(
        &with("command", json!("check --all")),
        &expect![[r#"invalid type: string "check --all", expected a sequence"#]],
    );
    check(&with("when", json!("during")), &expect!["unknown variant `during`, expected `before` or `after`"]);
    check(
        &with("obligation", json!("optional")),
        &expect!["unknown variant `optional`, expected `required` or `advisory`"],
    );
    check(
        &with("tools", json!("@git*")),
        &expect![
            "`@git*` is not a selector term; write a tool name, `read_*`, `@origin` or `@origin/name`, with `!` for not"
        ],
    );
    check(&with("tools", json!("")), &expect!["a selector cannot be empty; write `*` for every tool"]);
    check(&with("timeout", json!(-1)), &expect!["`timeout` is -1.0; give a number of seconds"]);
    check(&with("timeout", json!(1e300)), &expect!["`timeout` is 1e300; give a number of seconds"]);
    check(&with("timeout", json!("60s")), &expect![[r#"invalid type: string "60s", expected f64"#]]);
    check(&json!({ "when": "before" }), &expect!["missing field `command`"]);
    check(&json!({ "command": ["check"] }), &expect!["missing field `when`"]);
}

#[test]
fn refuses_hooks_that_could_never_run() {
    let refused = |hook: CommandHook, directory: &str| {
        let error: HookError = CommandHooks::new([before("exit 0"), hook], directory, VARIABLES).unwrap_err();
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        format!("{error}{}", cause.unwrap_or_default())
    };
    let none: [&str; 0] = [];
    let refusals = [
        refused(CommandHook::before(Selector::all(), none), "/"),
        refused(CommandHook::before(Selector::all(), ["", "x"]), "/"),
        refused(CommandHook::before(Selector::all(), ["check", "a\0b"]), "/"),
        refused(before("").timeout(Duration::ZERO), "/"),
        refused(before("").timeout(Duration::from_secs(601)), "/"),
        refused(before("").env(["A=B"]), "/"),
        refused(before("").obligation(Obligation::Advisory), "project"),
    ];
    expect![[r#"
        cannot use hook 2: its command names no program
        cannot use hook 2: its command names no program
        cannot use hook 2: its command has a NUL byte
        cannot use hook 2: its timeout is 0 s, and has to be more than 0 and at most 600 s
        cannot use hook 2: its timeout is 601 s, and has to be more than 0 and at most 600 s
        cannot use hook 2: cannot set the environment variable "A=B": a name is not empty and has no `=` and no NUL byte
        cannot run hooks in `project`; give an absolute path"#]].assert_eq(&refusals.join("\n"));
}

#[test]
fn shows_no_value_of_a_variable() {
    let hooks = CommandHooks::new([before("exit 0").env(["GITHUB_TOKEN"])], "/", VARIABLES).unwrap();
    let shown = format!("{hooks:?}");
    assert!(shown.contains("GITHUB_TOKEN") && !shown.contains("hunter"), "{shown}");
}
