//! What pages say: the texts between the tags of HTML, and those in the strings of their scripts.

use crate::said;

/// Attributes whose values somebody reads or hears.
const READ_ATTRIBUTES: [&str; 3] = ["aria-label", "placeholder", "title"];

/// Gives what a page says, but for its scripts and styles.
pub(crate) fn of_html(page: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut skipped: Option<&str> = None;
    for part in page.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or((part, ""));
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        match skipped {
            Some(open) if name.strip_prefix('/') == Some(open) => skipped = None,
            Some(_) => continue,
            None if name == "style" || name == "script" => skipped = Some(name),
            None => {}
        }
        for attribute in READ_ATTRIBUTES {
            let value =
                tag.split_once(&format!(" {attribute}=\"")).and_then(|(_, rest)| rest.split('"').next());
            texts.extend(value.and_then(|value| said::text(value, false)));
        }
        if skipped.is_none() {
            texts.extend(said::text(text, false));
        }
    }
    texts
}

/// Gives what the strings of a script say; what is put into one stands as `{}`.
pub(crate) fn of_script(script: &str) -> Vec<String> {
    let mut reading = Reading { rest: script, before: '\n', texts: Vec::new() };
    reading.code(None);
    reading.texts.iter().filter_map(|text| said::text(text, false)).collect()
}

struct Reading<'a> {
    rest: &'a str,
    /// The last character of code that is not blank: it says whether a slash divides.
    before: char,
    texts: Vec<String>,
}

impl Reading<'_> {
    fn next(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }

    /// Reads code, up to the end or to the brace that closes what it is put into.
    fn code(&mut self, closing: Option<char>) {
        let mut depth = 0_usize;
        while let Some(character) = self.next() {
            match character {
                '/' if self.rest.starts_with('/') => self.skip_to("\n"),
                '/' if self.rest.starts_with('*') => self.skip_to("*/"),
                '/' if !(self.before.is_alphanumeric() || matches!(self.before, ')' | ']' | '}' | '_')) => {
                    self.pattern();
                }
                '\'' | '"' | '`' => self.string(character),
                '{' => depth += 1,
                '}' if depth == 0 && closing.is_some() => return,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if !character.is_whitespace() {
                self.before = character;
            }
        }
    }

    fn skip_to(&mut self, end: &str) {
        self.rest = self.rest.split_once(end).map_or("", |(_, rest)| rest);
    }

    /// Skips a regular expression, in whose classes a slash stands for itself.
    fn pattern(&mut self) {
        let mut is_in_class = false;
        while let Some(character) = self.next() {
            match character {
                '\\' => drop(self.next()),
                '[' => is_in_class = true,
                ']' => is_in_class = false,
                '/' if !is_in_class => return,
                _ => {}
            }
        }
    }

    fn string(&mut self, quote: char) {
        let mut text = String::new();
        while let Some(character) = self.next() {
            match character {
                _ if character == quote => break,
                '\\' => text.extend(self.next()),
                '$' if quote == '`' && self.rest.starts_with('{') => {
                    self.next();
                    self.code(Some('}'));
                    text.push_str("{}");
                }
                _ => text.push(character),
            }
        }
        self.texts.push(text);
    }
}

#[cfg(test)]
mod tests {
    use super::{of_html, of_script};

    #[test]
    fn a_page_says_what_stands_between_its_tags() {
        let page = "<!doctype html>\n<style>a is not said</style>\n<p title=\"What it is for\">This is\nread by people.<b>No</b></p>\
                    <script>x < 'this is not said'</script>";
        assert_eq!(of_html(page), ["What it is for", "This is read by people."]);
    }

    #[test]
    fn a_script_says_what_stands_in_its_strings() {
        let script = "// it's no string\nconst a = b / 2 / c; x.replace(/['\"/]/g, '');\n\
                      said(`${n ? 'not one of these' : `none of ${them}`} of all that is`, \"that's all of it\");\n";
        assert_eq!(of_script(script), ["not one of these", "{} of all that is", "that's all of it"]);
    }
}
