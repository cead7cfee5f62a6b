//! What a model is told about a reply besides it.

/// Says that a text was cut.
pub(super) fn cut(bytes: usize) -> String {
    format!(
        "\n\n[this is cut: the API goes on after these {bytes} bytes; ask for less at once, such as a page, fewer fields or a \
         narrower search]"
    )
}
