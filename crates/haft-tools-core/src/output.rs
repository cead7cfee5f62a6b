mod local;
mod read_output;
mod spilled;

pub use local::{LocalOutputs, Retention};
pub(crate) use read_output::READ_OUTPUT;
pub use read_output::ReadOutput;

use crate::CallScope;
use async_trait::async_trait;
use bytes::Bytes;
use haft_core::{CallId, OutputId};
use std::error::Error;
use std::io;
use std::ops::Range;

/// Keeps outputs that a reply could not hold, so that what was cut is not lost.
///
/// An output is read by the run it was stored for, by the run that started that run, and by the runs that it started
/// itself: what a run may be shown by those it speaks with. To all others it does not exist. That is decided by
/// [`CallScope::run`] and [`CallScope::parent_run`], so siblings do not read each other's outputs.
///
/// What is stored was redacted before, and is text. [`LocalOutputs`] keeps it in memory and files; a host that wants it
/// elsewhere implements this trait.
///
/// ```
/// use haft_tools_core::{CallScope, LocalOutputs, OutputStore as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (outputs, scope) = (LocalOutputs::in_memory(), CallScope::new("run-1".parse()?));
/// let name = outputs.store(&scope, &"c1".parse()?, "one\ntwo\n".to_owned()).await?;
/// assert_eq!(outputs.read(&scope, &name, 4..7).await?.bytes.as_ref(), b"two");
/// // To another run it does not exist.
/// let other = CallScope::new("run-2".parse()?);
/// assert!(outputs.read(&other, &name, 0..3).await.is_err());
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait OutputStore: Send + Sync + 'static {
    /// Stores the whole text of a call's output and names it.
    ///
    /// # Errors
    ///
    /// When the store does not keep an output of this size, or cannot write it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stores nothing, or an output that nobody knows the name of, which still counts as kept.
    async fn store(&self, scope: &CallScope, call: &CallId, text: String) -> Result<OutputId, OutputError>;

    /// Reads a part of an output: the bytes of the range, as far as there are any.
    ///
    /// The range is of bytes and may begin and end within a character. It should be small: what is read is in memory.
    ///
    /// # Errors
    ///
    /// When there is no such output for this run, when it is no longer kept, or when it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Reading changes nothing, so the future can be dropped.
    async fn read(
        &self,
        scope: &CallScope,
        output: &OutputId,
        range: Range<u64>,
    ) -> Result<OutputChunk, OutputError>;
}

/// Holds a part of a stored output, and says how large the whole is.
///
/// ```
/// use haft_tools_core::{CallScope, LocalOutputs, OutputStore as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (outputs, scope) = (LocalOutputs::in_memory(), CallScope::new("run-1".parse()?));
/// let name = outputs.store(&scope, &"c1".parse()?, "one\ntwo\n".to_owned()).await?;
/// let chunk = outputs.read(&scope, &name, 0..3).await?;
/// assert_eq!((chunk.bytes.as_ref(), chunk.total_bytes, chunk.total_lines), (b"one".as_slice(), 8, 2));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputChunk {
    /// The bytes that were asked for; fewer at the end of the output, none behind it.
    pub bytes: Bytes,
    /// How many bytes the whole output has.
    pub total_bytes: u64,
    /// How many lines the whole output has; one without a newline at its end counts, too.
    pub total_lines: u64,
}

/// Says why an output was not stored or cannot be read.
///
/// ```
/// use haft_core::OutputId;
/// use haft_tools_core::{CallScope, LocalOutputs, OutputError, OutputStore as _};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let name: OutputId = "run-1/c1".parse()?;
/// let read = LocalOutputs::in_memory().read(&CallScope::new("run-1".parse()?), &name, 0..3).await;
/// assert!(matches!(read, Err(OutputError::Unknown { output }) if output == name));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// There is no such output, or it is of a run that this one has nothing to do with.
    #[error("there is no stored output `{output}` for this run")]
    Unknown {
        /// The name that was asked for.
        output: OutputId,
    },
    /// The output was there and was removed to keep the store within its bounds.
    #[error("the stored output `{output}` is no longer kept")]
    Evicted {
        /// The name that was asked for.
        output: OutputId,
    },
    /// The output is more than the store keeps, or than it has room for while others are being written.
    #[error("there is no room for an output of {bytes} bytes in a store of {most} bytes")]
    NoRoom {
        /// Its size in bytes.
        bytes: u64,
        /// What the store keeps at most, in bytes.
        most: u64,
    },
    /// The place where outputs are kept cannot be used.
    #[error("cannot {action} a stored output")]
    Io {
        /// What was attempted: `write` or `read`.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// Anything else that keeps a store of the host's own from its work.
    #[error("the store of outputs failed")]
    Other {
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Counts lines; one without a newline at its end counts, too.
pub(crate) fn count_lines(text: &str) -> u64 {
    let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
    newlines + u64::from(!text.is_empty() && !text.ends_with('\n'))
}
