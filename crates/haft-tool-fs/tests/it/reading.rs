use crate::fixture::{registry, run};
use haft_core::{ToolCall, ToolReply};
use haft_testkit::{Tree, call};
use haft_tool_fs::{ReadFile, ReadLimits};
use haft_tools_core::{
    Batch, CallScope, Limits, LocalExecutor, LocalExecutorBuilder, Policy, Rule, Selector, ToolExecutor as _,
    ToolLimits, ToolRegistry,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::ops::Range;

fn read(tree: &Tree, input: Value) -> ToolReply {
    let reply = run(tree, "read_file", input);
    assert!(reply.status.is_ok(), "{}", reply.output.to_text());
    reply
}

/// Takes the numbered lines out of a reply.
fn lines_of(text: &str) -> Vec<(u64, &str)> {
    let numbered = |line| {
        let (number, text): (&str, &str) = str::split_once(line, '\t')?;
        Some((number.parse().ok()?, text))
    };
    // The first line is about the file.
    text.split('\n').skip(1).filter_map(numbered).collect()
}

fn numbered(count: usize, line: &str) -> String {
    (1..=count).fold(String::new(), |mut text, number| {
        writeln!(text, "{line} {number}").unwrap();
        text
    })
}

#[test]
fn gives_two_thousand_lines_and_says_how_to_go_on() {
    let tree = Tree::new().file("a.txt", &numbered(2310, "line"));
    let reply = read(&tree, json!({ "path": "a.txt" }));
    let text = reply.output.to_text();
    let lines = lines_of(&text);
    assert_eq!((lines.len(), lines[0], lines[1999]), (2000, (1, "line 1"), (2000, "line 2000")));
    assert!(text.ends_with("\n[lines 1–2,000 of 2,310; continue with offset 2001]"), "{text}");
    assert_eq!(
        reply.output.details,
        json!({
            "path": "a.txt",
            "first_line": 1,
            "last_line": 2000,
            "total_lines": 2310,
            "bytes": 21_993,
            "encoding": "UTF-8",
        })
    );
}

#[test]
fn chooses_the_cut_itself_before_the_executor_would() {
    let tree = Tree::new().file("a.txt", &numbered(5000, &"wide ".repeat(20)));
    let reply = read(&tree, json!({ "path": "a.txt", "limit": 5000 }));
    assert_eq!(reply.truncation, None);
    let text = reply.output.to_text();
    let shown = lines_of(&text).len();
    assert!(text.len() > 63 * 1024 && text.len() <= Limits::default().bounded_output_bytes, "{}", text.len());
    assert!(
        text.ends_with(&format!("\n[lines 1–{shown} of 5,000; continue with offset {}]", shown + 1)),
        "{text}"
    );
}

#[test]
fn gives_as_much_as_the_host_says() {
    let tree = Tree::new().file("a.txt", &numbered(5000, &"wide ".repeat(20)));
    let limits = ReadLimits { bytes: 16 * 1024, ..ReadLimits::default() };
    let tools = ToolRegistry::new().with(ReadFile::new(tree.workdir()).limits(limits)).unwrap();
    assert!(tools.get("read_file").unwrap().description().contains("up to about 16 KiB at a time"));
    check_slice(LocalExecutor::builder(tools), 15 * 1024..18 * 1024);
}

#[test]
fn gives_no_more_than_the_executor_lets_pass() {
    let tree = Tree::new().file("a.txt", &numbered(5000, &"wide ".repeat(20)));
    let executor =
        || LocalExecutor::builder(ToolRegistry::new().with(ReadFile::new(tree.workdir())).unwrap());
    let bounded = Limits { bounded_output_bytes: 40 * 1024, ..Limits::default() };
    check_slice(executor().limits(bounded), 37 * 1024..40 * 1024);
    let few = Limits { output_bytes: 8 * 1024, bounded_output_bytes: 0, ..Limits::default() };
    check_slice(executor().limits(few), 5 * 1024..8 * 1024);
    let own = ToolLimits { output_bytes: Some(12 * 1024), ..ToolLimits::default() };
    check_slice(executor().tool_limits("read_file".parse().unwrap(), own), 9 * 1024..12 * 1024);
    let others = ToolLimits { output_lines: Some(1_900), ..ToolLimits::default() };
    check_slice(executor().tool_limits("read_file".parse().unwrap(), others), 63 * 1024..66 * 1024);
}

/// Checks that so many bytes are given of a file, with what to go on with and without a cut in the middle.
fn check_slice(executor: LocalExecutorBuilder, bytes: Range<usize>) {
    let executor = executor.policy(Policy::new().allow(Rule::tools(Selector::all()))).build();
    let call = ToolCall::new("c1".parse().unwrap(), "read_file", json!({ "path": "a.txt" }));
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let reply = runtime.block_on(executor.execute_batch(batch)).into_replies().unwrap().remove(0);
    let text = reply.output.to_text();
    assert_eq!(reply.truncation, None);
    assert!(bytes.contains(&text.len()), "{}", text.len());
    let shown = lines_of(&text).len();
    assert!(text.ends_with(&format!("of 5,000; continue with offset {}]", shown + 1)), "{text}");
}

#[test]
fn cuts_a_huge_line_and_marks_it() {
    let huge = "é".repeat(5_000_000);
    let tree = Tree::new().file("a.txt", &format!("short\n{huge}\nlast\n"));
    let text = read(&tree, json!({ "path": "a.txt" })).output.to_text();
    let expected = format!(
        "a.txt: 3 lines, 9.5 MiB\n1\tshort\n2\t{}… [9.5 MiB more in this line]\n3\tlast\n\
         [lines over 2,000 bytes are cut; the rest of one can be read with `byte_range`]",
        "é".repeat(1000)
    );
    assert_eq!(text, expected);
}

#[test]
fn does_not_cut_within_a_character() {
    let tree = Tree::new().file("a.txt", &format!("x{}", "é".repeat(1000)));
    let text = read(&tree, json!({ "path": "a.txt" })).output.to_text();
    assert_eq!(lines_of(&text), [(1, format!("x{}… [2 bytes more in this line]", "é".repeat(999)).as_str())]);
}

#[test]
fn reads_the_end_of_a_long_file() {
    let tree = Tree::new().file("a.txt", &numbered(100_000, "line"));
    let text = read(&tree, json!({ "path": "a.txt", "offset": -2 })).output.to_text();
    assert_eq!(lines_of(&text), [(99_999, "line 99999"), (100_000, "line 100000")]);
}

#[test]
fn reads_on_in_the_encoding_that_a_line_turns_out_to_be_in() {
    let mut bytes = numbered(5000, "line").into_bytes();
    bytes.extend(b"caf\xe9\n");
    let tree = Tree::new().bytes("a.txt", &bytes);
    let text = read(&tree, json!({ "path": "a.txt", "offset": 5000 })).output.to_text();
    assert!(text.starts_with("a.txt: 5,001 lines, 47.7 KiB, windows-1252\n"), "{text}");
    assert_eq!(lines_of(&text), [(5000, "line 5000"), (5001, "café")]);
}

#[test]
fn lists_only_the_first_entries_of_a_large_directory() {
    let tree = (0..500).fold(Tree::new(), |tree, index| tree.file(&format!("many/{index:03}"), ""));
    let text = read(&tree, json!({ "path": "many" })).output.to_text();
    assert!(text.starts_with("`many` is a directory:\nmany/\n  000  0 bytes\n"), "{text}");
    assert!(text.ends_with("\n[200 of 500 entries shown; list a directory by itself to see more]"), "{text}");
}

#[test]
fn several_large_files_share_a_reply() {
    let tree = ["a", "b", "c"]
        .iter()
        .fold(Tree::new(), |tree, name| tree.file(name, &numbered(5000, &"wide ".repeat(20))));
    let reply = read(&tree, json!({ "path": "a", "more": [{ "path": "b" }, { "path": "c" }] }));
    let text = reply.output.to_text();
    assert!(reply.truncation.is_none() && text.len() > 28 * 1024, "{}", text.len());
    assert_eq!(text.matches("continue with offset").count(), 3);
}

#[test]
fn takes_any_offset_and_limit() {
    let tree = Tree::new().file("a.txt", "one\ntwo\n");
    for offset in [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX] {
        for limit in [1, u64::MAX] {
            read(&tree, json!({ "path": "a.txt", "offset": offset, "limit": limit }));
        }
    }
}

fn content() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[a-zé\t ]{0,12}",
        1 => "\\PC{0,5}",
        1 => (1990_usize..2000).prop_map(|length| "x".repeat(length)),
    ];
    (prop::collection::vec((line, any::<bool>()), 0..60), any::<bool>(), any::<bool>()).prop_map(
        |(lines, crlf, final_newline)| {
            let mut text: String = lines
                .iter()
                .flat_map(|(line, returns)| [line.as_str(), if crlf && *returns { "\r\n" } else { "\n" }])
                .collect();
            if !final_newline {
                text.truncate(text.trim_end_matches(['\r', '\n']).len());
            }
            text
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_put_together_are_the_lines_of_the_file(text in content(), limit in 1_u64..30) {
        let expected: Vec<&str> = text.lines().collect();
        let tree = Tree::new().file("a.txt", &text);
        let registry = registry(&tree);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut found = Vec::new();
        loop {
            let input = json!({ "path": "a.txt", "offset": found.len() + 1, "limit": limit });
            let reply = runtime.block_on(call(&registry, "read_file", input));
            prop_assert!(reply.status.is_ok());
            let page = reply.output.to_text();
            let lines = lines_of(&page);
            if lines.is_empty() {
                break;
            }
            for (number, line) in lines {
                prop_assert_eq!(number, found.len() as u64 + 1);
                found.push(line.to_owned());
            }
            prop_assert_eq!(&reply.output.details["total_lines"], expected.len());
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_negative_offset_is_the_same_as_one_from_the_start(text in content(), from_end in 1_i64..70) {
        let total = i64::try_from(text.lines().count()).unwrap();
        prop_assume!(total > 0);
        let tree = Tree::new().file("a.txt", &text);
        let by_end = run(&tree, "read_file", json!({ "path": "a.txt", "offset": -from_end }));
        let by_start = run(&tree, "read_file", json!({ "path": "a.txt", "offset": (total - from_end + 1).max(1) }));
        prop_assert_eq!(by_end.output, by_start.output);
    }

    #[test]
    fn no_bytes_make_it_fail(bytes in prop::collection::vec(any::<u8>(), 0..300), offset in any::<i64>(), range in any::<(u8, u8)>()) {
        let tree = Tree::new().bytes("a", &bytes);
        read(&tree, json!({ "path": "a", "offset": offset }));
        let reply = run(&tree, "read_file", json!({ "path": "a", "byte_range": { "start": range.0, "end": range.1 } }));
        let is_there = range.0 < range.1 && (bytes.is_empty() || usize::from(range.0) < bytes.len());
        prop_assert_eq!(reply.status.is_ok(), is_there, "{}", reply.output.to_text());
    }
}

#[test]
fn gives_no_more_lines_than_the_executor_lets_pass() {
    let tree = Tree::new().file("a.txt", &numbered(1500, "short")).file("b.txt", &numbered(1500, "short"));
    let several = json!({ "path": "a.txt", "more": [{ "path": "b.txt" }] });
    let text = whole(&tree, Limits::default(), several);
    assert_eq!(text.matches("continue with offset").count(), 2, "{text}");
    let lines = Tree::new().file("a.txt", &"ab\n".repeat(30_000));
    let text = whole(
        &lines,
        Limits::default(),
        json!({ "path": "a.txt", "byte_range": { "start": 0, "end": 65_536 } }),
    );
    assert!(text.starts_with("a.txt: bytes 0 up to 6,000 of 90,000"), "{}", text.lines().next().unwrap());
    assert!(text.ends_with("continue with `start` 6000]"), "{text}");
    let few = Limits { output_lines: 100, ..Limits::default() };
    for input in [json!({ "path": "a.txt" }), json!({ "path": "a.txt", "more": [{ "path": "b.txt" }] })] {
        let text = whole(&tree, few.clone(), input);
        assert!((85..=100).contains(&text.lines().count()), "{}", text.lines().count());
    }
}

/// Reads with an executor that cuts nothing of it.
fn whole(tree: &Tree, limits: Limits, input: Value) -> String {
    let tools = ToolRegistry::new().with(ReadFile::new(tree.workdir())).unwrap();
    let policy = Policy::new().allow(Rule::tools(Selector::all()));
    let executor = LocalExecutor::builder(tools).limits(limits).policy(policy).build();
    let call = ToolCall::new("c1".parse().unwrap(), "read_file", input);
    let batch = Batch::new(CallScope::new("run-1".parse().unwrap()), vec![call]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let reply = runtime.block_on(executor.execute_batch(batch)).into_replies().unwrap().remove(0);
    assert_eq!(reply.truncation, None);
    reply.output.to_text()
}
