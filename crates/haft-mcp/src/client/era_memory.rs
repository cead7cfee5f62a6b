use crate::{Era, ServerIdentity};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Remembers which era of the protocol each server speaks, so that it is found out once.
///
/// A memory that is wrong or forgets costs a server's start an attempt and nothing else.
///
/// ```
/// use haft_mcp::{Era, EraMemory as _, MemoryEras, ServerConfig, ServerIdentity, ServerProgram, Transport};
///
/// let time = ServerConfig::new("time".parse()?, Transport::Stdio(ServerProgram::new("uvx", ["mcp-server-time"])));
/// let identity = ServerIdentity::of(&time);
/// let memory = MemoryEras::default();
/// memory.remember(&identity, Era::Legacy);
/// assert_eq!(memory.recall(&identity), Some(Era::Legacy));
/// # Ok::<(), haft_mcp::ServerNameError>(())
/// ```
pub trait EraMemory: fmt::Debug + Send + Sync + 'static {
    /// The era in which a server was spoken to last.
    fn recall(&self, server: &ServerIdentity) -> Option<Era>;

    /// Takes note of the era in which a server is spoken to.
    fn remember(&self, server: &ServerIdentity, era: Era);
}

impl<M: EraMemory + ?Sized> EraMemory for Arc<M> {
    fn recall(&self, server: &ServerIdentity) -> Option<Era> {
        (**self).recall(server)
    }

    fn remember(&self, server: &ServerIdentity, era: Era) {
        (**self).remember(server, era);
    }
}

/// Remembers eras for as long as it lives: the memory that a host has if it brings no other.
///
/// ```
/// use haft_mcp::{McpServers, MemoryEras};
/// use std::sync::Arc;
///
/// // Two sets of servers have it in common.
/// let eras = Arc::new(MemoryEras::default());
/// let servers = McpServers::builder().eras(Arc::clone(&eras)).build()?;
/// let others = McpServers::builder().eras(eras).build()?;
/// assert_eq!(servers.iter().chain(&others).count(), 0);
/// # Ok::<(), haft_mcp::DuplicateServerError>(())
/// ```
#[derive(Debug, Default)]
pub struct MemoryEras {
    eras: Mutex<HashMap<ServerIdentity, Era>>,
}

impl EraMemory for MemoryEras {
    fn recall(&self, server: &ServerIdentity) -> Option<Era> {
        self.eras.lock().unwrap_or_else(PoisonError::into_inner).get(server).copied()
    }

    fn remember(&self, server: &ServerIdentity, era: Era) {
        self.eras.lock().unwrap_or_else(PoisonError::into_inner).insert(*server, era);
    }
}
