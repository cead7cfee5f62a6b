use std::fmt;

/// How much of a path an error text repeats, in characters; enough for any path a person would write.
const SHOWN_CHARACTERS: usize = 200;

/// Writes a path or a file name so that it can stand in a text: bounded, on one line, control characters escaped.
///
/// At most 200 characters are shown. For the texts of errors and tools, whose readers a hostile file name must not mislead.
///
/// ```
/// use haft_workdir::Shown;
///
/// assert_eq!(Shown::new("a\nb.rs").to_string(), r"a\nb.rs");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a>(&'a str);

impl<'a> Shown<'a> {
    /// Shows this text.
    pub fn new(text: &'a str) -> Self {
        Self(text)
    }
}

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
        assert_eq!(Shown::new(path).to_string(), expected);
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
