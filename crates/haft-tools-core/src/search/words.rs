/// The most characters of a word that count.
const MOST_CHARACTERS: usize = 40;

/// Cuts a text into words to search by: lower case, without a plural ending.
///
/// Words end where letters and digits do and at the humps of camel case; of scripts that are written without blanks, every
/// character is a word.
pub(super) fn words(text: &str, mut take: impl FnMut(&str)) {
    let mut word = String::new();
    let mut previous = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let ends_acronym = character.is_uppercase()
            && previous.is_uppercase()
            && characters.peek().is_some_and(|next| next.is_lowercase());
        let is_hump = character.is_uppercase() && (previous.is_lowercase() || previous.is_numeric());
        if !character.is_alphanumeric() || is_hump || ends_acronym || stands_alone(character) {
            end(&mut word, &mut take);
        }
        if character.is_alphanumeric() && word.chars().count() < MOST_CHARACTERS {
            word.extend(character.to_lowercase());
        }
        if stands_alone(character) {
            end(&mut word, &mut take);
        }
        previous = character;
    }
    end(&mut word, &mut take);
}

/// Writes a name or what may be one without regard to case and to what divides its words.
pub(super) fn folded(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn end(word: &mut String, take: &mut impl FnMut(&str)) {
    if !word.is_empty() {
        take(&singular(word));
        word.clear();
    }
}

/// Tells whether a character is of a script that is written without blanks.
fn stands_alone(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Takes an English plural ending off, by rule: `issues`, `queries` and `boxes` become `issue`, `query` and `box`.
fn singular(word: &str) -> std::borrow::Cow<'_, str> {
    if word.len() < 3 || !word.ends_with('s') {
        return word.into();
    }
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y").into();
    }
    for ending in ["ches", "shes", "sses", "xes", "zes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].into();
        }
    }
    if ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        return word.into();
    }
    word[..word.len() - 1].into()
}

#[cfg(test)]
mod tests {
    use super::words;

    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        words(text, |word| found.push(word.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn names_are_cut_at_every_kind_of_seam() {
        check("github__create_issue", &["github", "create", "issue"]);
        check("createPullRequest", &["create", "pull", "request"]);
        check("HTTPServer-status.v2", &["http", "server", "status", "v2"]);
        check("s3Upload", &["s3", "upload"]);
    }

    #[test]
    fn plurals_are_found_by_their_singular() {
        check("Issues queries boxes addresses", &["issue", "query", "box", "address"]);
        check("status is a bus; ids", &["status", "is", "a", "bus", "id"]);
    }

    #[test]
    fn every_script_is_cut_into_something() {
        check("créer un élève", &["créer", "un", "élève"]);
        check("文件 を読む", &["文", "件", "を", "読", "む"]);
        check("", &[]);
        check("--- \u{0} \u{202e}", &[]);
    }

    #[test]
    fn a_word_without_end_is_cut() {
        check(&"a".repeat(10_000), &["a".repeat(40).as_str()]);
    }
}
