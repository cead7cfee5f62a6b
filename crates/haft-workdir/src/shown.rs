use std::fmt;

/// How much of a path an error text repeats, in characters; enough for any path a person would write.
const SHOWN_CHARACTERS: usize = 200;

/// A path as error texts show it: bounded, on one line, with control characters escaped.
pub(crate) struct Shown<'a>(pub(crate) &'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(SHOWN_CHARACTERS) {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                write!(f, "{character}")?;
            }
        }
        if characters.next().is_some() { f.write_str("…") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::Shown;

    fn check(path: &str, expected: &str) {
        assert_eq!(Shown(path).to_string(), expected);
    }

    #[test]
    fn shows_an_ordinary_path_as_it_is() {
        check("src/naïve file.rs", "src/naïve file.rs");
    }

    #[test]
    fn escapes_what_would_break_the_line() {
        check("a\nb\0\u{1b}[31m", r"a\nb\u{0}\u{1b}[31m");
    }

    #[test]
    fn cuts_what_is_too_long() {
        check(&"é".repeat(300), &format!("{}…", "é".repeat(200)));
        check(&"é".repeat(200), &"é".repeat(200));
    }
}
