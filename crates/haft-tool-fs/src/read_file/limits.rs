/// Bounds what `read_file` gives at once.
///
/// Lines are bound besides: 2,000 of them, and 2,000 bytes of each.
///
/// ```
/// use haft_tool_fs::{ReadFile, ReadLimits};
/// use haft_tools_core::{LocalExecutor, Selector, ToolLimits, ToolRegistry};
///
/// # let workdir = haft_testkit::Tree::new().workdir();
/// let limits = ReadLimits { bytes: 64 * 1024, ..ReadLimits::default() };
/// let registry = ToolRegistry::new().with(ReadFile::new(workdir).limits(limits))?;
/// // The executor lets 32 KiB pass by default, and would cut the middle out of a longer reply.
/// let replies = ToolLimits { output_bytes: Some(limits.output_bytes()), ..ToolLimits::default() };
/// let executor =
///     LocalExecutor::builder(registry).tool_limits("read_file".parse::<Selector>()?, replies).build();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// The most bytes of numbered lines that a reply has, however many files are read; 30 KiB by default.
    ///
    /// It is as much as passes an executor with the limits of the default, which lets 32 KiB pass: what it cuts, it takes from the
    /// middle, and what the tool says about how to go on would not be true. Whoever gives more lets
    /// [`output_bytes`](Self::output_bytes) pass the executor. Less than 1 KiB counts as that.
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

/// How many bytes of a reply stand around the lines of files at most: their heads and feet.
const AROUND_BYTES: usize = 2 * 1024;

impl ReadLimits {
    /// How many bytes of a reply an executor has to let pass, so that none is cut.
    pub fn output_bytes(&self) -> usize {
        self.bytes.saturating_add(AROUND_BYTES)
    }
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            bytes: 30 * 1024,
            image_side: 1568,
            image_bytes: 3_500_000,
            image_file_bytes: 32 << 20,
            decoded_bytes: 256 << 20,
        }
    }
}
