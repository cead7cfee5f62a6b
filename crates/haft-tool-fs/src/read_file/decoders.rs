//! What is read of files that are no plain text, as far as the crate is built for it.

#[cfg(feature = "images")]
pub(super) use super::image::answer as image;
#[cfg(not(feature = "images"))]
pub(super) use no_images::answer as image;

#[cfg(all(feature = "pdf", not(feature = "notebooks")))]
pub(super) use super::pdf::answer as document;
#[cfg(all(feature = "notebooks", feature = "pdf"))]
pub(super) use both::document;
#[cfg(not(any(feature = "notebooks", feature = "pdf")))]
pub(super) use neither::document;
#[cfg(all(feature = "notebooks", not(feature = "pdf")))]
pub(super) use notebooks::document;

#[cfg(not(feature = "images"))]
mod no_images {
    use crate::read_file::ReadLimits;
    use crate::read_file::answer::Answer;
    use haft_workdir::{Workdir, WorkdirPath};

    /// Answers for no image.
    pub(crate) fn answer(
        _: &Workdir,
        _: &WorkdirPath,
        _: &[u8],
        _: ReadLimits,
    ) -> Option<Result<Answer, String>> {
        None
    }
}

#[cfg(all(feature = "notebooks", feature = "pdf"))]
mod both {
    use crate::read_file::answer::Answer;
    use crate::read_file::slice::Wanted;
    use crate::read_file::{notebook, pdf};
    use haft_core::ToolError;
    use haft_workdir::{Workdir, WorkdirPath};
    use tokio_util::sync::CancellationToken;

    /// Answers for notebooks and PDF documents.
    pub(crate) fn document(
        workdir: &Workdir,
        path: &WorkdirPath,
        head: &[u8],
        wanted: Wanted,
        stop: &CancellationToken,
    ) -> Option<Result<Answer, ToolError>> {
        notebook::answer(workdir, path, wanted).or_else(|| pdf::answer(workdir, path, head, wanted, stop))
    }
}

#[cfg(all(feature = "notebooks", not(feature = "pdf")))]
mod notebooks {
    use crate::read_file::answer::Answer;
    use crate::read_file::notebook;
    use crate::read_file::slice::Wanted;
    use haft_core::ToolError;
    use haft_workdir::{Workdir, WorkdirPath};
    use tokio_util::sync::CancellationToken;

    /// Answers for notebooks.
    pub(crate) fn document(
        workdir: &Workdir,
        path: &WorkdirPath,
        _: &[u8],
        wanted: Wanted,
        _: &CancellationToken,
    ) -> Option<Result<Answer, ToolError>> {
        notebook::answer(workdir, path, wanted)
    }
}

#[cfg(not(any(feature = "notebooks", feature = "pdf")))]
mod neither {
    use crate::read_file::answer::Answer;
    use crate::read_file::slice::Wanted;
    use haft_core::ToolError;
    use haft_workdir::{Workdir, WorkdirPath};
    use tokio_util::sync::CancellationToken;

    /// Answers for no file.
    pub(crate) fn document(
        _: &Workdir,
        _: &WorkdirPath,
        _: &[u8],
        _: Wanted,
        _: &CancellationToken,
    ) -> Option<Result<Answer, ToolError>> {
        None
    }
}
