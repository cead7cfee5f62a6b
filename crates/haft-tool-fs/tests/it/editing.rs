use crate::fixture::run;
use haft_core::ToolReply;
use haft_testkit::Tree;
use proptest::prelude::*;
use serde_json::{Value, json};

fn edit(tree: &Tree, edits: &Value) -> ToolReply {
    run(tree, "edit_file", json!({ "path": "a", "edits": edits }))
}

#[test]
fn the_host_gets_the_diff_and_the_counts() {
    let tree = Tree::new().file("a", "one\ntwo\none\n");
    let reply =
        edit(&tree, &json!([{ "old": "one", "new": "1", "all": true }, { "old": "two", "new": "2" }]));
    assert_eq!(
        reply.output.details,
        json!({
            "path": "a",
            "diff": "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n-one\n-two\n-one\n+1\n+2\n+1\n",
            "replacements": [2, 1],
            "digest": "sha256:57e50702eb22",
        })
    );
}

#[test]
fn a_long_diff_is_cut_for_the_model_and_whole_for_the_host() {
    let tree = Tree::new().file("a", &"old\n".repeat(2000));
    let reply = edit(&tree, &json!([{ "old": "old", "new": "new", "all": true }]));
    let text = reply.output.to_text();
    assert!(text.len() < 5000 && text.ends_with("KiB more of the diff]"), "{}", text.len());
    assert_eq!(reply.output.details["diff"].as_str().map(|diff| diff.matches("+new\n").count()), Some(2000));
    assert_eq!(tree.read("a"), "new\n".repeat(2000));
}

#[test]
fn a_failed_edit_of_a_large_file_is_answered_briefly() {
    let lines =
        (0..200_000).fold(String::new(), |text, line| text + "let value = " + &line.to_string() + ";\n");
    let tree = Tree::new().file("a", &lines);
    let reply = edit(
        &tree,
        &json!([{ "old": "let value = 1500 ;".repeat(40), "new": "" }, { "old": "value", "new": "v" }]),
    );
    let text = reply.output.to_text();
    assert!(text.len() < 2000, "{text}");
    assert!(text.contains("48, 49, 50 and 199,950 more; add lines"), "{text}");
}

#[test]
fn many_failed_edits_are_told_briefly() {
    let tree = Tree::new().file("a", "text\n");
    let edits: Vec<Value> =
        (0..50).map(|index| json!({ "old": format!("missing {index}"), "new": "" })).collect();
    let text = edit(&tree, &json!(edits)).output.to_text();
    assert!(
        text.starts_with("`a` was not changed: 50 of 50 edits cannot be made, so none was\nedit 1:"),
        "{text}"
    );
    assert!(text.ends_with("\n… and 47 more; correct these first"), "{text}");
}

/// Counts the places where a text occurs, also those that overlap.
fn occurrences(content: &str, text: &str) -> usize {
    (0..content.len())
        .filter(|place| content.is_char_boundary(*place) && content[*place..].starts_with(text))
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_edit_is_the_replacement_of_a_unique_text_or_nothing(
        content in "[abé\n ]{0,40}",
        old in "[abé\n ]{1,4}",
        new in "[abcé\n]{0,4}",
    ) {
        let tree = Tree::new().file("a", &content);
        let reply = edit(&tree, &json!([{ "old": old, "new": new }]));
        // What is not there exactly may be there but for blanks.
        let times = occurrences(&content, &old);
        if times == 0 {
            return Ok(());
        }
        let is_due = times == 1 && old != new;
        prop_assert_eq!(reply.status.is_ok(), is_due, "{}", reply.output.to_text());
        let expected = if is_due { content.replacen(&old, &new, 1) } else { content };
        prop_assert_eq!(tree.read("a"), expected);
    }

    #[test]
    fn no_edit_makes_it_panic_or_touches_a_file_that_it_refuses(
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        old in "\\PC{0,4}",
        new in "\\PC{0,4}",
    ) {
        let tree = Tree::new().bytes("a", &bytes);
        let reply = edit(&tree, &json!([{ "old": old, "new": new }]));
        prop_assert!(!reply.output.to_text().contains("broke while"));
        if !reply.status.is_ok() {
            prop_assert_eq!(tree.read_bytes("a"), bytes);
        }
    }
}
