//! How servers are reached, each by what its configuration says.

use crate::rmcp_session::{Opening, StdioDial, UnixDial};
use crate::servers::Dialer;
use crate::session::{Counterpart, Dial, DialError, Session};
use crate::{EraMemory, EraMemoryInProcess, ServerConfig, Transport};
use async_trait::async_trait;
use haft_process::Environment;
use std::sync::Arc;

/// Holds what connections to all servers have in common.
pub(crate) struct Ways {
    /// The variables that each program is given besides its own.
    pub(crate) environment: Environment,
    pub(crate) eras: Arc<dyn EraMemory>,
}

impl Default for Ways {
    fn default() -> Self {
        Self { environment: Environment::minimal(), eras: Arc::new(EraMemoryInProcess::default()) }
    }
}

impl Dialer for Ways {
    fn dial(&self, server: &ServerConfig) -> Arc<dyn Dial> {
        let opening = Opening::new(server, Arc::clone(&self.eras));
        match &server.transport {
            Transport::Stdio(program) => {
                let (program, environment) = (program.clone(), self.environment.clone());
                Arc::new(StdioDial { program, environment, opening })
            }
            Transport::Unix(socket) => Arc::new(UnixDial { socket: socket.clone(), opening }),
            Transport::Http(_) => Arc::new(NoWay("services are not spoken to by this build")),
        }
    }
}

/// Reaches nothing, and says why.
struct NoWay(&'static str);

#[async_trait]
impl Dial for NoWay {
    async fn dial(&self, _: Arc<dyn Counterpart>) -> Result<Arc<dyn Session>, DialError> {
        Err(DialError::Unreachable(self.0.to_owned()))
    }
}
