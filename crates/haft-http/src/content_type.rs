use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Is what an answer says of its body (RFC 9110, section 8.3), and reads the body as a text accordingly.
///
/// ```
/// use haft_http::ContentType;
///
/// let said = ContentType::parse("Text/HTML; Charset=\"ISO-8859-1\"");
/// assert_eq!((said.essence(), said.charset()), ("text/html", Some("ISO-8859-1")));
/// assert_eq!(said.text(vec![b'c', b'a', b'f', 0xe9]), "café");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContentType {
    essence: String,
    charset: Option<String>,
}

impl ContentType {
    /// Reads the value of a header; an empty one says nothing, and what cannot be read of one is left out.
    pub fn parse(value: &str) -> Self {
        let mut parts = value.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|parameter| {
            let (key, value) = parameter.split_once('=')?;
            let value = value.trim().trim_matches('"');
            key.trim().eq_ignore_ascii_case("charset").then(|| value.to_owned())
        });
        Self { essence, charset }
    }

    /// The type without its parameters, in lower case, such as `text/html`; empty if nothing is said.
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// The encoding that is named, as it is named.
    pub fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }

    /// Whether it says that it is JSON, or is written in it.
    pub fn is_json(&self) -> bool {
        matches!(self.essence(), "application/json" | "text/json") || self.essence.ends_with("+json")
    }

    /// Reads a text in the encoding that is named, or that it plainly is in: by its mark, or UTF-8, or else Windows-1252, as
    /// browsers do.
    ///
    /// What cannot be read becomes `U+FFFD`; a character of UTF-8 that is cut at the end is left out.
    pub fn text(&self, bytes: Vec<u8>) -> String {
        let named = self.charset().and_then(|label| Encoding::for_label(label.as_bytes()));
        let encoding = match named {
            Some(encoding) if encoding != UTF_8 => encoding,
            named => match unmarked(bytes) {
                Ok(text) => return text,
                Err(bytes) => return named.unwrap_or(WINDOWS_1252).decode(&bytes).0.into_owned(),
            },
        };
        encoding.decode(&bytes).0.into_owned()
    }

    /// Takes bytes of which nothing is said for a text, if they are one: in the encoding of their mark, or UTF-8, without the
    /// control characters that texts have not.
    ///
    /// # Errors
    ///
    /// The bytes, where they are no text; or as UTF-8, where they are one with such characters.
    pub fn plain_text(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
        let text = match Encoding::for_bom(&bytes) {
            Some((encoding, _)) => encoding.decode(&bytes).0.into_owned(),
            None => unmarked(bytes)?,
        };
        let is_odd = |character: char| {
            character.is_ascii_control() && !matches!(character, '\n' | '\r' | '\t' | '\u{c}' | '\u{1b}')
        };
        if text.contains(is_odd) { Err(text.into_bytes()) } else { Ok(text) }
    }
}

/// Takes bytes for the UTF-8 that they are, without a copy; a character that is cut at the end is left out.
fn unmarked(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    if Encoding::for_bom(&bytes).is_some() {
        return Err(bytes);
    }
    String::from_utf8(bytes).or_else(|error| {
        let is_cut = error.utf8_error().error_len().is_none();
        let valid = error.utf8_error().valid_up_to();
        let mut bytes = error.into_bytes();
        if !is_cut {
            return Err(bytes);
        }
        bytes.truncate(valid);
        String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, bytes: &[u8], expected: &str) {
        assert_eq!(ContentType::parse(said).text(bytes.to_vec()), expected, "{said}");
    }

    #[test]
    fn a_text_is_read_in_the_encoding_that_is_named_or_plain() {
        check("text/plain; charset=latin1", b"caf\xe9", "café");
        check("text/plain; charset=utf-8", "café".as_bytes(), "café");
        check("text/plain", "café".as_bytes(), "café");
        check("", b"caf\xe9 au lait", "café au lait");
        check("text/plain; charset=nonsense", "é".as_bytes(), "é");
        check("text/plain", b"\xff\xfec\0a\0f\0\xe9\0", "café");
        check("text/plain", &"né".as_bytes()[..2], "n");
        check("text/plain; charset=utf-8", b"a\xffb", "a\u{fffd}b");
    }

    #[test]
    fn only_texts_are_taken_for_texts() {
        assert_eq!(ContentType::plain_text(b"a\tb\r\n".to_vec()), Ok("a\tb\r\n".to_owned()));
        assert_eq!(ContentType::plain_text(b"a\0b".to_vec()), Err(b"a\0b".to_vec()));
        assert_eq!(ContentType::plain_text(b"\xe9 ".to_vec()), Err(b"\xe9 ".to_vec()));
    }

    #[test]
    fn json_is_known_by_its_type() {
        for (said, expected) in [
            ("application/problem+json; charset=utf-8", true),
            ("APPLICATION/JSON", true),
            ("text/html", false),
        ] {
            assert_eq!(ContentType::parse(said).is_json(), expected, "{said}");
        }
    }
}
