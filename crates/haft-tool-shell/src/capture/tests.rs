use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn captured<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Capture {
    let mut capture = Capture::default();
    for piece in pieces {
        capture.push(piece);
        assert!(capture.tail.len() <= 2 * KEPT_BYTES, "memory is bounded");
    }
    capture
}

/// Divides a text into pieces of about so many bytes.
fn pieces(text: &str, size: usize) -> Vec<&str> {
    let (mut rest, mut pieces) = (text, Vec::new());
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.ceil_char_boundary(size));
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// Shows a text with every run of more than five equal lines, or characters of one line, shortened.
fn shortened(text: &str) -> String {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for line in text.lines() {
        let line = if line.len() > 200 {
            format!("{}… of {} bytes", &line[..5], line.len())
        } else {
            line.to_owned()
        };
        match lines.last_mut() {
            Some((last, times)) if *last == line => *times += 1,
            _ => lines.push((line, 1)),
        }
    }
    let lines = lines
        .into_iter()
        .map(|(line, times)| if times > 1 { format!("{line} ×{times}\n") } else { line + "\n" });
    lines.collect()
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&shortened(&captured(pieces(text, 1000)).to_text(Whole::Gone)));
}

/// Lines of which none is like the one before.
fn alternating(lines: usize) -> String {
    "0123456\n7654321\n".repeat(lines / 2)
}

#[test]
fn keeps_the_first_and_the_last_of_many_short_lines() {
    let lines = |count: usize| (0..count).map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
    let fits = lines(HEAD.lines + TAIL.lines);
    assert_eq!(captured([fits.as_str()]).to_text(Whole::Gone), fits);
    for count in [2_000, 5_000, 50_000] {
        let all = lines(count);
        let text = captured(pieces(&all, 999)).to_text(Whole::Gone);
        let (head, rest) = text.split_once("[… ").unwrap();
        let (note, tail) = rest.split_once("…]\n").unwrap();
        assert_eq!(head, lines(HEAD.lines));
        assert!(all.ends_with(tail) && tail.lines().count() == TAIL.lines);
        let cut = all.len() - head.len() - tail.len();
        assert!(
            note.starts_with(&format!("{cut} bytes, {} lines ", count - HEAD.lines - TAIL.lines)),
            "{note}"
        );
    }
}

#[test]
fn keeps_what_fits_as_it_is() {
    check("", &expect![""]);
    check(
        "grüße\n",
        &expect![[r#"
        grüße
    "#]],
    );
    let fits = "x".repeat(HEAD.bytes + TAIL.bytes);
    assert_eq!(captured(pieces(&fits, 77)).to_text(Whole::Gone), fits);
}

#[test]
fn cuts_inside_a_line_that_is_too_long() {
    check(
        &"x".repeat(100_000),
        &expect![[r#"
        xxxxx… of 16384 bytes
        [… 71328 bytes, 0 lines cut here: write long output to a file and look at parts of it …]
        xxxxx… of 12288 bytes
    "#]],
    );
}

#[test]
fn says_where_the_whole_is() {
    let capture = captured([alternating(10_000).as_str()]);
    let note = |whole| {
        let text = capture.to_text(whole);
        text.lines().find(|line| line.starts_with('[')).unwrap().to_owned()
    };
    expect![[r#"[… 64800 bytes, 8100 lines cut here: `read_output` gives them, with output "s1" and offset 1201 …]"#]].assert_eq(&note(Whole::Kept { output: "s1", lost: 0 }));
    expect![[r#"[… 64800 bytes, 8100 lines cut here: `read_output` gives them, with output "s1" and offset 1201; its last 99 bytes could not be kept …]"#]].assert_eq(&note(Whole::Kept { output: "s1", lost: 99 }));
}

#[test]
fn folds_a_flood_of_one_line() {
    let mut capture = captured(pieces(&"haft\n".repeat(1_000_000), 65_536));
    capture.push("end\n");
    expect![[r#"
        haft
        haft
        haft
        [the line above comes 999997 more times]
        end
    "#]]
    .assert_eq(&capture.to_text(Whole::Gone));
    assert!(capture.is_whole());
}

#[test]
fn shows_the_newest_lines() {
    let newest = |text: &str, most| captured(pieces(text, 10)).newest(most);
    assert_eq!(newest("one\ntwo\n", 100), "one\ntwo\n");
    assert_eq!(newest("one\ntwo\nthree\n", 11), "two\nthree\n");
    assert_eq!(newest("", 100), "");
    assert_eq!(
        newest(&alternating(10_000), 100),
        "7654321\n0123456\n".repeat(6)["7654321\n".len()..].to_owned() + "7654321\n"
    );
    assert_eq!(newest(&"x".repeat(50_000), 100), "x".repeat(100));
    let just_over = "x".repeat(HEAD.bytes) + "yy";
    assert_eq!(newest(&just_over, 5), "xxxyy");
    assert_eq!(newest("10 %\r20 %", 100), "20 %");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Nothing is kept twice, and what was cut is counted exactly.
    #[test]
    fn counts_what_it_cuts(lines in prop::collection::vec(("[aé\u{1f980}]{1,3}", 0_usize..200), 0..150), size in 1_usize..50_000) {
        // A number in front keeps lines apart, which else were folded.
        let lines = lines.iter().enumerate();
        let whole: String = lines.map(|(line, (letters, times))| line.to_string() + &letters.repeat(*times) + "\n").collect();
        let text = captured(pieces(&whole, size)).to_text(Whole::Gone);
        prop_assert!(text.len() <= HEAD.bytes + TAIL.bytes + 200);
        let Some((head, rest)) = text.split_once("[… ") else {
            prop_assert_eq!(text, whole);
            return Ok(());
        };
        let (note, tail) = rest.split_once(" …]\n").unwrap();
        let cut: usize = note.split(' ').next().unwrap().parse().unwrap();
        let head = if whole.starts_with(head) { head } else { head.trim_end_matches('\n') };
        prop_assert!(whole.starts_with(head) && whole.ends_with(tail));
        prop_assert_eq!(head.len() + cut + tail.len(), whole.len());
    }

    /// However a text is divided, it is read in the same way.
    #[test]
    fn does_not_depend_on_how_text_arrives(text in "([abé]|\n|\r|\r\n|\u{8}|\t|\u{1b}\\[[0-3]?[mKGCD]|\u{1b}\\]0;x\u{7}){0,400}", size in 1_usize..9) {
        prop_assert_eq!(captured(pieces(&text, size)).to_text(Whole::Gone), captured([text.as_str()]).to_text(Whole::Gone));
    }
}
