use std::borrow::Cow;

/// Quotes a literal word if it has to be, so that it is read as the same word again.
///
/// A word that holds nothing special stays as it is, so that the common command reads as it was written.
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=,@%+^".contains(&byte);
    // `{}` is what find and xargs fill in; alone it expands to nothing else.
    if text == "{}"
        || text == "["
        || text == "]"
        || text == "!"
        || (!text.is_empty() && text.bytes().all(is_plain))
    {
        // What a `~` or `#` would need is not plain anyway.
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', r"'\''")))
}
