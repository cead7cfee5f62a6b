use std::fmt;

/// Says as whom haft logs in to a server, where the server does not leave that to be found out.
///
/// ```
/// use haft_mcp::{LoginConfig, RegisteredClient};
///
/// let mut login = LoginConfig::default();
/// login.client = Some(RegisteredClient::new("my-agent"));
/// login.scopes = vec!["notes:read".to_owned()];
/// assert_eq!(login.redirect_port, None);
/// ```
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
    /// The port of this machine at which people come back from a login, at `http://127.0.0.1:PORT/callback`: for clients that
    /// were registered with that address. Any that is free if `None`, the default.
    pub redirect_port: Option<u16>,
}

/// Is a client that was registered beforehand.
///
/// A server says itself which authorization server is its own, so it could name one that collects secrets: a client's secret is
/// given to the [`issuer`](Self::issuer) that it is of and to no other.
///
/// ```
/// use haft_mcp::RegisteredClient;
///
/// let client = RegisteredClient::new("my-agent").with_secret("s3cret", "https://login.example");
/// assert_eq!((client.id.as_str(), client.issuer.as_deref()), ("my-agent", Some("https://login.example")));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegisteredClient {
    /// Its id.
    pub id: String,
    /// Its secret, if it has one.
    pub secret: Option<String>,
    /// The authorization server that it is registered with, as that calls itself: an address such as
    /// `https://login.example.com`. Without it a client that has a secret does not log in. One that has none may leave it out,
    /// and then logs in wherever the server says.
    pub issuer: Option<String>,
}

impl RegisteredClient {
    /// Names a client that has no secret.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), secret: None, issuer: None }
    }

    /// Gives it the secret that it has with an authorization server.
    #[must_use]
    pub fn with_secret(self, secret: impl Into<String>, issuer: impl Into<String>) -> Self {
        Self { secret: Some(secret.into()), issuer: Some(issuer.into()), ..self }
    }
}

impl fmt::Debug for RegisteredClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredClient")
            .field("id", &self.id)
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}
