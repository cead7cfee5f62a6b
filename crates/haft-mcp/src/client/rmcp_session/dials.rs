//! The ways to a server on this machine.

use super::Opening;
use super::connection::open;
use super::line_transport::LineTransport;
use crate::ServerProgram;
use crate::client::link::{self, Ending};
use crate::client::session::{Counterpart, Dial, DialError, Session};
use async_trait::async_trait;
use haft_process::Environment;
use std::path::PathBuf;
use std::sync::Arc;

/// Starts a program for each connection.
#[derive(Debug, Clone)]
pub(crate) struct StdioDial {
    pub(crate) program: ServerProgram,
    /// What the program is given besides its own variables.
    pub(crate) environment: Environment,
    pub(crate) opening: Opening,
}

/// Connects to a program that listens at a socket of this machine.
#[derive(Debug, Clone)]
pub(crate) struct UnixDial {
    pub(crate) socket: PathBuf,
    pub(crate) opening: Opening,
}

#[async_trait]
impl Dial for StdioDial {
    async fn dial(&self, counterpart: Arc<dyn Counterpart>) -> Result<Arc<dyn Session>, DialError> {
        let (most, ending) = (self.opening.limits.message_bytes, Ending::new());
        let framed = link::start(&self.program, &self.environment, most, ending.clone())
            .map_err(|error| DialError::Unreachable(error.to_string()))?;
        let transport = LineTransport::new(framed, most, counterpart.clone());
        Ok(open(transport, ending, Arc::default(), &self.opening, counterpart).await?)
    }
}

#[async_trait]
impl Dial for UnixDial {
    async fn dial(&self, counterpart: Arc<dyn Counterpart>) -> Result<Arc<dyn Session>, DialError> {
        let (most, ending) = (self.opening.limits.message_bytes, Ending::new());
        let framed = link::connect(&self.socket, most, ending.clone()).await.map_err(|error| {
            DialError::Unreachable(format!("cannot connect to `{}`: {error}", self.socket.display()))
        })?;
        let transport = LineTransport::new(framed, most, counterpart.clone());
        Ok(open(transport, ending, Arc::default(), &self.opening, counterpart).await?)
    }
}
