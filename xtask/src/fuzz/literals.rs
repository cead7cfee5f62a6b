//! The texts that source files write between quotes.

/// Lists the string literals of Rust source or TOML, with what their escapes stand for.
///
/// What it takes for one by mistake is only a worse seed, so it knows comments, characters and raw strings, and no more of the
/// grammar.
pub(super) fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '\'', '/', 'r', '#']) {
        let (before, from) = rest.split_at(at);
        let in_word = before.ends_with(|before: char| before.is_alphanumeric() || before == '_');
        rest = if let Some(comment) = from.strip_prefix("//") {
            comment.split_once('\n').map_or("", |(_, after)| after)
        } else if let Some((text, after)) = raw(from).filter(|_| !in_word || before.ends_with('b')) {
            found.push(text.to_owned());
            after
        } else if let Some(inner) = from.strip_prefix('"') {
            let Some((text, after)) = escaped(inner) else { return found };
            found.push(text);
            after
        } else {
            after_character(from)
        };
    }
    found
}

/// Splits a raw string off, with or without hashes.
fn raw(source: &str) -> Option<(&str, &str)> {
    let inner = source.strip_prefix('r')?;
    let text = inner.trim_start_matches('#');
    let hashes = &inner[..inner.len() - text.len()];
    text.strip_prefix('"')?.split_once(&format!("\"{hashes}"))
}

/// Reads a string up to the quote that ends it.
fn escaped(source: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut characters = source.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((text, &source[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                '0' => text.push('\0'),
                '\n' => {
                    // A line that goes on: the blanks at the start of the next are no part of it.
                    while characters.as_str().starts_with([' ', '\t']) {
                        characters.next();
                    }
                }
                'x' => {
                    let digits = characters.as_str().get(..2)?;
                    text.extend(u32::from_str_radix(digits, 16).ok().and_then(char::from_u32));
                    characters.nth(1);
                }
                'u' => {
                    let (digits, _) = characters.as_str().strip_prefix('{')?.split_once('}')?;
                    text.extend(u32::from_str_radix(digits, 16).ok().and_then(char::from_u32));
                    characters.nth(digits.len() + 1);
                }
                other => text.push(other),
            },
            other => text.push(other),
        }
    }
    None
}

/// Passes a character, a lifetime, or whatever else begins here.
fn after_character(source: &str) -> &str {
    let mut characters = source.chars();
    if characters.next() == Some('\'') {
        let quoted = characters.clone().next() == Some('"') && characters.clone().nth(1) == Some('\'');
        if quoted || source.starts_with("'\\\"'") {
            return &source[if quoted { 3 } else { 4 }..];
        }
    }
    characters.as_str()
}

#[cfg(test)]
mod tests {
    use super::literals;

    #[test]
    fn finds_what_is_quoted_and_nothing_of_comments() {
        let source = r##"
            // "a comment"
            let a = "one\n\"two\"\u{e9}\x41";
            let b = r#"raw "text" \n"#; let c = br"plain";
            let quote = '"'; let escaped = '\"'; fn f<'a>(x: &'a str) {}
            let long = "goes \
                        on";
            let r = for_r("x");
        "##;
        assert_eq!(literals(source), ["one\n\"two\"\u{e9}A", "raw \"text\" \\n", "plain", "goes on", "x"]);
    }

    #[test]
    fn what_does_not_end_is_left_out() {
        for source in ["\"open", "r#\"open", "\"\\", "\"\\u{110000}", "'", "r", "\"\\x4"] {
            assert_eq!(literals(source), Vec::<String>::new(), "{source}");
        }
    }
}
