use super::*;
use proptest::prelude::*;

fn check(text: &str, expected: &str) {
    assert_eq!(Visible::new(text).to_cow(), expected, "{text:?}");
    assert_eq!(Visible::new(text).to_string(), expected, "{text:?}");
}

#[test]
fn leaves_ordinary_text_where_it_is() {
    for text in ["", "plain", "two\nlines\r\n\tand a tab", "naïve 日本語 עברית", "a\u{a0}b\u{3000}c"]
    {
        assert!(matches!(Visible::new(text).to_cow(), Cow::Borrowed(shown) if shown == text), "{text:?}");
    }
}

#[test]
fn writes_out_what_steers_a_terminal() {
    check(
        "\u{1b}[31mred\u{1b}[0m\u{7}\u{8}\u{7f}\u{9b}\0",
        r"\u{1b}[31mred\u{1b}[0m\u{7}\u{8}\u{7f}\u{9b}\u{0}",
    );
    check("over\rwritten\r\n\r", "over\\rwritten\r\n\\r");
}

#[test]
fn writes_out_what_turns_text_around_or_hides_in_it() {
    check("a\u{202e}b\u{2066}c\u{200f}d\u{61c}", r"a\u{202e}b\u{2066}c\u{200f}d\u{61c}");
    check("a\u{200b}b\u{feff}c\u{ad}d\u{2060}e\u{3164}", r"a\u{200b}b\u{feff}c\u{ad}d\u{2060}e\u{3164}");
    check("hi\u{e0068}\u{e0069}\u{e007f}\u{e0101}", r"hi\u{e0068}\u{e0069}\u{e007f}\u{e0101}");
    check("line\u{2028}paragraph\u{2029}next\u{85}", r"line\u{2028}paragraph\u{2029}next\u{85}");
}

#[test]
fn keeps_emoji_whole() {
    for text in [
        "👩\u{200d}🚀",
        "❤\u{fe0f}",
        "1\u{fe0f}\u{20e3}",
        "👨🏽\u{200d}💻",
        "🏳\u{fe0f}\u{200d}🌈",
        "👩\u{200d}❤\u{fe0f}\u{200d}👨",
    ] {
        check(text, text);
    }
}

#[test]
fn keeps_joiners_within_words_that_are_spelt_with_them() {
    check("می\u{200c}خواهم", "می\u{200c}خواهم");
    check("ක\u{dca}\u{200d}ර", "ක\u{dca}\u{200d}ර");
    check("pass\u{200c}word\u{200d}", r"pass\u{200c}word\u{200d}");
}

#[test]
fn a_selector_or_joiner_that_is_repeated_or_out_of_place_is_written_out() {
    check("😀\u{fe0f}\u{fe0f}\u{fe01}", "😀\u{fe0f}\\u{fe0f}\\u{fe01}");
    check("a\u{fe0f}1\u{fe0f}2", r"a\u{fe0f}1\u{fe0f}2");
    check("😀\u{200d}\u{200d}😀", r"😀\u{200d}\u{200d}😀");
    check("\u{200d}😀\u{200d}", r"\u{200d}😀\u{200d}");
}

#[test]
fn one_line_is_one_line() {
    assert_eq!(Visible::line("a\r\nb\tc\u{1b}").to_string(), r"a\r\nb\tc\u{1b}");
    assert!(matches!(Visible::line("plain é").to_cow(), Cow::Borrowed(_)));
}

proptest! {
    #[test]
    fn what_is_shown_has_nothing_left_to_show(text in "(\\PC|[\u{0}-\u{20}\u{7f}-\u{a0}\u{ad}\u{200b}-\u{202f}\u{fe00}-\u{fe0f}\u{e0060}-\u{e0070}😀❤👩م]){0,40}") {
        for visible in [Visible::new(&text), Visible::line(&text)] {
            let shown = visible.to_cow();
            prop_assert_eq!(&*shown, visible.to_string());
            let again = Visible { text: &shown, ..visible };
            prop_assert!(matches!(again.to_cow(), Cow::Borrowed(_)), "{:?}", shown);
        }
        prop_assert!(!Visible::line(&text).to_cow().contains(['\n', '\r', '\t']));
    }
}
