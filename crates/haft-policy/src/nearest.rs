/// Finds the word that is most like what was written, if any is like it.
///
/// Likeness is the Damerau-Levenshtein similarity without regard to case and to `-` and `_`.
pub(crate) fn nearest<'a>(written: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Below this, two words have little more in common than some letters.
    const ALIKE: f64 = 0.5;
    let written = folded(written);
    let scored = words.into_iter().map(|word| {
        let likeness = strsim::normalized_damerau_levenshtein(&written, &folded(word));
        (likeness, word)
    });
    let likest = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
    likest.filter(|(likeness, _)| *likeness >= ALIKE).map(|(_, word)| word)
}

/// Says what to write in place of a word: the one that is most like it, or all there are.
pub(crate) fn instead<'a>(written: &str, words: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(word) = nearest(written, words.clone()) {
        return format!("write `{word}`");
    }
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [] => "remove it".to_owned(),
        [one] => format!("write {one}"),
        [start @ .., end] => format!("write {} or {end}", start.join(", ")),
    }
}

/// Cuts what somebody wrote to a size at which comparing stays cheap.
fn folded(word: &str) -> String {
    let letters = word.chars().filter(|character| !matches!(character, '-' | '_'));
    letters.take(60).flat_map(char::to_lowercase).collect()
}
