#![expect(clippy::needless_pass_by_value, reason = "a snapshot is written where it is used")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

use super::*;
use crate::output::count_lines;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

/// Shapes an output that goes nowhere.
fn shape(output: ToolOutput, most_bytes: usize, repairs: &[Repair]) -> Shaped {
    shape_within(output, &Limits { output_bytes: most_bytes, ..Limits::default() }, repairs)
}

fn shape_within(mut output: ToolOutput, limits: &Limits, repairs: &[Repair]) -> Shaped {
    let (redactor, registry) = (Redactor::new(), ToolRegistry::new());
    let shaper =
        Shaper { limits, redactor: &redactor, outputs: None, registry: &registry, is_untrusted: false };
    let truncation = shaper.shape(&mut output, repairs).unwrap_or_else(|_| panic!("nothing is stored"));
    (output, truncation)
}

fn check(most_bytes: usize, text: &str, expect: Expect) {
    let (output, _) = shape(ToolOutput::text(text), most_bytes, &[]);
    expect.assert_eq(&output.to_text());
}

#[test]
fn a_reply_tells_no_more_than_a_little_of_a_repaired_value() {
    let long = json!(["é".repeat(1_000)]);
    let mut repairs = [
        Repair::new("/a", json!(long.to_string()), Some(long), "decoded"),
        Repair::new("", json!([1]), None, ""),
    ];
    redact_and_cut(&mut repairs, &Redactor::new());
    let cut = |text: &str| json!(format!("[\"{}{text}…", "é".repeat(99)));
    assert_eq!(repairs[0], Repair::new("/a", cut(""), Some(cut("")), "decoded"));
    assert_eq!(repairs[1].from, json!([1]));
}

#[test]
fn details_that_are_left_out_are_counted_as_cut() {
    let limits = Limits { data_bytes: 60, ..Limits::default() };
    let output = ToolOutput::text("done").with_details(json!("d".repeat(98)));
    let (output, truncation) = shape_within(output, &limits, &[]);
    assert_eq!(output.to_text(), "done");
    assert_eq!(output.details, json!({ "left_out": { "bytes": 100, "most_bytes": 60 } }));
    assert_eq!(truncation, Some(Truncation::new(104, 4)));
}

/// Arrays in each other, so many levels of them.
fn nested(levels: usize) -> serde_json::Value {
    (0..levels).fold(json!("x"), |inner, _| json!([inner]))
}

#[test]
fn data_that_is_nested_too_deep_to_be_kept_is_left_out_or_told_as_text() {
    let deep = |levels: usize| {
        ToolOutput::new(vec![Content::json(nested(levels))])
            .with_structured(nested(levels))
            .with_details(nested(levels))
    };
    let (kept, truncation) = shape(deep(100), 10_000, &[]);
    assert_eq!((kept, truncation), (deep(100), None));
    let (cut, truncation) = shape(deep(101), 10_000, &[]);
    assert_eq!(cut.content, [Content::text(nested(101).to_string())]);
    assert_eq!((cut.structured, truncation.is_some()), (None, true));
    assert_eq!(cut.details, json!({ "left_out": { "bytes": 205, "most_levels": 100 } }));

    let told = ToolOutput::text("done").with_structured(nested(121));
    let (cut, _) = shape(told, 10_000, &[]);
    assert!(cut.structured.is_none());
    expect!["[the result as data, 29769 bytes, is left out: a reply has at most 100 levels of nesting; ask for less at once]"].assert_eq(cut.content[1].as_text().unwrap());
}

#[test]
fn parts_of_json_count_as_lines() {
    let parts = vec![Content::json(json!(1)); 30_000];
    let (output, truncation) = shape(ToolOutput::new(parts), 1 << 20, &[]);
    assert!(count_lines(&output.to_text()) <= 2_010, "{}", count_lines(&output.to_text()));
    assert_eq!(truncation.map(|cut| cut.total_bytes), Some(30_000));
}

#[test]
fn keeps_two_thirds_of_the_head_and_one_of_the_tail() {
    let lines = (1..=30).map(|line| format!("{line:02}")).collect::<Vec<_>>().join("\n") + "\n";
    check(
        27,
        &lines,
        expect![[r#"
        01
        02
        03
        04
        05
        06
        [… 63 bytes, 21 lines cut here: ask for less at once to see them …]
        28
        29
        30
    "#]],
    );
    check(
        90,
        &lines,
        expect![[r#"
        01
        02
        03
        04
        05
        06
        07
        08
        09
        10
        11
        12
        13
        14
        15
        16
        17
        18
        19
        20
        21
        22
        23
        24
        25
        26
        27
        28
        29
        30
    "#]],
    );
}

#[test]
fn keeps_whole_lines_only_where_they_are_not_longer_than_half_the_space() {
    check(
        30,
        &format!("short\n{}\nend\n", "x".repeat(50)),
        expect![[r#"
        short
        xxxxxxxxxxxxxx
        [… 31 bytes, 1 line cut here: ask for less at once to see them …]
        xxxxx
        end
    "#]],
    );
    check(
        30,
        &format!("{}\n{}\nend\n", "x".repeat(15), "y".repeat(50)),
        expect![[r#"
        xxxxxxxxxxxxxxx
        [… 45 bytes, 1 line cut here: ask for less at once to see them …]
        yyyyy
        end
    "#]],
    );
}

#[test]
fn counts_what_it_cut() {
    let (output, truncation) = shape(ToolOutput::text("a\nb\nc\nd\ne\n"), 6, &[]);
    expect![[r#"
        a
        b
        [… 4 bytes, 2 lines cut here: ask for less at once to see them …]
        e
    "#]]
    .assert_eq(&output.to_text());
    assert_eq!(truncation, Some(Truncation::new(10, 6)));
}

#[test]
fn tells_of_repairs_behind_all_else_and_beside_the_bound() {
    let repairs = [
        Repair::new("/a", json!("5"), Some(json!(5)), "took a string as the value it spells"),
        Repair::new("/b", json!(null), None, "took null as absent"),
        Repair::new("", json!("{}"), Some(json!({})), "decoded JSON that was sent as a string"),
    ];
    let (output, truncation) = shape(ToolOutput::text("done"), 4, &repairs);
    assert_eq!(truncation, None);
    expect![[r#"
        done
        [the arguments were changed: /a: took a string as the value it spells ("5" → 5); the whole: decoded JSON that was sent as a string ("{}" → {})]"#]].assert_eq(&output.to_text());
}

/// Makes parts of every kind, with texts in which lines and characters end at any byte.
fn parts() -> impl Strategy<Value = Vec<Content>> {
    let text = "([a-z]{0,6}|é{0,3}|👩|\n){0,12}";
    let part = prop_oneof![
        4 => text.prop_map(Content::text),
        1 => text.prop_map(|text| Content::json(json!({ "text": text }))),
        1 => Just(Content::image(vec![0; 64], "image/png")),
        1 => text.prop_map(|text| Content::Resource { uri: "file:a".into(), mime_type: None, text: Some(text), data: None }),
    ];
    prop::collection::vec(part, 0..5)
}

/// Joins all that is text, with JSON as it is written when it is cut.
fn joined(parts: &[Content]) -> String {
    let text = |part: &Content| match part {
        Content::Text { text } | Content::Resource { text: Some(text), .. } => text.clone(),
        Content::Json { value } => format!("{value:#}"),
        _ => String::new(),
    };
    parts.iter().map(text).collect()
}

proptest! {
    #[test]
    fn what_is_left_fits_and_is_the_start_and_the_end(parts in parts(), most_bytes in 0usize..120) {
        let whole = joined(&parts);
        let media = parts.iter().filter(|part| matches!(part, Content::Image { .. })).count();
        let (output, truncation) = shape(ToolOutput::new(parts.clone()), most_bytes, &[]);
        let Some(Truncation { total_bytes, kept_bytes, .. }) = truncation else {
            let texts = parts.iter().map(|part| match part {
                Content::Image { .. } => 0,
                Content::Resource { text, .. } => text.as_ref().map_or(0, String::len),
                part => part.size_bytes(),
            });
            prop_assert!(texts.sum::<usize>() <= most_bytes);
            prop_assert_eq!(output.content, parts);
            return Ok(());
        };
        prop_assert!(whole.len() > most_bytes && kept_bytes <= most_bytes as u64);
        prop_assert_eq!(total_bytes, whole.len() as u64);
        let left = joined(&output.content);
        let (head, rest) = left.split_once("[… ").unwrap();
        let (marker, tail) = rest.split_once("…]\n").unwrap();
        // Where a line was cut, the note on it stands on a line of its own.
        let is_added = head.len() + tail.len() > usize::try_from(kept_bytes).unwrap();
        let head = if is_added { head.strip_suffix('\n').unwrap() } else { head };
        prop_assert!(whole.starts_with(head) && whole.ends_with(tail), "{left:?}");
        prop_assert_eq!((head.len() + tail.len()) as u64, kept_bytes);
        let cut = format!("{} bytes, ", whole.len() - head.len() - tail.len());
        prop_assert!(marker.starts_with(&cut) && !tail.contains("[… "), "{left:?}");
        prop_assert_eq!(output.content.iter().filter(|part| matches!(part, Content::Image { .. })).count(), media);
    }

    #[test]
    fn a_long_text_keeps_most_of_what_it_may(text in "[a-z\n]{200,400}", most_bytes in 30usize..190) {
        let (_, truncation) = shape(ToolOutput::text(text), most_bytes, &[]);
        prop_assert!(truncation.unwrap().kept_bytes * 3 >= most_bytes as u64);
    }

    #[test]
    fn every_bound_holds_and_what_is_kept_stands_where_it_stood(
        text in "([a-z]{0,9}|é{0,40}|👩|x{60,90}|\\r?\n){0,40}",
        (output_bytes, output_lines, line_bytes) in (0usize..300, 0usize..12, 0usize..80),
    ) {
        let limits = Limits { output_bytes, output_lines, line_bytes, ..Limits::default() };
        let (output, truncation) = shape_within(ToolOutput::text(text.as_str()), &limits, &[]);
        let left = output.content[0].as_text().unwrap();
        let Some(truncation) = truncation else {
            prop_assert_eq!(left, &text);
            prop_assert!(text.len() <= output_bytes && count_lines(&text).max(1) <= output_lines as u64);
            prop_assert!(text.split('\n').all(|line| line.len() <= line_bytes + excerpt::LINE_SLACK));
            return Ok(());
        };
        prop_assert_eq!(truncation.total_bytes, text.len() as u64);
        let (mut kept, mut gaps, mut lines, mut bytes) = (0, 0, 0, 0);
        for line in left.split_inclusive('\n') {
            if line.starts_with("[… ") && line.ends_with(" them …]\n") {
                gaps += 1;
                continue;
            }
            (lines, bytes) = (lines + 1, bytes + line.len());
            prop_assert!(line.trim_end_matches('\n').len() <= line_bytes + excerpt::LINE_SLACK, "{line:?}");
            let (head, tail) = match line.split_once("[… ") {
                Some((head, rest)) => (head, rest.split_once(" here …]").unwrap().1),
                None => (line, ""),
            };
            prop_assert!(text.contains(head.trim_end_matches('\n')) && text.contains(tail), "{line:?}");
            kept += head.len() + tail.len();
        }
        // Before the note on what was cut a line that was cut is ended.
        let added = kept as u64 - truncation.kept_bytes;
        prop_assert!(added <= gaps && gaps <= 1, "{left:?}");
        prop_assert!(bytes <= output_bytes + 1 && lines <= output_lines, "{left:?}");
        prop_assert_eq!(output.content.len(), if gaps == 1 { 1 } else { 2 });
    }
}
