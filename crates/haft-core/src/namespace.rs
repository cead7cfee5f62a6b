/// The most characters of a namespace: names of tools hold it, and have 64 in all.
const MOST: usize = 32;

/// Makes the namespace that is most like a text: the text itself if it is one, and nothing if it has no letter, no digit and no `-`.
///
/// A namespace is what stands ahead of `__` in the names of the tools of one server or document, and what selectors call it by:
/// at most 32 letters, digits, `-` and `_`, where no two `_` stand together and none at an end.
///
/// ```
/// use haft_core::namespace;
///
/// assert_eq!(namespace("my-server_2"), "my-server_2");
/// assert_eq!(namespace("__a b/c"), "a_b_c");
/// assert_eq!(namespace("é"), "");
/// ```
pub fn namespace(text: &str) -> String {
    let mut name = String::new();
    for character in text.chars() {
        let allowed = character.is_ascii_alphanumeric() || character == '-';
        match if allowed { character } else { '_' } {
            '_' if name.is_empty() || name.ends_with('_') => {}
            character => name.push(character),
        }
        if name.len() == MOST {
            break;
        }
    }
    name.truncate(name.trim_end_matches('_').len());
    name
}
