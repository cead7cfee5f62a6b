use crate::words::words;
use std::collections::HashMap;

/// Holds how often each word of a text occurs.
pub struct Tally {
    counts: HashMap<String, usize>,
}

impl Tally {
    /// Counts the words of a text.
    pub fn of(text: &str) -> Self {
        let mut counts = HashMap::new();
        for word in words(text) {
            *counts.entry(word).or_insert(0) += 1;
        }
        Self { counts }
    }

    /// Tells how often a word occurs, in whatever case.
    pub fn count(&self, word: &str) -> usize {
        self.counts.get(word).copied().unwrap_or(0)
    }

    /// Gives the most frequent words, so many of them at most; those that are equally frequent in the order of the alphabet.
    pub fn top(&self, most: usize) -> Vec<(&str, usize)> {
        let mut top: Vec<_> = self.counts.iter().map(|(word, count)| (word.as_str(), *count)).collect();
        top.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        top.truncate(most);
        top
    }
}
