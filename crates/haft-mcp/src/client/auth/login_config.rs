use std::fmt;

/// Says as whom haft logs in to a server, where the server does not leave that to be found out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LoginConfig {
    /// The client that was registered with the authorization server beforehand, if one was.
    pub client: Option<RegisteredClient>,
    /// The address of a document that describes the client (client id metadata document), for authorization servers that
    /// take one; `https`. Where there is neither, the client registers itself.
    pub client_metadata_url: Option<String>,
    /// What is asked for; what the server says it wants if empty, the default.
    pub scopes: Vec<String>,
}

/// Is a client that was registered beforehand.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegisteredClient {
    /// Its id.
    pub id: String,
    /// Its secret, if it has one.
    pub secret: Option<String>,
}

impl RegisteredClient {
    /// Names a client that has no secret.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), secret: None }
    }
}

impl fmt::Debug for RegisteredClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredClient").field("id", &self.id).finish_non_exhaustive()
    }
}
