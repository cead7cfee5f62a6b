use super::{ServerIdentity, ServerPins};
use haft_core::Digest;
use std::error::Error;
use std::sync::Arc;

/// Keeps which tools of which servers were accepted.
///
/// Its methods may block, for a file and for the lock on it, and are called where that is allowed.
///
/// ```
/// use haft_mcp::{MemoryPins, PinStore as _, ServerConfig, ServerIdentity, ServerProgram, Transport};
///
/// let time = ServerConfig::new("time".parse()?, Transport::Stdio(ServerProgram::new("uvx", ["mcp-server-time"])));
/// let identity = ServerIdentity::of(&time);
/// let (pins, shown) = (MemoryPins::default(), haft_core::Digest::of(&"what it says of itself".into()));
/// assert!(!pins.accepts(&identity, "now", shown)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait PinStore: Send + Sync + 'static {
    /// Reads what is kept of a server; `None` if it was never met.
    ///
    /// # Errors
    ///
    /// When it cannot be read: nothing of the server counts as accepted then.
    fn read(&self, server: &ServerIdentity) -> Result<Option<ServerPins>, PinError>;

    /// Changes what is kept of a server, as one step among all who use the store; it begins empty.
    ///
    /// # Errors
    ///
    /// When it cannot be read or kept: it is as before then.
    fn change(
        &self,
        server: &ServerIdentity,
        change: &mut dyn FnMut(&mut ServerPins),
    ) -> Result<(), PinError>;

    /// Tells whether a tool is accepted as it is; it is asked before each call, so it should cost little while nothing changes.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), which it uses unless it is implemented otherwise.
    fn accepts(&self, server: &ServerIdentity, tool: &str, digest: Digest) -> Result<bool, PinError> {
        Ok(self.read(server)?.is_some_and(|pins| pins.accepts(tool, digest)))
    }

    /// Accepts a tool that waits, if it still is what a person was shown; tells whether it was.
    ///
    /// # Errors
    ///
    /// As for [`change`](Self::change).
    fn accept(&self, server: &ServerIdentity, tool: &str, shown: Digest) -> Result<bool, PinError> {
        let mut accepted = false;
        self.change(server, &mut |pins| accepted = pins.accept(tool, shown))?;
        Ok(accepted)
    }

    /// Accepts nothing of a server any more, even where what was accepted cannot be read; it counts as met from then on.
    ///
    /// # Errors
    ///
    /// When that cannot be kept.
    fn reject_all(&self, server: &ServerIdentity) -> Result<(), PinError> {
        self.change(server, &mut ServerPins::reject_all)
    }
}

impl<S: PinStore + ?Sized> PinStore for Arc<S> {
    fn read(&self, server: &ServerIdentity) -> Result<Option<ServerPins>, PinError> {
        (**self).read(server)
    }

    fn change(
        &self,
        server: &ServerIdentity,
        change: &mut dyn FnMut(&mut ServerPins),
    ) -> Result<(), PinError> {
        (**self).change(server, change)
    }

    fn accepts(&self, server: &ServerIdentity, tool: &str, digest: Digest) -> Result<bool, PinError> {
        (**self).accepts(server, tool, digest)
    }

    fn accept(&self, server: &ServerIdentity, tool: &str, shown: Digest) -> Result<bool, PinError> {
        (**self).accept(server, tool, shown)
    }

    fn reject_all(&self, server: &ServerIdentity) -> Result<(), PinError> {
        (**self).reject_all(server)
    }
}

/// Says that what was accepted cannot be read or kept.
///
/// ```
/// use haft_mcp::PinError;
/// use std::error::Error as _;
///
/// let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
/// let error = PinError::new("cannot keep what was accepted").with_source(full);
/// assert_eq!(error.to_string(), "cannot keep what was accepted");
/// assert!(error.source().is_some());
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct PinError {
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl PinError {
    /// Says what was attempted, on what.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// Adds the cause.
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}
