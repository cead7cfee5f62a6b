use std::error::Error;
use std::iter;

/// Writes an error with all that it comes from, from the outermost to the first.
///
/// It is for hosts: a cause may name paths and hosts, which is nothing for a model.
///
/// ```
/// use haft_core::{ToolError, with_causes};
///
/// let cause = std::io::Error::other("the disk is full");
/// let error = ToolError::failed("the file was not written").with_source(cause);
/// assert_eq!(with_causes(&error), "the file was not written: the disk is full");
/// ```
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    for cause in iter::successors(error.source(), |cause| Error::source(*cause)) {
        text.push_str(": ");
        text.push_str(&cause.to_string());
    }
    text
}
