use std::borrow::Cow;

/// One thing that a pattern for one name expects.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Token {
    /// This character.
    Char(char),
    /// Any one character.
    One,
    /// One of these characters, or one that is none of them.
    Class { negated: bool, ranges: Vec<(char, char)> },
    /// Any characters, also none.
    Star,
}

impl Token {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Char(expected) => *expected == character,
            Self::One => true,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&character)) != *negated
            }
            Self::Star => false,
        }
    }
}

/// A pattern for one name that has a `*`, `?` or `[..]` in it.
///
/// It works on characters, not bytes: a `?` takes the place of an `é` too.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct NameGlob {
    /// What every match starts with.
    head: Box<str>,
    middle: Box<[Token]>,
    /// What every match ends with.
    tail: Box<str>,
}

impl NameGlob {
    pub(super) fn new(tokens: &[Token]) -> Self {
        let is_fixed = |token: &&Token| matches!(token, Token::Char(_));
        let head = tokens.iter().take_while(is_fixed).count();
        let tail = tokens[head..].iter().rev().take_while(is_fixed).count();
        let (head, rest) = tokens.split_at(head);
        let (middle, tail) = rest.split_at(rest.len() - tail);
        Self { head: text(head), middle: middle.into(), tail: text(tail) }
    }

    pub(super) fn head(&self) -> &str {
        &self.head
    }

    pub(super) fn tail(&self) -> &str {
        &self.tail
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        let inner = name.strip_prefix(&*self.head).and_then(|rest| rest.strip_suffix(&*self.tail));
        match (inner, &*self.middle) {
            (None, _) => false,
            (Some(_), [Token::Star]) => true,
            (Some(inner), middle) => fits(middle, inner),
        }
    }

    /// Makes the pattern for folded names: it matches the folding of every name that this one matches, whatever the
    /// letter case of either.
    pub(super) fn folded(&self) -> Self {
        Self {
            head: fold(&self.head).into(),
            middle: self.middle.iter().map(folded).collect(),
            tail: fold(&self.tail).into(),
        }
    }
}

fn text(tokens: &[Token]) -> Box<str> {
    let characters = tokens.iter().filter_map(|token| match token {
        Token::Char(character) => Some(*character),
        _ => None,
    });
    characters.collect::<String>().into()
}

/// Matches with the one way back that is needed: the latest `*` takes one character more.
fn fits(tokens: &[Token], text: &str) -> bool {
    let (mut at, mut rest) = (0, text);
    let mut retry: Option<(usize, &str)> = None;
    loop {
        if tokens.get(at) == Some(&Token::Star) {
            at += 1;
            retry = Some((at, rest));
            continue;
        }
        let mut characters = rest.chars();
        match (tokens.get(at), characters.next()) {
            (None, None) => return true,
            (Some(token), Some(character)) if token.takes(character) => {
                (at, rest) = (at + 1, characters.as_str());
                continue;
            }
            _ => {}
        }
        let Some((after, from)) = retry else { return false };
        let mut characters = from.chars();
        if characters.next().is_none() {
            return false;
        }
        (at, rest) = (after, characters.as_str());
        retry = Some((after, rest));
    }
}

/// Letter case is lost in a folded name, so a class takes what it takes in either case. One that says what is *not*
/// meant, or names letters whose other case is hard to tell, takes any character.
fn folded(token: &Token) -> Token {
    match token {
        Token::Char(character) => Token::Char(fold_character(*character)),
        Token::Class { negated: false, ranges } if ranges.iter().all(|(_, last)| last.is_ascii()) => {
            let characters = ('\0'..='\u{7f}').filter(|character| token.takes(*character));
            let ranges = characters.map(|character| character.to_ascii_lowercase());
            Token::Class { negated: false, ranges: ranges.map(|character| (character, character)).collect() }
        }
        Token::Class { .. } => Token::One,
        Token::One | Token::Star => token.clone(),
    }
}

/// Writes a name as every name that differs from it in letter case alone is written.
pub(super) fn fold(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().map(fold_character).collect())
}

/// Folds one character into one: through upper case, where letters such as `ſ` and `s` meet. Where a case has several
/// characters, as that of `ß` has, the letter stays.
fn fold_character(character: char) -> char {
    fn only(mut characters: impl Iterator<Item = char>, or: char) -> char {
        characters.next().filter(|_| characters.next().is_none()).unwrap_or(or)
    }
    let lower = only(character.to_lowercase(), character);
    let upper = only(lower.to_uppercase(), lower);
    only(upper.to_lowercase(), upper)
}

#[cfg(test)]
mod tests {
    use super::super::parse::tokens_of_name;
    use super::*;
    use globset::GlobBuilder;
    use proptest::prelude::*;

    fn check(pattern: &str, matching: &[&str], other: &[&str]) {
        let glob = NameGlob::new(&tokens_of_name(pattern));
        let names = matching.iter().chain(other).copied();
        assert_eq!(names.filter(|name| glob.matches(name)).collect::<Vec<_>>(), matching, "{pattern}");
    }

    #[test]
    fn stars_questions_and_classes_take_characters() {
        check("*.rs", &["a.rs", ".rs", "a.b.rs"], &["a.rsx", "rs"]);
        check("a*b*c", &["abc", "aXbYbc", "abbc"], &["ab", "acb"]);
        check("aba*aba", &["abaaba", "abaXaba"], &["aba", "ababa"]);
        check("?.txt", &["a.txt", "é.txt"], &[".txt", "ab.txt"]);
        check("[a-cx]?[!0-9]", &["bxy", "xéé"], &["bx1", "dxy", "bx"]);
        check("[]]*", &["]", "]a"], &["["]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn agrees_with_globset(pattern in r"([abAB*?.]|\[[!]?[aAb][bA]?\]){0,8}", name in "[abAB.]{1,8}") {
            // Two stars at a border mean directories there.
            let pattern = pattern.replace("**", "*a*").replace("**", "*a*");
            let glob = GlobBuilder::new(&pattern).literal_separator(true).build().unwrap().compile_matcher();
            let own = NameGlob::new(&tokens_of_name(&pattern));
            prop_assert_eq!(own.matches(&name), glob.is_match(&name));
        }

        #[test]
        fn the_folded_pattern_matches_whatever_differs_in_case(
            pattern in r"([aAzZéÉſK*?.]|\[[!]?[aZé]\]|\[A-z\]){0,6}",
            name in r"[aAzZéÉſK._]{0,6}",
        ) {
            let glob = NameGlob::new(&tokens_of_name(&pattern));
            let folded = glob.folded();
            let spellings = [name.clone(), name.to_lowercase(), name.to_uppercase(), fold(&name).into_owned()];
            if spellings.iter().any(|name| glob.matches(name)) {
                prop_assert!(spellings.iter().all(|name| folded.matches(&fold(name))));
            }
        }
    }
}
