use super::{PinError, PinStore, ServerIdentity, ServerPins};
use haft_core::Digest;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Keeps what was accepted for as long as it lives.
///
/// ```
/// use haft_mcp::{MemoryPins, PinStore as _, ServerConfig, ServerIdentity, ServerProgram, Transport};
///
/// let time = ServerConfig::new("time".parse()?, Transport::Stdio(ServerProgram::new("uvx", ["mcp-server-time"])));
/// let pins = MemoryPins::default();
/// assert!(pins.read(&ServerIdentity::of(&time))?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryPins(Mutex<HashMap<ServerIdentity, ServerPins>>);

impl PinStore for MemoryPins {
    fn read(&self, server: &ServerIdentity) -> Result<Option<ServerPins>, PinError> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(server).cloned())
    }

    fn change(
        &self,
        server: &ServerIdentity,
        change: &mut dyn FnMut(&mut ServerPins),
    ) -> Result<(), PinError> {
        change(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(*server).or_default());
        Ok(())
    }

    fn accepts(&self, server: &ServerIdentity, tool: &str, digest: Digest) -> Result<bool, PinError> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(kept.get(server).is_some_and(|pins| pins.accepts(tool, digest)))
    }
}
