//! What a model reads of hooks.

use haft_core::{ReplyStatus, Visible};

/// How much of a hook's reason the model is told, in bytes.
const MOST_REASON: usize = 4 * 1024;

/// Says that a hook had a call not run.
pub(crate) fn denied(stderr: &str) -> String {
    match reason(stderr) {
        Some(reason) => format!("the call was blocked and did not run: {reason}"),
        None => "the call was blocked and did not run, and no reason was given; do not repeat it, do something else, \
                 or ask the user"
            .to_owned(),
    }
}

/// Says that a hook had the answer of a call refused, which ended like this.
pub(crate) fn refused(status: ReplyStatus, stderr: &str) -> String {
    let result = result_of(status);
    match reason(stderr) {
        Some(reason) => format!("{result} was refused: {reason}"),
        None => {
            format!("{result} was refused, and no reason was given; do not repeat the call, ask the user")
        }
    }
}

/// Says that a call did not run because a hook failed.
pub(crate) fn unchecked() -> String {
    "the call did not run, because a check that has to pass first could not be made; that is no fault of the call; ask \
     the user to look at the hooks"
        .to_owned()
}

/// Says that a call did not run because hooks replaced its input more often than that.
pub(crate) fn endless(most_replacements: u32) -> String {
    format!(
        "the call did not run, because checks that have to pass first changed its arguments more than \
         {most_replacements} times and came to no end; that is no fault of the call; ask the user to look at the hooks"
    )
}

/// Says that the answer of a call, which ended like this, is withheld because a hook failed.
pub(crate) fn withheld(status: ReplyStatus) -> String {
    let result = result_of(status);
    format!(
        "{result} is withheld, because a check of it could not be made; do not repeat the call, ask the user to look at \
         the hooks"
    )
}

/// Names the result of a call, and says whether it did anything.
fn result_of(status: ReplyStatus) -> &'static str {
    match status {
        ReplyStatus::Denied | ReplyStatus::Skipped => "the result of the call",
        _ => "the call did run and what it did stays done, but its result",
    }
}

/// Takes the reason out of what a hook wrote to stderr.
fn reason(stderr: &str) -> Option<String> {
    let mut reason = Visible::new(stderr.trim()).to_string();
    if reason.len() > MOST_REASON {
        reason.truncate(reason.floor_char_boundary(MOST_REASON));
        reason.push_str(" […]");
    }
    (!reason.is_empty()).then_some(reason)
}
