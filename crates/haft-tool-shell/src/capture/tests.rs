use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// Feeds the pieces as a reader does: what is not complete yet comes again in front of the next piece.
fn captured<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Capture {
    let mut capture = Capture::default();
    let mut carried = Vec::new();
    for piece in pieces {
        let bytes = [&carried, piece].concat();
        let incomplete = capture.push(&bytes);
        carried = bytes[bytes.len() - incomplete..].to_vec();
        assert!(carried.len() < 4, "at most the beginning of one character is carried");
        assert!(
            capture.head.len() <= HEAD_BYTES && capture.tail.len() <= 2 * TAIL_BYTES,
            "memory is bounded"
        );
    }
    if !carried.is_empty() {
        capture.push_broken();
    }
    capture
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

fn check(bytes: &[u8], expected: &Expect) {
    expected.assert_eq(&shortened(&captured(bytes.chunks(1000)).to_text()));
}

#[test]
fn keeps_the_first_and_the_last_of_many_short_lines() {
    let lines = |count: usize| (0..count).map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
    let fits = lines(HEAD_LINES + TAIL_LINES);
    assert_eq!(captured([fits.as_bytes()]).to_text(), fits);
    for count in [2_000, 5_000, 50_000] {
        let text = captured(lines(count).as_bytes().chunks(999)).to_text();
        let (head, rest) = text.split_once("[… ").unwrap();
        let (note, tail) = rest.split_once("…]\n").unwrap();
        assert_eq!(head, lines(HEAD_LINES));
        let all = lines(count);
        assert!(all.ends_with(tail) && tail.lines().count() == TAIL_LINES);
        let cut = all.len() - head.len() - tail.len();
        assert!(
            note.starts_with(&format!("{cut} bytes, {} lines ", count - HEAD_LINES - TAIL_LINES)),
            "{note}"
        );
    }
}

#[test]
fn keeps_what_fits_as_it_is() {
    check(b"", &expect![""]);
    check(
        "grüße\n".as_bytes(),
        &expect![[r#"
        grüße
    "#]],
    );
    let fits = vec![b'x'; HEAD_BYTES + TAIL_BYTES];
    assert_eq!(captured(fits.chunks(77)).to_text().as_bytes(), fits);
}

#[test]
fn cuts_between_lines() {
    check(
        &b"0123456\n".repeat(10_000),
        &expect![[r#"
            0123456 ×1200
            [… 64800 bytes, 8100 lines cut here: write long output to a file and look at parts of it …]
            0123456 ×700
        "#]],
    );
}

#[test]
fn cuts_inside_a_line_that_is_too_long() {
    check(
        &vec![b'x'; 100_000],
        &expect![[r#"
        xxxxx… of 16384 bytes
        [… 71328 bytes, 0 lines cut here: write long output to a file and look at parts of it …]
        xxxxx… of 12288 bytes
    "#]],
    );
}

#[test]
fn replaces_what_is_not_text() {
    check(
        b"a\xff\xfeb\xe2\x82\nc\xe2\x82",
        &expect![[r#"
        a��b�
        c�
    "#]],
    );
}

#[test]
fn bounds_the_text_and_not_the_bytes_it_came_from() {
    let text = captured([&*vec![0xff; 1_000_000]]).to_text();
    assert!(text.len() < HEAD_BYTES + TAIL_BYTES + 200, "{} bytes", text.len());
}

#[test]
fn shows_the_newest_lines() {
    let newest = |bytes: &[u8], most| captured(bytes.chunks(10)).newest(most);
    assert_eq!(newest(b"one\ntwo\n", 100), "one\ntwo\n");
    assert_eq!(newest(b"one\ntwo\nthree\n", 11), "two\nthree\n");
    assert_eq!(newest(b"", 100), "");
    let many = b"0123456\n".repeat(10_000);
    assert_eq!(newest(&many, 100), "0123456\n".repeat(12));
    assert_eq!(newest(&vec![b'x'; 50_000], 100), "x".repeat(100));
    let just_over = [vec![b'x'; HEAD_BYTES], b"yy".to_vec()].concat();
    assert_eq!(newest(&just_over, 5), "xxxyy");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However the bytes are divided, a short output is read like the whole taken at once.
    #[test]
    fn does_not_depend_on_how_bytes_arrive(bytes: Vec<u8>, size in 1_usize..9) {
        prop_assert_eq!(captured(bytes.chunks(size)).to_text(), String::from_utf8_lossy(&bytes));
    }

    /// Nothing is kept twice, and what was cut is counted exactly.
    #[test]
    fn counts_what_it_cuts(lines in prop::collection::vec(("[aé\u{1f980}]{1,3}", 0_usize..200), 0..150), size in 1_usize..50_000) {
        let whole: String = lines.iter().map(|(letters, times)| letters.repeat(*times) + "\n").collect();
        let text = captured(whole.as_bytes().chunks(size)).to_text();
        prop_assert!(text.len() <= HEAD_BYTES + TAIL_BYTES + 200);
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
}
