//! The tool by which a model reads what was cut.

use crate::fixture::{Probe, outline, registry, scope};
use crate::fixture::{anything, reply};
use expect_test::{Expect, expect};
use haft_core::{OutputId, ToolOutput};
use haft_tools_core::{
    CallScope, CollisionPolicy, LocalExecutor, LocalOutputs, OutputStore, ReadOutput, Retention, Tool as _,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

async fn stored(text: &str) -> (Arc<dyn OutputStore>, OutputId) {
    let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
    let output = outputs.store(&scope(), &"c1".parse().unwrap(), text.to_owned()).await.unwrap();
    (outputs, output)
}

fn executor(outputs: Arc<dyn OutputStore>) -> LocalExecutor {
    let registry = registry([]).with(ReadOutput::new(outputs)).unwrap();
    LocalExecutor::builder(registry).policy(anything()).build()
}

async fn read(text: &str, mut input: Value) -> String {
    let (outputs, output) = stored(text).await;
    input["output"] = json!(output.as_str());
    outline(&reply(&executor(outputs), "read_output", input).await)
}

async fn check(text: &str, input: Value, expect: Expect) {
    expect.assert_eq(&read(text, input).await);
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat()
}

#[test]
fn the_model_is_told_how_to_use_it() {
    let tool = ReadOutput::new(Arc::new(LocalOutputs::in_memory()));
    expect![[r#"
        {
          "description": "Reads an output of an earlier call that was too long to be given whole: the note on what was cut names it. Each line is given with its number and a tab in front; neither is part of the output. Without `offset`, `limit` and `grep` the first 2,000 lines are given; a long output is given up to about 30 KiB at a time, and the reply says how to go on. Lines over 2,000 bytes are cut and marked; `column` gives the rest of one.",
          "explicit": false,
          "exposure": "direct",
          "hints": {
            "destructive": false,
            "idempotent": true,
            "open_world": false,
            "read_only": true,
            "streaming": false
          },
          "input_schema": {
            "additionalProperties": false,
            "properties": {
              "column": {
                "default": 1,
                "description": "The byte at which to start within the line at `offset`, counted from 1.",
                "format": "uint64",
                "minimum": 1,
                "type": "integer"
              },
              "grep": {
                "description": "Gives only lines in which this regular expression matches.",
                "maxLength": 2000,
                "minLength": 1,
                "type": "string"
              },
              "limit": {
                "default": 2000,
                "description": "The most lines to give, up to 2,000.",
                "format": "uint64",
                "minimum": 1,
                "type": "integer"
              },
              "literal": {
                "default": false,
                "description": "Whether to look for `grep` as it is written, not as a regular expression.",
                "type": "boolean"
              },
              "offset": {
                "default": 1,
                "description": "The line to start at, counted from 1. A negative number counts from the end: -20 starts 20 lines before it.",
                "format": "int64",
                "type": "integer"
              },
              "output": {
                "description": "The output to read, such as `o1`.",
                "type": "string"
              }
            },
            "required": [
              "output"
            ],
            "type": "object"
          },
          "name": "read_output",
          "origin": {
            "kind": "builtin"
          },
          "title": "Read output"
        }
    "#]].assert_eq(&format!("{:#}\n", json!(tool.spec())));
}

#[tokio::test]
async fn gives_numbered_lines_and_says_how_to_go_on() {
    check(
        "one\ntwo\r\nthree",
        json!({}),
        expect![[r#"
        ok
        output `o1`: 3 lines, 14 bytes
        1	one
        2	two
        3	three"#]],
    )
    .await;
    check(
        &numbered(9),
        json!({ "offset": 3, "limit": 2 }),
        expect![[r#"
        ok
        output `o1`: 9 lines, 63 bytes
        3	line 3
        4	line 4
        [lines 3–4 of 9; continue with offset 5]"#]],
    )
    .await;
    check(
        &numbered(9),
        json!({ "offset": -2 }),
        expect![[r#"
        ok
        output `o1`: 9 lines, 63 bytes
        8	line 8
        9	line 9
        [lines 8–9 of 9, the end of the output]"#]],
    )
    .await;
    check(
        &numbered(9),
        json!({ "offset": -20, "limit": 1 }),
        expect![[r#"
        ok
        output `o1`: 9 lines, 63 bytes
        1	line 1
        [line 1 of 9; continue with offset 2]"#]],
    )
    .await;
    check(&numbered(9), json!({ "offset": 10 }), expect![[r#"
        ok
        output `o1`: 9 lines, 63 bytes
        [there is no line 10: the output ends at line 9; use an offset from 1 to 9, or a negative one for its last lines]"#]]).await;
    check(
        "",
        json!({}),
        expect![[r#"
        ok
        output `o1`: 0 lines, 0 bytes"#]],
    )
    .await;
}

#[tokio::test]
async fn a_long_line_is_cut_and_can_be_read_on() {
    let line = format!("{}{}{}", "x".repeat(1_999), "é".repeat(1_000), "end");
    let text = format!("first\n{line}\r\nlast\n");
    let shortened =
        |text: String| text.replace(&"x".repeat(1_999), "(1999 x)").replace(&"é".repeat(999), "(999 é)");
    expect![[r#"
        ok
        output `o1`: 3 lines, 4015 bytes
        1	first
        2	(1999 x)[… 2003 bytes more in this line …]
        3	last
        [lines over 2000 bytes are cut; for the rest of line 2 use offset 2, limit 1 and column 2000]"#]]
    .assert_eq(&shortened(read(&text, json!({})).await));
    expect![[r#"
        ok
        output `o1`: 3 lines, 4015 bytes
        2	[… 1999 bytes before …]éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé[… 67 bytes more in this line …]
        [lines over 2000 bytes are cut; for the rest of line 2 use offset 2, limit 1 and column 3936]
        [line 2 of 3; continue with offset 3]"#]].assert_eq(&shortened(read(&text, json!({ "offset": 2, "limit": 1, "column": 2_000 })).await));
    expect![[r#"
        ok
        output `o1`: 3 lines, 4015 bytes
        2	[… 2001 bytes before …]ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé[… 67 bytes more in this line …]
        [lines over 2000 bytes are cut; for the rest of line 2 use offset 2, limit 1 and column 3936]
        [line 2 of 3; continue with offset 3]"#]].assert_eq(&shortened(read(&text, json!({ "offset": 2, "limit": 1, "column": 2_001 })).await));
    expect![[r#"
        ok
        output `o1`: 3 lines, 4015 bytes
        2	[… 4002 bytes before …]
        [line 2 of 3; continue with offset 3]"#]]
    .assert_eq(&read(&text, json!({ "offset": 2, "limit": 1, "column": 9_999 })).await);
}

#[tokio::test]
async fn grep_gives_the_lines_that_match() {
    check(
        &numbered(30),
        json!({ "grep": "[05]$" }),
        expect![[r#"
        ok
        output `o1`: 30 lines, 231 bytes
        5	line 5
        10	line 10
        15	line 15
        20	line 20
        25	line 25
        30	line 30
        [6 lines match in lines 1–30 of 30]"#]],
    )
    .await;
    check(
        &numbered(30),
        json!({ "grep": "[05]$", "limit": 2, "offset": 7 }),
        expect![[r#"
        ok
        output `o1`: 30 lines, 231 bytes
        10	line 10
        15	line 15
        [2 lines match in lines 7–15 of 30; continue with offset 16]"#]],
    )
    .await;
    check(
        &numbered(30),
        json!({ "grep": "nothing" }),
        expect![[r#"
        ok
        output `o1`: 30 lines, 231 bytes
        [0 lines match in lines 1–30 of 30]"#]],
    )
    .await;
    check(
        "a.b\r\naxb\r\n",
        json!({ "grep": "a.b", "literal": true }),
        expect![[r#"
        ok
        output `o1`: 2 lines, 10 bytes
        1	a.b
        [1 line matches in lines 1–2 of 2]"#]],
    )
    .await;
    check(
        "Ä\nä\n",
        json!({ "grep": "(?i)^ä$" }),
        expect![[r#"
        ok
        output `o1`: 2 lines, 6 bytes
        1	Ä
        2	ä
        [2 lines match in lines 1–2 of 2]"#]],
    )
    .await;
}

#[tokio::test]
async fn grep_finds_what_is_far_within_a_giant_line() {
    let text = format!("{}needle{}\nshort needle\n", "x".repeat(300_000), "y".repeat(100_000));
    let found = read(&text, json!({ "grep": "needle" })).await;
    let shortened = found.replace(&"x".repeat(200), "(200 x)").replace(&"y".repeat(1_730), "(1730 y)");
    expect![[r#"
        ok
        output `o1`: 2 lines, 400020 bytes
        1	[… 299800 bytes before …](200 x)needle(1730 y)[… 98270 bytes more in this line …]
        2	short needle
        [lines over 2000 bytes are cut; for the rest of line 1 use offset 1, limit 1 and column 301737]
        [2 lines match in lines 1–2 of 2]"#]]
    .assert_eq(&shortened);
    for at in (65_536 - 8)..65_536 {
        let text = format!("{}needle{}", "x".repeat(at), "y".repeat(70_000));
        assert!(read(&text, json!({ "grep": "needle" })).await.contains("xneedley"), "{at}");
    }
}

#[tokio::test]
async fn a_reply_stays_below_the_bound_of_the_executor() {
    for (text, input) in [
        (numbered(100_000), json!({ "limit": 100_000 })),
        (numbered(100_000), json!({ "grep": "1", "limit": 100_000 })),
        (format!("{}\n", "é".repeat(5_000)).repeat(50), json!({})),
        (
            format!("{}needle{}\n", "é".repeat(5_000), "é".repeat(5_000)).repeat(50),
            json!({ "grep": "needle" }),
        ),
        ("x".repeat(9_000), json!({ "column": 4_000 })),
        ("\n".repeat(5_000), json!({})),
    ] {
        let (outputs, output) = stored(&text).await;
        let mut input = input;
        input["output"] = json!(output.as_str());
        let reply = reply(&executor(outputs), "read_output", input).await;
        assert_eq!(reply.truncation, None);
        assert!(reply.status.is_ok());
    }
    let end = read(&numbered(100_000), json!({ "limit": 100_000 })).await;
    expect!["[lines 1–2000 of 100000; continue with offset 2001]"].assert_eq(end.lines().last().unwrap());
    let end = read(&numbered(100_000), json!({ "limit": 100_000, "grep": "1" })).await;
    expect!["[2000 lines match in lines 1–4519 of 100000; continue with offset 4520]"]
        .assert_eq(end.lines().last().unwrap());
}

#[tokio::test]
async fn what_cannot_be_read_is_told_with_the_next_step() {
    let (outputs, output) = stored("text").await;
    let executor = executor(Arc::clone(&outputs));
    let ask = async |input: Value| outline(&reply(&executor, "read_output", input).await);
    expect![[r#"
        error: not found
        there is no output `o7`; use the name that the note on what was cut gives"#]]
    .assert_eq(&ask(json!({ "output": "o7" })).await);
    expect![[r#"
        error: invalid input
        this is not the name of an output; use the one that the note on what was cut gives, such as `o1`"#]]
    .assert_eq(&ask(json!({ "output": "" })).await);
    expect![[r#"
        error: not found
        there is no output `\u{202e}1`; use the name that the note on what was cut gives"#]]
    .assert_eq(&ask(json!({ "output": "\u{202e}1" })).await);
    expect![[r#"
        error: invalid input
        the regular expression in `grep` cannot be read: unclosed group; correct it, or set `literal` to look for it as it is written"#]].assert_eq(&ask(json!({ "output": "o1", "grep": "(" })).await);
    expect![[r#"
        error: invalid input
        the regular expression in `grep` is too large; use a simpler one"#]]
    .assert_eq(&ask(json!({ "output": "o1", "grep": "((((\\w{100}){100}){100}){100}){100}" })).await);
    expect![[r#"
        error: invalid input
        the regular expression in `grep` cannot be read: backreferences are not supported; correct it, or set `literal` to look for it as it is written"#]].assert_eq(&ask(json!({ "output": "o1", "grep": "(a)\\1" })).await);
    let nested = "(".repeat(900) + &")".repeat(900);
    expect![[r#"
        error: invalid input
        the regular expression in `grep` cannot be read: exceed the maximum number of nested parentheses/brackets (50); correct it, or set `literal` to look for it as it is written"#]].assert_eq(&ask(json!({ "output": "o1", "grep": nested })).await);
    // Backtracking engines take time that is exponential in the length of such a text.
    let (outputs, output_of_a) = stored(&"a".repeat(100_000)).await;
    let executor = self::executor(outputs);
    let input = json!({ "output": output_of_a.as_str(), "grep": "(a+)+(a+)+(a+)+b" });
    expect![[r#"
        ok
        output `o1`: 1 line, 100000 bytes
        [0 lines match in line 1 of 1]"#]]
    .assert_eq(&outline(&reply(&executor, "read_output", input).await));
    assert_eq!(output.as_str(), "o1");
}

#[tokio::test]
async fn an_output_that_is_gone_or_of_another_run_is_told_apart_only_by_its_own_run() {
    let outputs: Arc<dyn OutputStore> =
        Arc::new(LocalOutputs::in_memory().retention(Retention { outputs: 1, ..Retention::default() }));
    let other = CallScope::new("run-9".parse().unwrap());
    for scope in [scope(), other] {
        outputs.store(&scope, &"c1".parse().unwrap(), "text".to_owned()).await.unwrap();
    }
    let executor = executor(outputs);
    expect![[r#"
        error: not found
        the output `o1` is no longer kept, to make room for newer ones; repeat the call that gave it, and ask for less at once"#]].assert_eq(&outline(&reply(&executor, "read_output", json!({ "output": "o1" })).await));
    expect![[r#"
        error: not found
        there is no output `o2`; use the name that the note on what was cut gives"#]]
    .assert_eq(&outline(&reply(&executor, "read_output", json!({ "output": "o2" })).await));
}

#[tokio::test]
async fn what_the_executor_cuts_can_be_read_whole() {
    let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
    let text = numbered(10_000);
    let long = text.clone();
    let probe = Probe::new("t").run(move |_, _| std::future::ready(Ok(ToolOutput::text(long.clone()))));
    let registry = registry([probe]).with(ReadOutput::new(Arc::clone(&outputs))).unwrap();
    let executor = LocalExecutor::builder(registry).policy(anything()).outputs(outputs).build();
    let cut = reply(&executor, "t", json!({})).await;
    let shown = cut.output.to_text();
    let note = shown.lines().find(|line| line.starts_with('[')).unwrap();
    expect![[
        r#"[… 80000 bytes, 8000 lines cut here: `read_output` gives them, with output "o1" and offset 1335 …]"#
    ]]
    .assert_eq(note);
    let truncation = cut.truncation.unwrap();
    assert_eq!(truncation.output.unwrap().as_str(), "o1");
    let (mut whole, mut offset) = (String::new(), 1);
    while offset <= 10_000 {
        let read = reply(&executor, "read_output", json!({ "output": "o1", "offset": offset })).await;
        for line in read.output.to_text().lines().filter_map(|line| line.split_once('\t')) {
            whole.push_str(line.1);
            whole.push('\n');
        }
        offset = read.output.details["last_line"].as_u64().unwrap() + 1;
    }
    assert!(whole == text, "all lines come back");
}

#[tokio::test]
async fn the_tool_is_known_under_any_name_and_another_of_its_name_is_not_it() {
    let long = |name: &str| Probe::new(name).says(&numbered(10_000));
    let outputs: Arc<dyn OutputStore> = Arc::new(LocalOutputs::in_memory());
    let real = registry([long("t")]).with(ReadOutput::new(Arc::clone(&outputs))).unwrap();
    let real = real.prefixed("own").unwrap();
    let tools = real.merge(&registry([long("read_output")]), CollisionPolicy::Refuse).unwrap();
    let executor = LocalExecutor::builder(tools).policy(anything()).outputs(outputs).build();
    let reader =
        executor.registry().names().find(|name| name.starts_with("own") && name.ends_with("read_output"));
    let reader = reader.unwrap().to_owned();
    let cut = reply(&executor, "read_output", json!({})).await;
    assert_eq!(cut.truncation.unwrap().output.map(|output| output.to_string()), Some("o1".to_owned()));
    let note = cut.output.to_text();
    assert!(note.contains(&format!("cut here: `{reader}` gives them, with output \"o1\"")), "{note}");
    let line = json!({ "output": "o1", "offset": 1335, "limit": 2000 });
    let page = reply(&executor, &reader, line).await;
    assert!(page.truncation.is_none_or(|cut| cut.output.is_none()), "what is stored is not stored again");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pages_put_together_are_the_lines_of_the_output(text in "([a-zé]{0,6}(\\r?\\n)?){0,30}", limit in 1_u64..6) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (outputs, output) = stored(&text).await;
            let executor = executor(outputs);
            let lines: Vec<&str> = text.lines().collect();
            let mut found: Vec<String> = Vec::new();
            while found.len() < lines.len() {
                let input = json!({ "output": output.as_str(), "offset": found.len() + 1, "limit": limit });
                let page = reply(&executor, "read_output", input).await.output.to_text();
                let numbered: Vec<(&str, &str)> = page.lines().filter_map(|line| line.split_once('\t')).collect();
                prop_assert!(!numbered.is_empty(), "{}", page);
                for (number, line) in numbered {
                    found.push(line.to_owned());
                    prop_assert_eq!(number, found.len().to_string());
                }
            }
            prop_assert_eq!(found, lines);
            Ok(())
        })?;
    }
}
