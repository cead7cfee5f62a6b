use haft_tools_core::{listed, nearest};

/// Says what to write in place of a word: the one that is most like it, or all there are.
pub(crate) fn instead<'a>(written: &str, words: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(written, words.clone()).first() {
        Some(word) => format!("write `{word}`"),
        None => match listed(words, "or") {
            none if none.is_empty() => "remove it".to_owned(),
            words => format!("write {words}"),
        },
    }
}
