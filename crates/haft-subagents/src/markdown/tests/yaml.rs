//! What is odd in YAML, and what is none.

use super::{check, check_text};
use expect_test::expect;

#[test]
fn what_yaml_wants_in_quotes_is_read_as_it_is_meant() {
    check(
        "tools: @builtin, !bash # not the shell",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: @builtin, !bash
        a.md:4: `tools` is read as if it were in quotes; put it into quotes (Quoted)"#]],
    );
    check(
        "tools: !bash",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: !bash
        a.md:4: `tools` is read as if it were in quotes; put it into quotes (Quoted)"#]],
    );
    check(
        "tools: *",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: *
        a.md:4: `tools` is read as if it were in quotes; put it into quotes (Quoted)"#]],
    );
    check(
        "tools:\n  - @github/create_*\n  - read_*\ndisallowedTools: *",
        expect![[r#"
        reader: Finds things.
        You look.
        tools: @github/create_*, read_*, !*
        a.md:5: `tools` is read as if it were in quotes; put it into quotes (Quoted)
        a.md:7: `disallowedTools` is read as if it were in quotes; put it into quotes (Quoted)"#]],
    );
    check_text(
        "---\nname: reader\ndescription: Use it so. Examples: <example>user: \"it's here\"\\nassistant: x</example>\ntools: Read\n---\nYou look.",
        expect![[r#"
            reader: Use it so. Examples: <example>user: "it's here"\nassistant: x</example>
            You look.
            tools: read_file
            a.md:3: `description` is read as if it were in quotes; put it into quotes (Quoted)
            a.md:4: `Read` in `tools` is `read_file` here (Mapped)"#]],
    );
}

#[test]
fn what_is_no_yaml_is_refused_where_it_stands() {
    check(
        "tools: [read_file",
        expect![
            "a.md:5: the front matter cannot be read: did not find expected ',' or ']', while parsing a flow sequence; put texts with special characters into quotes"
        ],
    );
    check(
        "tools: *_file",
        expect![
            "a.md:4: the front matter cannot be read: unknown anchor; put texts with special characters into quotes"
        ],
    );
    check(
        "model: !x y",
        expect![
            "a.md:4: the front matter cannot be read: model: `!x` is a tag, and none is read; put texts with special characters into quotes"
        ],
    );
    check(
        "model: a: b",
        expect![
            "a.md:4: the front matter cannot be read: mapping values are not allowed in this context; put texts with special characters into quotes"
        ],
    );
    check(
        "name: other",
        expect![
            "a.md:2: the front matter cannot be read: the key `name` stands twice; put texts with special characters into quotes"
        ],
    );
    check(
        "limits: { turns: 1, turns: 900 }",
        expect![
            "a.md:4: the front matter cannot be read: limits: the key `turns` stands twice; put texts with special characters into quotes"
        ],
    );
    check(
        "7: x",
        expect![
            "a.md:2: the front matter cannot be read: the key `7` is not text; put texts with special characters into quotes"
        ],
    );
    check(
        "[a, b]: x",
        expect![[
            r#"a.md:2: the front matter cannot be read: the key `["a","b"]` is not text; put texts with special characters into quotes"#
        ]],
    );
    check(
        "model: a\n...\nmodel: b",
        expect![
            "a.md:2: the front matter cannot be read: deserializing from YAML containing more than one document is not supported; put texts with special characters into quotes"
        ],
    );
}

#[test]
fn hostile_yaml_is_refused_in_little_time() {
    let bomb = (1..30).fold("a0: &a0 [x, x]\n".to_owned(), |bomb, n| {
        format!("{bomb}a{n}: &a{n} [*a{}, *a{}]\n", n - 1, n - 1)
    });
    check(
        &bomb,
        expect![
            "a.md:4: the front matter cannot be read: a10[0][0][1][1][1][0][0][0][1][1][0]: it holds more than is read; put texts with special characters into quotes"
        ],
    );
    check(
        "output: &a { properties: { b: *a } }",
        expect![
            "a.md:4: the front matter cannot be read: output.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties.b.properties: it is nested too deeply; put texts with special characters into quotes"
        ],
    );
    check(
        &format!("output: {}", "[".repeat(30_000)),
        expect![
            "a.md:2: the front matter cannot be read: it has more than 200 brackets open at once; write less deep an `output`"
        ],
    );
    check(
        &format!("output: {}1{}", "[".repeat(150), "]".repeat(150)),
        expect![
            "a.md:4: the front matter cannot be read: output[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: it is nested too deeply; put texts with special characters into quotes"
        ],
    );
    check(
        &format!("output: [{}]", "1,".repeat(30_000)),
        expect![
            "a.md:4: the front matter cannot be read: output[4995]: it holds more than is read; put texts with special characters into quotes"
        ],
    );
    check(
        &format!("{}: x", "k".repeat(5_000)),
        expect![
            "a.md:4: the front matter cannot be read: could not find expected ':', while scanning a simple key; put texts with special characters into quotes"
        ],
    );
    check(
        &format!("output: {}", "x".repeat(66_000)),
        expect![
            "a.md:2: the front matter cannot be read: it has more than 65536 bytes; what the agent is told stands below the second line `---`"
        ],
    );
    let large = format!("---\nname: a\ndescription: b\n---\n{}", "x".repeat(300_000));
    check_text(&large, expect!["`a.md` has more than 262144 bytes; shorten what the agent is told"]);
}
