use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

const ROOMY: Room = Room { bytes: 10_000, lines: 1_000 };

fn reduced(text: &str) -> String {
    let mut reduction = Reduction::new(ROOMY);
    reduction.push(text);
    reduction.to_text()
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&reduced(text));
}

#[test]
fn leaves_colours_out() {
    check(
        "\u{1b}[1;31merror\u{1b}[0m: \u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\\n",
        &expect![[r#"
        error: link
    "#]],
    );
}

#[test]
fn shows_what_became_of_a_line() {
    check(
        "  0 %\r 50 %\r100 %\ndone\n",
        &expect![[r#"
        100 %
        done
    "#]],
    );
    check(
        "downloading\r\u{1b}[Kready\n",
        &expect![[r#"
        ready
    "#]],
    );
    check(
        "downloading a file\rready             \n",
        &expect![[r#"
        ready
    "#]],
    );
    check(
        "abc\u{8}\u{8}XY\n\u{1b}[3Cx\u{1b}[2Dy\n",
        &expect![[r#"
        aXY
          yx
    "#]],
    );
    check(
        "line ends\r\nof Windows\r\n",
        &expect![[r#"
        line ends
        of Windows
    "#]],
    );
    check("what comes\rthere", &expect!["therecomes"]);
}

#[test]
fn a_sequence_that_does_not_end_costs_its_line_alone() {
    check(
        "before\u{1b}]0;title\nafter\n\u{1b}[31",
        &expect![[r#"
        before
        after
    "#]],
    );
}

#[test]
fn tells_how_often_a_line_comes() {
    check(
        "one\none\none\ntwo\n",
        &expect![[r#"
        one
        one
        one
        two
    "#]],
    );
    check(
        "one\none\none\none\ntwo\n",
        &expect![[r#"
        one
        one
        one
        [the line above comes once more]
        two
    "#]],
    );
    check(
        "one\none\none\none\none\none\n",
        &expect![[r#"
        one
        one
        one
        [the line above comes 3 more times]
    "#]],
    );
    check(
        "\n\n\n\n\n\nend",
        &expect![[r#"



        [the line above comes 3 more times]
        end"#]],
    );
    check(
        "\r1\n\r1\n1\n\r1\n\r1\n1\nend",
        &expect![[r#"
        1
        1
        1
        [the line above comes 3 more times]
        end"#]],
    );
}

#[test]
fn a_cursor_that_is_sent_far_away_costs_little() {
    assert!(reduced("\u{1b}[65535C\u{1b}[65535Cx\n").len() < 5_000);
}

proptest! {
    /// What has neither control characters nor lines that come again is left as it is.
    #[test]
    fn leaves_plain_text_alone(lines in prop::collection::vec("[a-z é]{0,20}", 0..50)) {
        let text: String = lines.iter().enumerate().map(|(line, text)| format!("{line}{text}\n")).collect::<Vec<_>>().concat();
        prop_assert_eq!(reduced(&text), text);
    }

    /// Of lines that come again it is always told how often.
    #[test]
    fn loses_no_line(lines in prop::collection::vec((0_u8..3, 1_usize..12), 0..20), size in 1_usize..40) {
        let text: String = lines.iter().map(|(line, times)| format!("{line}\n").repeat(*times)).collect();
        let mut reduction = Reduction::new(ROOMY);
        for piece in text.as_bytes().chunks(size) {
            reduction.push(std::str::from_utf8(piece).unwrap());
        }
        let mut unfolded = String::new();
        let mut last = String::new();
        for line in reduction.to_text().lines() {
            match line.strip_prefix("[the line above comes ") {
                Some("once more]") => unfolded += &last,
                Some(times) => unfolded += &last.repeat(times.strip_suffix(" more times]").unwrap().parse().unwrap()),
                None => { last = format!("{line}\n"); unfolded += &last; }
            }
        }
        prop_assert_eq!(unfolded, text);
    }
}
