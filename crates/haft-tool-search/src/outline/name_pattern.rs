use crate::wording::Quoted;
use haft_core::ToolError;
use memchr::memmem::Finder;

/// The longest name accepted, in bytes.
const LONGEST: usize = 200;

/// What stands between a name and that of what it belongs to.
const SEPARATORS: [&str; 5] = ["::", "->", ".", "#", "/"];

/// A name, or a pattern for names in which `*` stands for any characters.
#[derive(Debug)]
pub(super) struct NamePattern {
    /// What the model wrote.
    pub(super) given: String,
    /// The part of it that is looked for.
    pub(super) text: String,
    /// The longest part that is as it is written, without which no text has such a name.
    needle: Finder<'static>,
}

impl NamePattern {
    /// Parses a model-given name.
    pub(super) fn parse(given: &str) -> Result<Self, ToolError> {
        let trimmed = given.trim().trim_end_matches("()");
        if trimmed.len() > LONGEST {
            let text = format!("`name` is longer than {LONGEST} bytes; write one name");
            return Err(ToolError::invalid_input(text));
        }
        let last = SEPARATORS.iter().fold(trimmed, |rest, separator| match rest.rsplit_once(separator) {
            Some((_, last)) if !last.is_empty() => last,
            _ => rest,
        });
        if last.contains(char::is_whitespace) {
            return Err(ToolError::invalid_input(format!(
                "`name` {} has a space; write one name, or search the text of files with `grep`",
                Quoted(given)
            )));
        }
        let needle = last.split('*').max_by_key(|part| part.len()).unwrap_or_default();
        if needle.is_empty() {
            let text = "`name` is empty; write a name such as `parse`, or a pattern such as `parse*`, or leave `name` out to \
                        see all symbols";
            return Err(ToolError::invalid_input(text));
        }
        let needle = Finder::new(needle).into_owned();
        Ok(Self { given: given.to_owned(), text: last.to_owned(), needle })
    }

    /// Tells whether something was written before the name that is not looked at.
    pub(super) fn is_qualified(&self) -> bool {
        self.given.trim().trim_end_matches("()") != self.text
    }

    /// Finds the places in a text around which there can be such a name.
    pub(super) fn places<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = usize> + use<'t, '_> {
        self.needle.find_iter(text)
    }

    /// Tells whether a name is meant. It takes time in proportion to both lengths at most.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        let pattern = self.text.as_bytes();
        let name = without_marks(name);
        let (mut at, mut of) = (0, 0);
        // Where to go on with the last `*` standing for one byte more.
        let mut retry = None;
        while at < name.len() {
            if pattern.get(of) == Some(&b'*') {
                of += 1;
                retry = Some((at + 1, of));
            } else if pattern.get(of) == Some(&name[at]) {
                at += 1;
                of += 1;
            } else if let Some((next, behind)) = retry {
                at = next;
                of = behind;
                retry = Some((next + 1, behind));
            } else {
                return false;
            }
        }
        pattern[of..].iter().all(|byte| *byte == b'*')
    }
}

/// Takes the quotes off a key, and the `#` off a private name.
pub(super) fn without_marks(name: &[u8]) -> &[u8] {
    match name {
        [first @ (b'"' | b'\'' | b'`'), inner @ .., last] if first == last => inner,
        [b'#', inner @ ..] => inner,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::NamePattern;
    use proptest::prelude::*;

    fn check(pattern: &str, name: &str, expected: bool) {
        let pattern = NamePattern::parse(pattern).unwrap();
        assert_eq!(pattern.matches(name.as_bytes()), expected, "{pattern:?} {name}");
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        check("parse", "parse", true);
        check("parse", "parse_all", false);
        check("parse*", "parse_all", true);
        check("*parse", "reparse", true);
        check("*a*b*", "xxaxxbxx", true);
        check("*a*b*", "ba", false);
        check("a*a", "a", false);
        check("über*", "übermut", true);
    }

    #[test]
    fn what_it_belongs_to_is_not_looked_at() {
        for given in [
            "Shape::area",
            "shape.area",
            "Shape#area",
            "shape->area",
            "shapes/Shape.area",
            "area()",
            " area ",
        ] {
            assert_eq!(NamePattern::parse(given).unwrap().text, "area", "{given}");
        }
        assert_eq!(NamePattern::parse("#area").unwrap().text, "area");
        assert!(NamePattern::parse("Shape::area").unwrap().is_qualified());
        assert!(!NamePattern::parse(" area()").unwrap().is_qualified());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn matches_as_a_regular_expression_does(pattern in "[ab*]{0,6}c[ab*]{0,6}", name in "[abc]{0,12}") {
            let expression = format!("^{}$", pattern.replace('*', ".*"));
            let expected = regex::Regex::new(&expression).unwrap().is_match(&name);
            prop_assert_eq!(NamePattern::parse(&pattern).unwrap().matches(name.as_bytes()), expected);
        }
    }
}
