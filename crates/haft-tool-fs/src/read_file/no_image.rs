//! Images where the crate is built without a decoder for them.

use super::answer::Answer;
use haft_workdir::{Workdir, WorkdirPath};

/// Answers for no image.
pub(super) fn answer(_: &Workdir, _: &WorkdirPath, _: &[u8]) -> Option<Result<Answer, String>> {
    None
}
