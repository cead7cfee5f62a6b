use super::{Edit, PlannedEdit, plan};
use crate::edit_file::ladder::Level;
use crate::text_change::TextChange;
use proptest::prelude::*;

fn edit(old: &str, new: &str) -> Edit {
    Edit { old: old.to_owned(), new: new.to_owned(), expected: 1, all: false, near_line: None }
}

/// What becomes of a text; nothing where it cannot be edited so.
fn edited(content: &str, edits: &[Edit]) -> Option<String> {
    plan(content, edits).ok().map(|plan| replaced(content, &plan.changes))
}

fn replaced(content: &str, changes: &[TextChange]) -> String {
    let mut result = String::new();
    let mut kept = 0;
    for TextChange { place, new } in changes {
        result += &content[kept..place.start];
        result += new;
        kept = place.end;
    }
    result + &content[kept..]
}

/// Counts the places where a text occurs, also those that overlap.
fn occurrences(content: &str, text: &str) -> usize {
    (0..content.len())
        .filter(|place| content.is_char_boundary(*place) && content[*place..].starts_with(text))
        .count()
}

#[test]
fn counts_what_each_edit_replaces() {
    let all = Edit { all: true, ..edit("a", "b") };
    let plan = plan("a x a", &[edit("x", "c"), all]).unwrap();
    let expected = [1, 2].map(|places| PlannedEdit { level: Level::Exact, places });
    assert_eq!((replaced("a x a", &plan.changes).as_str(), &plan.edits[..]), ("b c b", &expected[..]));
}

#[test]
fn edits_may_touch() {
    assert_eq!(edited("ab", &[edit("b", "2"), edit("a", "1")]).as_deref(), Some("12"));
}

#[test]
fn an_insertion_between_lines_ends_as_they_do() {
    let cases = [
        ("a\r\nb\r\n", "a\n", "a\nx\n", "a\r\nx\r\nb\r\n"),
        ("a\r\nb\r\n", "b\n", "x\nb\n", "a\r\nx\r\nb\r\n"),
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
        ("a\nb\r\nc\n", "a\n", "x\n", "x\nb\r\nc\n"),
        ("a\nb\r\nc\n", "b\nc\n", "b\n", "a\nb\r\n"),
        ("a\r\nb\r\n", "a\nb", "ab", "ab\r\n"),
        ("a\r\nb\r\n", "\n", "", ""),
    ];
    for (content, old, new, expected) in cases {
        let expected = (!expected.is_empty()).then_some(expected);
        assert_eq!(edited(content, &[edit(old, new)]).as_deref(), expected, "{content:?} {old:?} {new:?}");
    }
}

#[test]
fn what_is_looked_over_at_the_end_of_a_line_stays_and_goes_with_the_line() {
    let cases = [
        ("a; \n \n  b \n", "\n  b\n", "if {\n}\n  b\n", "a; \nif {\n}\n  b \n"),
        ("a \n\t\nb\n", "a\n\nb\n", "a\nb\n", "a \nb\n"),
        ("///\n/// # S\n", "/// \n/// # S \n", "/// # S\n", "/// # S\n"),
        ("a  \nb\n", "a\nb\n", "x\nb\n", "x\nb\n"),
        ("a b  \nb\n", "a b\nb\n", "a c\nb\n", "a c  \nb\n"),
        ("a \n", "a  \n", "x_a \n", "x_a \n"),
    ];
    for (content, old, new, expected) in cases {
        assert_eq!(
            edited(content, &[edit(old, new)]).as_deref(),
            Some(expected),
            "{content:?} {old:?} {new:?}"
        );
    }
}

#[test]
fn what_is_meant_by_one_of_two_levels_is_refused() {
    // The one place differs in the indentation, the other in the kind of a blank.
    let content = "  a {\n}\n--\n    a\u{a0}{\n  }\n";
    assert_eq!(edited(content, &[edit("    a {\n  }\n", "b\n")]), None);
    let only = "  a {\n}\n";
    assert_eq!(edited(only, &[edit("    a {\n  }\n", "    b\n")]).as_deref(), Some("  b\n"));
}

#[test]
fn a_written_carriage_return_is_taken_at_its_word() {
    let cases = [
        ("a\r\nb\n", "a\r\n", "a\n", Some("a\nb\n")),
        ("a\nb\n", "a\n", "a\r\n", Some("a\r\nb\n")),
        // Here the file's own ends are another matter: the text is found one level further down.
        ("a\nb\n", "a\r\n", "c\r\n", Some("c\nb\n")),
        ("a\nb\n", "a\r\n", "c", Some("cb\n")),
        ("a\rb\r\n", "a\rb", "c", Some("c\r\n")),
    ];
    for (content, old, new, expected) in cases {
        assert_eq!(edited(content, &[edit(old, new)]).as_deref(), expected, "{content:?} {old:?} {new:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_edit_is_the_replacement_of_a_unique_text_or_nothing(
        content in "[abé\n ]{0,40}",
        old in "[abé\n ]{1,4}",
        new in "[abcé\n]{0,4}",
    ) {
        // What is not there exactly may be there but for blanks.
        let times = occurrences(&content, &old);
        if times == 0 {
            return Ok(());
        }
        let expected = (times == 1 && old != new).then(|| content.replacen(&old, &new, 1));
        prop_assert_eq!(edited(&content, &[edit(&old, &new)]), expected);
    }

    #[test]
    fn replacing_all_or_as_many_as_there_are_is_replacing_every_one(
        content in "[ab\n]{0,40}",
        old in "[ab\n]{1,2}",
        new in "[abc\n]{0,4}",
    ) {
        let count = content.matches(&*old).count() as u64;
        prop_assume!(count > 1 && old != new);
        let replaced = content.replace(&old, &new);
        // Replacing can also give the same text again, which is refused.
        let expected = (replaced != content).then_some(replaced);
        prop_assert_eq!(edited(&content, &[Edit { all: true, ..edit(&old, &new) }]), expected.clone());
        prop_assert_eq!(edited(&content, &[Edit { expected: count, ..edit(&old, &new) }]), expected);
        prop_assert_eq!(edited(&content, &[Edit { expected: count + 1, ..edit(&old, &new) }]), None);
    }

    #[test]
    fn edits_are_made_all_or_none_and_their_order_does_not_matter(
        words in prop::collection::hash_set("[a-z]{4,8}", 2..8),
        missing in any::<bool>(),
    ) {
        let words: Vec<String> = words.into_iter().collect();
        prop_assume!(words.iter().all(|word| words.iter().filter(|other| other.contains(&**word)).count() == 1));
        let content = words.join("\n");
        let mut edits: Vec<Edit> = words.iter().map(|word| edit(word, &word.to_uppercase())).collect();
        if missing {
            edits.push(edit("0", "1"));
        }
        let expected = (!missing).then(|| content.to_uppercase());
        prop_assert_eq!(edited(&content, &edits), expected.clone());
        edits.reverse();
        prop_assert_eq!(edited(&content, &edits), expected);
    }

    #[test]
    fn line_ends_neither_hinder_an_edit_nor_change(
        content in "[ab\n]{0,40}",
        old in "[ab\n]{1,4}",
        new in "[abc\n]{0,4}",
    ) {
        // A text without any line end has none to take over.
        prop_assume!(content.contains('\n'));
        let with_crlf = |text: &str| text.replace('\n', "\r\n");
        let edits = [edit(&old, &new)];
        prop_assert_eq!(edited(&with_crlf(&content), &edits), edited(&content, &edits).as_deref().map(with_crlf));
    }

    #[test]
    fn in_mixed_line_ends_only_what_differs_changes(
        lines in prop::collection::vec(("[abc]{1,3}", any::<bool>()), 2..12),
        at in any::<prop::sample::Index>(),
    ) {
        let content: String =
            lines.iter().flat_map(|(text, crlf)| [text.as_str(), if *crlf { "\r\n" } else { "\n" }]).collect();
        // The edit names all lines with LF alone, and adds one in between.
        let unified =
            |lines: &[(String, bool)]| lines.iter().flat_map(|(text, _)| [text.as_str(), "\n"]).collect::<String>();
        let (before, behind) = lines.split_at(at.index(lines.len()));
        let new = format!("{}NEW\n{}", unified(before), unified(behind));
        let result = edited(&content, &[edit(&unified(&lines), &new)]);
        let kept = |result: String| result.split_inclusive('\n').filter(|line| !line.starts_with("NEW")).collect::<String>();
        prop_assert_eq!(result.map(kept), Some(content));
    }

    #[test]
    fn no_texts_make_it_panic(content in any::<String>(), old in "\\PC{0,3}", new in any::<String>(), piece in any::<prop::sample::Index>()) {
        let _ = plan(&content, &[edit(&old, &new)]);
        // A text that is surely there, changed a little.
        let start = content.floor_char_boundary(piece.index(content.len() + 1));
        let _ = plan(&content, &[edit(&content[start..], &new), edit(&format!("{} ", &content[start..]), &new)]);
    }
}
