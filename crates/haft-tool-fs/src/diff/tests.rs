use super::{Diff, PATIENCE, hunks};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use std::time::Duration;

fn lines(count: usize) -> String {
    (1..=count).fold(String::new(), |text, line| format!("{text}line {line}\n"))
}

fn check(old: Option<&str>, new: &str, diff: &Expect) {
    diff.assert_eq(&Diff::new(old, new).for_host("src/a.rs"));
}

#[test]
fn shows_a_new_file_as_made_of_nothing() {
    check(
        None,
        "one\ntwo\n",
        &expect![[r"
        --- /dev/null
        +++ b/src/a.rs
        @@ -0,0 +1,2 @@
        +one
        +two
    "]],
    );
}

#[test]
fn shows_changes_with_three_lines_around_them() {
    let old = lines(30);
    let new = old
        .replace("line 5\n", "line five\n")
        .replace("line 8\n", "")
        .replace("line 27\n", "line 27\nmore\n");
    check(
        Some(&old),
        &new,
        &expect![[r"
        --- a/src/a.rs
        +++ b/src/a.rs
        @@ -2,10 +2,9 @@
         line 2
         line 3
         line 4
        -line 5
        +line five
         line 6
         line 7
        -line 8
         line 9
         line 10
         line 11
        @@ -25,6 +24,7 @@
         line 25
         line 26
         line 27
        +more
         line 28
         line 29
         line 30
    "]],
    );
}

#[test]
fn says_where_the_final_newline_is_missing() {
    check(
        Some("one\ntwo"),
        "one\ntwo\n",
        &expect![[r"
        --- a/src/a.rs
        +++ b/src/a.rs
        @@ -1,2 +1,2 @@
         one
        -two
        \ No newline at end of file
        +two
    "]],
    );
}

#[test]
fn leaves_line_ends_out_where_all_are_crlf() {
    check(
        Some("one\r\ntwo\r\n"),
        "one\r\n2\r\n",
        &expect![[r"
        --- a/src/a.rs
        +++ b/src/a.rs
        @@ -1,2 +1,2 @@
         one
        -two
        +2
    "]],
    );
}

#[test]
fn shows_line_ends_where_they_change() {
    let diff = Diff::new(Some("one\r\ntwo\r\n"), "one\ntwo\r\n");
    let hunk = "@@ -1,2 +1,2 @@\n-one\r\n+one\n two\r\n";
    assert_eq!(diff.for_host("a"), format!("--- a/a\n+++ b/a\n{hunk}"));
    assert_eq!(diff.for_model(1000), hunk.replace('\r', "␍"));
}

#[test]
fn is_empty_for_equal_texts() {
    assert_eq!(
        (hunks(0, "a\nb", "a\nb", PATIENCE), hunks(0, "", "", PATIENCE)),
        (String::new(), String::new())
    );
}

#[test]
fn gives_whole_lines_up_to_the_bound_and_counts_the_rest() {
    let new = lines(100);
    let diff = Diff::new(None, &new);
    expect![[r"
        @@ -0,0 +1,100 @@
        +line 1
        +line 2
        +line 3
        +line 4
        +line 5
        [… 852 bytes more of the diff]
    "]]
    .assert_eq(&diff.for_model(60));
    assert!(diff.for_model(100_000).ends_with("+line 100\n"));
}

/// Makes the changes that hunks say, or tells which line does not fit.
fn apply(old: &str, hunks: &str) -> Result<String, String> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut new, mut taken) = (String::new(), 0);
    let mut lines = hunks.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if let Some(range) = line.strip_prefix("@@ -") {
            let (start, length) =
                range.split_once(' ').and_then(|(range, _)| range.split_once(',')).map_or_else(
                    || (range.split(' ').next().unwrap_or_default(), "1"),
                    |(start, length)| (start, length),
                );
            let start: usize = start.parse().map_err(|_| line.to_owned())?;
            let start = if length == "0" { start } else { start - 1 };
            new.extend(old[taken..start].iter().copied());
            taken = start;
            continue;
        }
        let (sign, text) = line.split_at(1);
        let ends = lines.next_if(|next| next.starts_with('\\')).is_none();
        let text = if ends { text } else { text.trim_end_matches('\n') };
        if sign != "+" {
            if old.get(taken) != Some(&text) {
                return Err(line.to_owned());
            }
            taken += 1;
        }
        if sign != "-" {
            new.push_str(text);
        }
    }
    new.extend(old[taken..].iter().copied());
    Ok(new)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn applying_the_diff_to_the_old_text_gives_the_new(
        old in "([abé]{0,2}\r?\n){0,30}[ab\r]?",
        new in "([abé]{0,2}\r?\n){0,30}[ab\r]?",
        edit in "[abé]{0,2}\n?",
        place in any::<prop::sample::Index>(),
    ) {
        prop_assert_eq!(apply(&old, &hunks(0, &old, &new, PATIENCE)), Ok(new.clone()));
        // Two texts that have most in common, as after an edit.
        let boundaries: Vec<usize> = (0..=old.len()).filter(|place| old.is_char_boundary(*place)).collect();
        let mut edited = old.clone();
        edited.insert_str(*place.get(&boundaries), &edit);
        prop_assert_eq!(apply(&old, &hunks(0, &old, &edited, PATIENCE)), Ok(edited.clone()));
        prop_assert_eq!(apply(&edited, &hunks(0, &edited, &old, PATIENCE)), Ok(old.clone()));
    }
}

#[test]
fn a_name_cannot_pass_for_lines_of_the_difference() {
    let path = "notes.md\n@@ -1 +1 @@\n-old\n+harmless";
    let shown = Diff::new(Some("a\n"), "b\n").for_host(path);
    let head = r"--- a/notes.md\n@@ -1 +1 @@\n-old\n+harmless";
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines, [head, &head.replacen("--- a/", "+++ b/", 1), "@@ -1 +1 @@", "-a", "+b"]);
}

/// Two texts of so many lines, of which a few are in both, in another order.
fn reordered(count: usize, width: usize) -> [String; 2] {
    [7_919, 104_729].map(|step| {
        (0..count).map(|line| format!("{:width$}\n", line * step % 100_003)).collect::<Vec<_>>().concat()
    })
}

#[test]
fn how_busy_a_machine_is_changes_no_usual_difference() {
    let is_changed = |count, width| {
        let [old, new] = reordered(count, width);
        hunks(0, &old, &new, Duration::ZERO) != hunks(0, &old, &new, Duration::MAX)
    };
    assert!(!is_changed(1_000, 10));
    // Of what is longer the best difference is not looked for at any price.
    assert!(is_changed(1_500, 10));
    assert!(is_changed(1_000, 200));
}
