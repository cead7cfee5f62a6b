//! One line of a file, cut to what is worth showing.

use std::ops::Range;

/// How much of one line is shown, in bytes; the same as the previews of `rg --max-columns 300`.
const SHOWN_BYTES: usize = 300;

/// A line as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    pub(crate) cut: bool,
}

/// Tells whether a line may have to be cut, so that it matters where in it the match is.
///
/// Each byte that is not UTF-8 is shown as a character of three.
pub(crate) fn may_be_cut(line: &[u8]) -> bool {
    line.len() > SHOWN_BYTES / 3
}

/// Takes a line without its end; a long one is cut, on character boundaries, with `focus` in the middle.
///
/// What is not UTF-8 is shown as replacement characters. The cost does not grow with the line.
pub(crate) fn excerpt(line: &[u8], focus: Range<usize>) -> Excerpt {
    let line = without_end(line);
    if line.len() <= SHOWN_BYTES {
        let text = String::from_utf8_lossy(line);
        if text.len() <= SHOWN_BYTES {
            return Excerpt { text: text.into_owned(), cut: false };
        }
    }
    let start = floor_boundary(line, focus.start.min(line.len()));
    // Among bytes that are not UTF-8 the boundaries around the focus can lie on its other side.
    let first = ceil_boundary(line, start.saturating_sub(SHOWN_BYTES)).min(start);
    let last = floor_boundary(line, start.saturating_add(SHOWN_BYTES).min(line.len())).max(start);
    let before = String::from_utf8_lossy(&line[first..start]);
    let after = String::from_utf8_lossy(&line[start..last]);

    let matched = focus.len().min(SHOWN_BYTES);
    let wanted_before = SHOWN_BYTES / 2 - matched / 2;
    let room_before = wanted_before.max(SHOWN_BYTES - after.len().min(SHOWN_BYTES));
    let before_start = before.ceil_char_boundary(before.len().saturating_sub(room_before));
    let kept_before = &before[before_start..];
    let kept_after = &after[..after.floor_char_boundary(SHOWN_BYTES - kept_before.len())];

    let cut_before = first > 0 || before_start > 0;
    let cut_after = last < line.len() || kept_after.len() < after.len();
    let mark = |cut| if cut { "…" } else { "" };
    let text = format!("{}{kept_before}{kept_after}{}", mark(cut_before), mark(cut_after));
    Excerpt { text, cut: cut_before || cut_after }
}

/// Takes the line feed, and the carriage return before it, off a line.
pub(crate) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn is_boundary(line: &[u8], at: usize) -> bool {
    line.get(at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000)
}

/// Finds the start of the character at `at`. A character has at most four bytes; more of the kind are no text.
fn floor_boundary(line: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|at| is_boundary(line, *at)).unwrap_or(at)
}

/// Finds the start of the first character at or behind `at`.
fn ceil_boundary(line: &[u8], at: usize) -> usize {
    (at..=at.saturating_add(3)).find(|at| is_boundary(line, *at)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(line: &str, focus: &str, expected: &str) {
        let start = line.find(focus).unwrap();
        let excerpt = excerpt(line.as_bytes(), start..start + focus.len());
        assert_eq!(excerpt.text, expected);
        assert_eq!(excerpt.cut, excerpt.text != line.trim_end_matches(['\n', '\r']));
    }

    #[test]
    fn shows_a_short_line_whole_without_its_end() {
        check("\tlet x = 1;\r\n", "x", "\tlet x = 1;");
        check("", "", "");
        check(&"a".repeat(300), "a", &"a".repeat(300));
    }

    #[test]
    fn puts_the_match_into_the_middle() {
        let line = format!("{}MATCH!{}", "a".repeat(1000), "b".repeat(1000));
        check(&line, "MATCH!", &format!("…{}MATCH!{}…", "a".repeat(147), "b".repeat(147)));
    }

    #[test]
    fn uses_the_room_that_one_side_leaves() {
        let line = format!("ab MATCH!{}", "b".repeat(1000));
        check(&line, "MATCH!", &format!("ab MATCH!{}…", "b".repeat(291)));
        let line = format!("{}MATCH! ab", "a".repeat(1000));
        check(&line, "MATCH!", &format!("…{}MATCH! ab", "a".repeat(291)));
    }

    #[test]
    fn shows_what_is_not_text_wherever_its_boundaries_seem_to_be() {
        let mut line = vec![0x80; 400];
        for start in 0..5 {
            assert!(excerpt(&line, start..start + 1).cut);
        }
        line[0] = b'a';
        assert!(excerpt(&line, 2..3).text.starts_with('a'));
    }

    #[test]
    fn shows_the_start_of_a_match_that_is_too_long() {
        let line = format!("a{}", "x".repeat(1000));
        check(&line, &"x".repeat(1000), &format!("…{}…", "x".repeat(300)));
    }

    #[test]
    fn cuts_between_characters() {
        let line = "é".repeat(1000);
        let cut = excerpt(line.as_bytes(), 1001..1003);
        assert!(cut.cut && cut.text.chars().all(|character| matches!(character, 'é' | '…')), "{}", cut.text);
        assert!(cut.text.len() <= SHOWN_BYTES + 6);
    }

    #[test]
    fn shows_what_is_not_text_as_replacement_characters() {
        assert_eq!(excerpt(b"a\xff\xfeb", 0..1), Excerpt { text: "a\u{fffd}\u{fffd}b".into(), cut: false });
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn is_bounded_and_shows_the_start_of_the_match(
            line in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'a'), Just(0x80)], 0..1500),
            at in any::<prop::sample::Index>(),
            length in 0_usize..800,
        ) {
            let start = at.index(line.len() + 1);
            let end = (start + length).min(line.len());
            let cut = excerpt(&line, start..end);
            prop_assert!(cut.text.len() <= SHOWN_BYTES + 2 * '…'.len_utf8());
            prop_assert!(!cut.text.is_empty() || without_end(&line).is_empty());
        }

        #[test]
        fn is_part_of_the_line_and_holds_a_short_match(
            before in "[aé]{0,500}", matched in "[xß]{1,40}", after in "[bé]{0,500}",
        ) {
            let line = format!("{before}{matched}{after}");
            let Excerpt { text, cut } = excerpt(line.as_bytes(), before.len()..before.len() + matched.len());
            prop_assert!(text.contains(&matched));
            prop_assert!(line.contains(text.trim_matches('…')));
            prop_assert_eq!(cut, text != line);
        }
    }
}
