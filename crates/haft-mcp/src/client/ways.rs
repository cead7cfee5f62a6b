//! How servers are reached, each by what its configuration says.

use crate::client::rmcp_session::{
    HttpDial, HttpDialError, OAuth, Opening, StdioDial, UnixDial, authorities_of, host_of,
};
use crate::client::servers::Dialer;
use crate::client::session::{Counterpart, Dial, DialError, Session};
use crate::{
    CredentialStore, EraMemory, MemoryCredentials, MemoryEras, RemoteServer, ServerConfig, Transport,
};
use async_trait::async_trait;
use haft_process::Environment;
use std::sync::Arc;

/// Holds what connections to all servers have in common.
pub(crate) struct Ways {
    /// The variables that each program is given besides its own.
    pub(crate) environment: Environment,
    pub(crate) eras: Arc<dyn EraMemory>,
    /// Where logins are kept.
    pub(crate) credentials: Arc<dyn CredentialStore>,
}

impl Default for Ways {
    fn default() -> Self {
        Self {
            environment: Environment::minimal(),
            eras: Arc::new(MemoryEras::default()),
            credentials: Arc::new(MemoryCredentials::default()),
        }
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
            Transport::Http(server) => match self.to_service(server, opening) {
                Ok(dial) => Arc::new(dial),
                Err(error) => Arc::new(NoWay(error.to_string())),
            },
        }
    }
}

impl Ways {
    fn to_service(&self, server: &RemoteServer, opening: Opening) -> Result<HttpDial, HttpDialError> {
        let (url, login) = (server.url.clone(), server.login.clone());
        let authorities = authorities_of(server)?;
        let oauth =
            OAuth::new(url, host_of(&server.url)?, &authorities, login, Arc::clone(&self.credentials))?;
        HttpDial::new(server, Some(Arc::new(oauth)), opening)
    }
}

/// Reaches nothing, and says why.
struct NoWay(String);

#[async_trait]
impl Dial for NoWay {
    async fn dial(&self, _: Arc<dyn Counterpart>) -> Result<Arc<dyn Session>, DialError> {
        Err(DialError::Unreachable(self.0.clone()))
    }
}
