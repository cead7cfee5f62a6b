use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

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

/// Does what others wrote, such as the end of a value of theirs, so that its panic disturbs nobody else.
///
/// Nothing that the work uses may be looked at again after a panic, but through shared references.
pub(crate) fn apart(work: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
        discard(payload);
    }
}

/// Drops what a panic carried, which can itself panic when it is dropped.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Whoever does this twice would do it for ever.
        std::mem::forget(again);
    }
}
