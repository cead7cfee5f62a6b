/// Bounds what `read_file` gives at once.
///
/// Lines are bound besides: 2,000 of them, and 2,000 bytes of each.
///
/// ```
/// use haft_tool_fs::{ReadFile, ReadLimits};
///
/// # let workdir = haft_testkit::Tree::new().workdir();
/// let read_file = ReadFile::new(workdir).limits(ReadLimits { bytes: 16 * 1024, ..ReadLimits::default() });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// The most bytes of numbered lines that a reply has, however many files are read; 64 KiB by default.
    ///
    /// It is less where the [executor](haft_tools_core::Limits::bounded_output_bytes) lets less pass: what is left out is never
    /// the middle, and the reply says how to go on. Less than 1 KiB counts as that.
    pub bytes: usize,
    /// The most pixels that an image which is shown has on its longer side; 1,568 by default.
    ///
    /// Anthropic's models scale what has more down to this themselves.
    pub image_side: u32,
    /// The most bytes that an image which is shown has; 3,500,000 by default.
    ///
    /// With base64 that is below the 5 MB that Anthropic's API takes of one image.
    pub image_bytes: usize,
    /// The most bytes that the file of an image has to be looked at, since it is held in memory; 32 MiB by default.
    pub image_file_bytes: u64,
    /// The most bytes that an image may take once it is decoded; 256 MiB by default.
    pub decoded_bytes: u64,
}

/// How few bytes of one of several files are given.
pub(super) const FEWEST_BYTES: usize = 1024;

/// How many bytes of a reply stand around the lines of files at most: their heads and feet.
const AROUND_BYTES: usize = 2 * 1024;

/// How many lines a reply has that is let pass by default, with what stands around the lines of one file.
const USUAL_LINES: u64 = 2000 + AROUND_LINES;

/// How many lines of a reply stand around those of a file at most.
const AROUND_LINES: u64 = 5;

/// How much of a reply the lines of files may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) bytes: usize,
    /// With what stands around them.
    lines: u64,
}

impl Room {
    /// How much an executor lets pass that lets so many lines of a reply pass.
    pub(super) fn of(limits: ReadLimits, output_lines: usize) -> Self {
        // What is over the default by a few lines is let pass.
        let lines = if output_lines >= 2000 { USUAL_LINES } else { output_lines as u64 };
        Self { bytes: limits.bytes, lines }
    }

    /// How much of it the next of so many files may have, when this text was written of it.
    pub(super) fn of_next(self, files: usize, written: &str) -> Self {
        let files = files.max(1);
        let bytes = self.bytes.saturating_sub(written.len()) / files;
        let lines = self.lines.saturating_sub(count(written.as_bytes())) / files as u64;
        Self { bytes: bytes.max(FEWEST_BYTES), lines }
    }

    /// How many lines of a file there is room for; at least one.
    pub(super) fn lines(self) -> u64 {
        self.lines.saturating_sub(AROUND_LINES).max(1)
    }
}

/// Counts ends of lines.
fn count(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

impl ReadLimits {
    /// The same where an executor lets so many bytes of a reply pass.
    pub(super) fn within(self, output_bytes: usize) -> Self {
        Self { bytes: self.bytes.min(output_bytes.saturating_sub(AROUND_BYTES)).max(FEWEST_BYTES), ..self }
    }
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            bytes: 64 * 1024,
            image_side: 1568,
            image_bytes: 3_500_000,
            image_file_bytes: 32 << 20,
            decoded_bytes: 256 << 20,
        }
    }
}
