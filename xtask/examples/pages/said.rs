//! What of the texts in a source is said to somebody, and not a name, a pattern or a part of another language.

/// How the command paints a part of a text.
const STYLES: [&str; 7] = ["ASKS", "BAD", "ERROR", "GOOD", "NAME", "PLACE", "QUIET"];

/// What no sentence holds: parts of headers, of SQL and of profiles.
const OF_MACHINES: [&str; 9] =
    [";q=", "charset=", "default-src", "form-data;", "search_path=", "SELECT ", "DELETE FROM ", "?1", "$1"];

/// How texts begin that another program reads, or that are said as a library says them.
const BEGINNINGS: [&str; 18] = [
    "#head, ",
    "* -text ",
    "*** End of File",
    "[[test]]",
    "[core]",
    "[gc]",
    "Binary files ",
    "CASE WHEN ",
    "CREATE ",
    "Encounter an error when ",
    "INSERT ",
    "UPDATE ",
    "deleted file mode ",
    "git config ",
    "new file mode ",
    "old mode ",
    "rename from ",
    "similarity index ",
];

/// From this number of lines on, a text is a file or a page of its own.
const MOST_LINES: usize = 4;

/// Gives a text on one line if it is said.
///
/// What is told beyond doubt has two words; what might be said has three, since labels and names have fewer.
pub(crate) fn text(written: &str, is_told: bool) -> Option<String> {
    let is_odd = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    if written.lines().count() > MOST_LINES || written.contains(is_odd) {
        return None;
    }
    let text = unpainted(written).split_whitespace().collect::<Vec<_>>().join(" ");
    let is_said = if is_told { has_letters(&text) && text.contains(' ') } else { reads_as_said(&text) };
    is_said.then_some(text)
}

fn unpainted(written: &str) -> String {
    STYLES.iter().fold(written.to_owned(), |text, style| {
        text.replace(&format!("{{{style}}}"), "").replace(&format!("{{{style}:#}}"), "")
    })
}

/// Tells whether anything stands outside of what is only put in, which is said elsewhere.
fn has_letters(text: &str) -> bool {
    text.split(['{', '}']).step_by(2).any(|part| part.chars().any(char::is_alphabetic))
}

fn reads_as_said(text: &str) -> bool {
    let is_of_machines = OF_MACHINES.iter().any(|part| text.contains(part))
        || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning));
    let gaps = text.matches(' ').count();
    let is_list = text.matches(", ").count() == gaps;
    !is_of_machines && !is_list && words(text) >= 3
}

/// Counts the words that are neither put in nor quoted.
fn words(text: &str) -> usize {
    let (mut depth, mut is_quoted) = (0_usize, false);
    let outside = text.chars().filter(|character| {
        match character {
            '`' => is_quoted = !is_quoted,
            '{' if !is_quoted => depth += 1,
            '}' if !is_quoted => depth = depth.saturating_sub(1),
            _ => return depth == 0 && !is_quoted,
        }
        false
    });
    let outside: String = outside.collect();
    let is_word = |word: &&str| {
        let word = word.trim_matches(|character: char| !character.is_alphanumeric());
        !word.is_empty() && word.chars().all(|letter| letter.is_alphabetic() || matches!(letter, '\'' | '-'))
    };
    outside.split(' ').filter(is_word).count()
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn a_label_is_not_said_and_a_sentence_is() {
        let might = |written| text(written, false);
        let same = |written: &str| Some(written.to_owned());
        assert_eq!(might("it is gone"), same("it is gone"));
        assert_eq!(might("{NAME}{}{NAME:#} is\n  trusted already"), same("{} is trusted already"));
        assert_eq!(might("the {first} of `two words`"), None);
        assert_eq!(text("the {first} of `two words`", true), same("the {first} of `two words`"));
        assert_eq!(text("`{}`: {}", true), None);
        assert_eq!(might("id, run, call, tool"), None);
        assert_eq!(might("SELECT one thing FROM it"), None);
        assert_eq!(might("a page\nof\nmany\nlines\nthat is long"), None);
        assert_eq!(might("\r\u{1b}[K so it is drawn"), None);
    }
}
