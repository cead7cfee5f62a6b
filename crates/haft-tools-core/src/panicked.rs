use std::any::Any;

/// The most characters that are repeated of what a panic says.
const MOST_CHARACTERS: usize = 300;

/// Reads what a panic says, cut to what is worth repeating.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message");
    text.chars().take(MOST_CHARACTERS).collect()
}
