use super::files::pins;
use anyhow::Result;
use haft::mcp::{FilePins, MemoryPins, PinError, PinStore, ServerIdentity, ServerPins};

/// Knows what was accepted of servers, and forgets what it learns of them: for whoever only looks.
pub(super) struct UnkeptPins {
    kept: FilePins,
    learnt: MemoryPins,
}

impl UnkeptPins {
    pub(super) fn new() -> Result<Self> {
        Ok(Self { kept: pins()?, learnt: MemoryPins::default() })
    }
}

impl PinStore for UnkeptPins {
    fn read(&self, server: &ServerIdentity) -> Result<Option<ServerPins>, PinError> {
        match self.learnt.read(server)? {
            Some(learnt) => Ok(Some(learnt)),
            None => self.kept.read(server),
        }
    }

    fn change(
        &self,
        server: &ServerIdentity,
        change: &mut dyn FnMut(&mut ServerPins),
    ) -> Result<(), PinError> {
        let mut known = self.read(server)?.unwrap_or_default();
        change(&mut known);
        self.learnt.change(server, &mut |learnt| learnt.clone_from(&known))
    }
}
