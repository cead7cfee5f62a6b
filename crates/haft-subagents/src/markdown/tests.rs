#![expect(clippy::needless_pass_by_value, reason = "a snapshot is written where it is used")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod directories;
mod foreign_tools;
mod page;
mod properties;
mod yaml;

use super::AgentFile;
use expect_test::{Expect, expect};
use std::fmt::Write as _;

/// Reads front matter with a body below it, and shows the agent and the notes, or the error.
fn check(front: &str, expect: Expect) {
    check_text(&format!("---\nname: reader\ndescription: Finds things.\n{front}\n---\nYou look.\n"), expect);
}

fn check_text(text: &str, expect: Expect) {
    expect.assert_eq(&outline(text));
}

fn outline(text: &str) -> String {
    let file = match AgentFile::parse(text, "a.md") {
        Ok(file) => file,
        Err(error) => return error.to_string(),
    };
    let spec = &file.spec;
    let mut said =
        format!("{}: {}\n{}\ntools: {}", spec.name, spec.description, spec.instructions, spec.tools);
    let mut say = |what: &str, value: Option<String>| {
        if let Some(value) = value {
            write!(said, "\n{what}: {value}").unwrap();
        }
    };
    say("model", spec.model.as_deref().map(str::to_owned));
    say("mode", spec.mode.map(|mode| mode.to_string()));
    let budget = serde_json::to_string(&spec.budget).unwrap();
    say("budget", Some(budget).filter(|budget| budget != "{}"));
    say("context", Some(format!("{:?}", spec.context)).filter(|context| context != "Fresh"));
    say("output", spec.output.as_ref().map(|schema| schema.as_value().to_string()));
    say("isolation", Some(format!("{:?}", spec.isolation)).filter(|place| place != "Shared"));
    for note in &file.notes {
        write!(said, "\n{note} ({:?})", note.kind).unwrap();
    }
    said
}

#[test]
fn a_file_of_the_known_format_is_read() {
    check_text(
        "---\nname: code-reviewer\ndescription: Reviews code.\ntools: Read, Grep, Glob, Bash\nmodel: inherit\ncolor: blue\n---\n\nYou review.\n\nBe kind.\n",
        expect![[r#"
            code-reviewer: Reviews code.
            You review.

            Be kind.
            tools: read_file, grep, glob, bash
            a.md:4: `Read` in `tools` is `read_file` here (Mapped)
            a.md:4: `Grep` in `tools` is `grep` here (Mapped)
            a.md:4: `Glob` in `tools` is `glob` here (Mapped)
            a.md:4: `Bash` in `tools` is `bash` here (Mapped)
            a.md:6: `color` means nothing here: it is for people (Ignored)"#]],
    );
    check(
        "tools:\n  - Read\n  - mcp__github__get_issue\ndisallowedTools: Write, Edit\nmodel: sonnet\npermissionMode: acceptEdits\nmaxTurns: 12\nskills: [a]\nmemory: project\nisolation: worktree",
        expect![[r#"
            reader: Finds things.
            You look.
            tools: read_file, @github/get_issue, !write_file, !apply_patch, !copy, !move, !delete, !make_directory, !edit_file
            model: sonnet
            mode: accept_edits
            budget: {"turns":12}
            isolation: Worktree
            a.md:4: `Read` in `tools` is `read_file` here (Mapped)
            a.md:4: `mcp__github__get_issue` in `tools` is `@github/get_issue` here (Mapped)
            a.md:7: `!Write` in `disallowedTools` is `!write_file`, `!apply_patch`, `!copy`, `!move`, `!delete` and `!make_directory` here (Mapped)
            a.md:7: `!Edit` in `disallowedTools` is `!edit_file` and `!apply_patch` here (Mapped)
            a.md:9: `acceptEdits` is the mode `accept_edits` here (Mapped)
            a.md:11: `skills` means nothing here: write what it is to know below the front matter (Ignored)
            a.md:12: `memory` means nothing here: an agent keeps nothing from one run to the next (Ignored)"#]],
    );
}

#[test]
fn a_file_with_every_key_of_haft_is_read() {
    check(
        "tools: \"read_*, @builtin, !bash\"\nmodel: small\nmode: plan\nlimits:\n  turns: 20\n  calls: 50\n  tokens: 200000\n  time: 10m\n  cost: 0.5\ncontext: last 5\noutput:\n  properties:\n    files: { type: array, items: { type: string } }\n  required: [files]\nisolation: copy",
        expect![[r#"
            reader: Finds things.
            You look.
            tools: read_*, @builtin, !bash
            model: small
            mode: plan
            budget: {"turns":20,"calls":50,"tokens":200000,"wall_ms":600000,"cost_nanos":500000000}
            context: Last(5)
            output: {"properties":{"files":{"items":{"type":"string"},"type":"array"}},"required":["files"],"type":"object"}
            isolation: Copy"#]],
    );
    check(
        "context: all\nlimits: { time: 500ms }\nisolation: shared\nmode: deny_unknown",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: *
        mode: deny_unknown
        budget: {"wall_ms":500}
        context: All"#]],
    );
}

#[test]
fn what_is_no_front_matter_is_refused() {
    for text in ["", "You look.", "\n---\nname: a\n---\nx", "----\nname: a\n---\n", " ---\nname: a\n---\n"] {
        check_text(
            text,
            expect![
                "`a.md` has no front matter; begin it with a line `---`, then `name: …` and `description: …`, then a line `---`"
            ],
        );
    }
    for text in ["---", "---\n", "---\nname: a\ndescription: b\n", "---\nname: a\n ---\nx"] {
        check_text(
            text,
            expect!["the front matter of `a.md` does not end; put a line `---` below its last key"],
        );
    }
    check_text(
        "---\n---\nx",
        expect![
            "a.md:2: the front matter cannot be read: it is empty; write at least `name: …` and `description: …`"
        ],
    );
    check_text(
        "---\n# only this\n---\nx",
        expect![
            "a.md:2: the front matter cannot be read: it is empty; write at least `name: …` and `description: …`"
        ],
    );
    check_text(
        "---\n- a\n---\nx",
        expect![
            "a.md:2: the front matter cannot be read: it is not a list of keys; write lines such as `name: …` and `description: …`"
        ],
    );
    check_text(
        "---\nname: reader\ndescription: Finds.\n---\n \n",
        expect![
            "a.md:3: `description` is all there is; write what the agent is told below the second line `---`"
        ],
    );
}

#[test]
fn marks_and_line_ends_of_other_systems_are_read() {
    check_text(
        "\u{feff}---\r\nname: reader\r\ndescription: |\r\n  Finds\r\n  things.\r\n---\r\nYou look.\r\nWell.\r\n",
        expect![[r#"
            reader: Finds
            things.
            You look.
            Well.
            tools: *"#]],
    );
    check_text(
        "---  \nname: reader\ndescription: Finds.\n---\t\n--- \nYou look.",
        expect![[r#"
        reader: Finds.
        --- 
        You look.
        tools: *"#]],
    );
}

#[test]
fn what_people_cannot_see_is_no_part_of_front_matter() {
    for hidden in ["\r", "\u{85}", "\u{2028}", "\u{0}", "\u{b}"] {
        let text = format!("---\nname: reader\ndescription: Finds.{hidden}tools: '*'\n---\nx");
        let error = outline(&text);
        assert!(
            error.starts_with("a.md:3: the front matter cannot be read: it has the invisible"),
            "{error}"
        );
    }
    check_text(
        "---\nname: reader\ndescription: Fi\u{202e}nds.\n---\nYou\u{200b} look.\u{7}",
        expect![[r#"
            reader: Fi\u{202e}nds.
            You\u{200b} look.\u{7}
            tools: *"#]],
    );
}

#[test]
fn a_key_that_is_not_known_is_refused_since_it_could_restrict_something() {
    check(
        "allowed-tools: Read",
        expect![
            "a.md:4: `allowed-tools` is not a key of an agent; write `disallowedTools` or `tools` instead, or remove it"
        ],
    );
    check(
        "disallowed_tools: Bash",
        expect![
            "a.md:4: `disallowed_tools` is not a key of an agent; write `disallowedTools` or `tools` instead, or remove it"
        ],
    );
    check(
        "sandbox: strict",
        expect![
            "a.md:4: `sandbox` is not a key of an agent; write `context`, `description`, `disallowedTools`, `isolation`, `limits`, `maxTurns`, `mode`, `model`, `name`, `output`, `permissionMode` or `tools` instead, or remove it"
        ],
    );
    check(
        "hooks:\n  PreToolUse:\n    - matcher: Bash",
        expect![
            "a.md:4: `hooks` may hold back calls, and are not read here; remove them from the file, and configure them as hooks of the host or as rules of the policy"
        ],
    );
    check(
        "hooks:\n  SomethingNew: []",
        expect![
            "a.md:4: `hooks` may hold back calls, and are not read here; remove them from the file, and configure them as hooks of the host or as rules of the policy"
        ],
    );
    check(
        "hooks: 7",
        expect![
            "a.md:4: `hooks` may hold back calls, and are not read here; remove them from the file, and configure them as hooks of the host or as rules of the policy"
        ],
    );
}

#[test]
fn keys_that_mean_nothing_here_are_noted() {
    check(
        "color: red\nskills: [a, b]\nmcpServers: [github]\nmemory: user\nbackground: true\neffort: high\ninitialPrompt: go\nversion: 1.0.0\nhooks:\n  Stop: []",
        expect![[r#"
            reader: Finds things.
            You look.
            tools: *
            a.md:4: `color` means nothing here: it is for people (Ignored)
            a.md:5: `skills` means nothing here: write what it is to know below the front matter (Ignored)
            a.md:6: `mcpServers` means nothing here: the servers are those of the host (Ignored)
            a.md:7: `memory` means nothing here: an agent keeps nothing from one run to the next (Ignored)
            a.md:8: `background` means nothing here: whoever delegates says whether to wait (Ignored)
            a.md:9: `effort` means nothing here: the host says how hard a model thinks (Ignored)
            a.md:10: `initialPrompt` means nothing here: an agent is told its task (Ignored)
            a.md:11: `version` means nothing here: it is for people (Ignored)
            a.md:12: `hooks` means nothing here: hooks are configured by the host (Ignored)"#]],
    );
}

#[test]
fn values_of_another_type_are_refused_with_what_to_write() {
    check(
        "tools: 7",
        expect![
            "a.md:4: `tools` names no tool; write names such as `read_file, grep`, `[]` for none, or leave it out for all; put it into quotes if it is meant as a text"
        ],
    );
    check(
        "tools:",
        expect![
            "a.md:4: `tools` names no tool; write names such as `read_file, grep`, `[]` for none, or leave it out for all; put it into quotes if it is meant as a text"
        ],
    );
    check(
        "tools: ' , '",
        expect![
            "a.md:4: `tools` names no tool; write names such as `read_file, grep`, `[]` for none, or leave it out for all; put it into quotes if it is meant as a text"
        ],
    );
    check(
        "tools: [read_file, 7]",
        expect![
            "a.md:4: `tools` names no tool; write names such as `read_file, grep`, `[]` for none, or leave it out for all; put it into quotes if it is meant as a text"
        ],
    );
    check(
        "tools: { read: true }",
        expect![
            "a.md:4: `tools` names no tool; write names such as `read_file, grep`, `[]` for none, or leave it out for all; put it into quotes if it is meant as a text"
        ],
    );
    check(
        "disallowedTools:",
        expect![
            "a.md:4: `disallowedTools` names no tool; write names such as `read_file, grep`; put it into quotes if it is meant as a text"
        ],
    );
    check(
        "model: [a]",
        expect![
            "a.md:4: `model` is a text, and a list stands there; put it into quotes if it is meant as a text"
        ],
    );
    check(
        "model: \"a\\nb\"",
        expect![[r#"a.md:4: `model` is `a\nb`; write the name of a model on one line, or `inherit`"#]],
    );
    check("maxTurns: 0", expect!["a.md:4: `maxTurns` is a whole number from 1 on; write one such as `20`"]);
    check(
        "maxTurns: '12'",
        expect!["a.md:4: `maxTurns` is a whole number from 1 on; write one such as `20`"],
    );
    check(
        "limits: 5",
        expect!["a.md:4: `limits` has keys such as `turns: 20` below it, and a number stands there"],
    );
    check(
        "limits: { turns: -1 }",
        expect![
            "a.md:4: `limits` has `limits.turns`, which is a whole number from 1 on; write one such as `20`"
        ],
    );
    check(
        "limits: { turn: 1 }",
        expect![
            "a.md:4: `limits` has the key `turn`, which is not a limit; write `turns`, `calls`, `tokens`, `time` or `cost`"
        ],
    );
    check(
        "limits: { time: 10 }",
        expect![
            "a.md:4: `limits` has a `time` that is not one; write it with its unit, such as `90s`, `10m` or `2h`"
        ],
    );
    check(
        "limits: { time: 99999999999999999999h }",
        expect![
            "a.md:4: `limits` has a `time` that is not one; write it with its unit, such as `90s`, `10m` or `2h`"
        ],
    );
    check(
        "limits: { cost: 0 }",
        expect![
            "a.md:4: `limits` has a `cost` that is not a number above 0; write one in what the host's prices are in"
        ],
    );
    check(
        "limits: { cost: .inf }",
        expect![
            "a.md:4: the front matter cannot be read: limits.cost: a number that is infinite or not a number is not read; put texts with special characters into quotes"
        ],
    );
    check(
        "limits: { turns: 3 }\nmaxTurns: 4",
        expect!["a.md:4: `limits` and `maxTurns` both limit the turns; remove one of them"],
    );
}

#[test]
fn words_that_are_not_known_are_refused_with_those_that_are() {
    check("context: last 0", expect!["a.md:4: `context` is not known; write `fresh`, `last 5` or `all`"]);
    check("context: some", expect!["a.md:4: `context` is not known; write `fresh`, `last 5` or `all`"]);
    check("isolation: vm", expect!["a.md:4: `isolation` is `vm`; write `shared`, `worktree` or `copy`"]);
    check(
        "mode: bypassPermissions",
        expect![
            "a.md:4: `mode` is `bypassPermissions`; write `plan`, `deny_unknown`, `default`, `accept_edits` or `auto`"
        ],
    );
    check(
        "permissionMode: yolo",
        expect![
            "a.md:4: `permissionMode` is `yolo`; write `default`, `acceptEdits`, `auto`, `dontAsk` or `plan`, or a `mode` of haft"
        ],
    );
    check(
        "permissionMode: plan\nmode: auto",
        expect!["a.md:4: `permissionMode` and `mode` say the same; remove one of them"],
    );
    check(
        "output: text",
        expect![
            "a.md:4: `output` is not a JSON Schema of an object: a schema must be a JSON object, not a string; correct it, or leave it out for text"
        ],
    );
    check(
        "output: { type: array }",
        expect![[
            r#"a.md:4: `output` is not a JSON Schema of an object: the top level of a schema must have the type `object`, not "array"; correct it, or leave it out for text"#
        ]],
    );
    check(
        "output: { properties: { a: { type: strange } } }",
        expect![[
            r#"a.md:4: `output` is not a JSON Schema of an object: at `/properties/a/type`: "strange" is not valid under any of the schemas listed in the 'anyOf' keyword; correct it, or leave it out for text"#
        ]],
    );
    check(
        "output: { $ref: 'http://127.0.0.1:1/x' }",
        expect![
            "a.md:4: `output` is not a JSON Schema of an object: Resource 'http://127.0.0.1:1/x' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch http://127.0.0.1:1/x; correct it, or leave it out for text"
        ],
    );
}

#[test]
fn names_and_descriptions_are_needed() {
    check_text(
        "---\ndescription: b\n---\nx",
        expect!["a.md:2: `name` is missing; write one such as `name: code-reviewer`"],
    );
    check_text(
        "---\nname: a\n---\nx",
        expect!["a.md:2: `description` is missing; write when this agent is to be asked"],
    );
    check_text(
        "---\nname: a\ndescription: ''\n---\nx",
        expect!["a.md:3: `description` is missing; write when this agent is to be asked"],
    );
    check_text(
        "---\nname: my agent\ndescription: b\n---\nx",
        expect![
            "a.md:2: `name` is `my agent`; a name has 1 to 64 letters without accents, digits, `-` and `_`"
        ],
    );
    check_text(
        "---\nname: ../../etc\ndescription: b\n---\nx",
        expect![
            "a.md:2: `name` is `../../etc`; a name has 1 to 64 letters without accents, digits, `-` and `_`"
        ],
    );
    check_text(
        &format!("---\nname: {}\ndescription: b\n---\nx", "a".repeat(65)),
        expect![
            "a.md:2: `name` is `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa`; a name has 1 to 64 letters without accents, digits, `-` and `_`"
        ],
    );
    check_text(
        "---\nname: 7\ndescription: b\n---\nx",
        expect![
            "a.md:2: `name` is a text, and a number stands there; put it into quotes if it is meant as a text"
        ],
    );
    check_text(
        &format!("---\nname: a\ndescription: {}\n---\nx", "b".repeat(9_000)),
        expect![
            "a.md:3: `description` has more than 8192 bytes; write it shorter, and the rest to the agent itself"
        ],
    );
}

#[test]
fn modes_of_the_known_format_are_those_of_haft_and_none_opens_anything() {
    for (mode, expect) in [
        ("default", "mode: default"),
        ("acceptEdits", "mode: accept_edits"),
        ("auto", "mode: auto"),
        ("dontAsk", "mode: deny_unknown"),
        ("plan", "mode: plan"),
    ] {
        let said = outline(&format!("---\nname: a\ndescription: b\npermissionMode: {mode}\n---\nx"));
        assert!(said.contains(expect), "{said}");
    }
    check(
        "permissionMode: bypassPermissions",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: *
        a.md:4: `bypassPermissions` means nothing here: no file opens what the policy does not (Ignored)"#]],
    );
}
