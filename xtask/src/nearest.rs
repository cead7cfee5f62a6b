//! The nearest known word to one that was not understood.

/// Finds the candidate with the fewest edits to `word`, unless even that one looks nothing like it.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(edits, candidate)| *edits <= candidate.chars().count().max(3) / 2)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Counts the insertions, removals and replacements between two words (Levenshtein's distance).
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, from) in left.chars().enumerate() {
        let mut diagonal = line;
        let mut before = line + 1;
        for (to, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = *cell;
            *cell = replaced.min(before + 1).min(diagonal + 1);
            before = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn counts_edits() {
        let pairs =
            [("", ""), ("", "abc"), ("abc", ""), ("kitten", "sitting"), ("same", "same"), ("ab", "ba")];
        assert_eq!(pairs.map(|(left, right)| distance(left, right)), [0, 3, 3, 3, 0, 2]);
    }

    #[test]
    fn finds_the_nearest_word_or_none() {
        let known = ["ci", "layers", "sizes", "features"];
        assert_eq!(
            ["layer", "sise", "feature", "c", "zzzzzzzz", ""].map(|word| nearest(word, known)),
            [Some("layers"), Some("sizes"), Some("features"), Some("ci"), None, None]
        );
    }
}
