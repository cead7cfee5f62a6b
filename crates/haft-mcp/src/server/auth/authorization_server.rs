use bytes::Bytes;
use haft_http::{AddressPolicy, Exchange, Host, HttpClient};
use http::Request;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

/// How many bytes a document of an authorization server may have.
const MOST_BYTES: u64 = 256 << 10;
/// How long an authorization server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Names the authorization server whose tokens count, and what they have to be for.
///
/// It is asked over `https`, or on this machine over `http`. What is not said of it is looked up in its metadata (RFC 8414,
/// or `OpenID` Connect's).
///
/// ```
/// use haft_mcp::AuthorizationServer;
///
/// let server = AuthorizationServer::new("https://id.example.org", "https://mcp.example.org/mcp")?.scope("tools");
/// assert!(AuthorizationServer::new("http://id.example.org", "https://mcp.example.org/mcp").is_err());
/// # let _ = server;
/// # Ok::<(), haft_mcp::AuthorizationServerError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct AuthorizationServer {
    pub(super) issuer: String,
    pub(super) resource: String,
    pub(super) scopes: Vec<String>,
    keys: Option<Url>,
    introspection: Option<Url>,
    client: HttpClient,
}

/// Says why an authorization server cannot be used.
///
/// ```
/// use haft_mcp::AuthorizationServerError;
///
/// let error = AuthorizationServerError::Address("ftp://login.example".to_owned());
/// assert!(error.to_string().ends_with("write one that begins with `https://`"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizationServerError {
    /// It would be asked in the clear, or it is no address.
    #[error("`{0}` is not an address of an authorization server; write one that begins with `https://`")]
    Address(String),
    /// Tokens could not be for it.
    #[error(
        "`{0}` is not an address that tokens can be for; write the one that clients use, as in `https://mcp.example.org/mcp`"
    )]
    Resource(String),
    /// It cannot be asked.
    #[error("cannot make requests to the authorization server")]
    Client(#[from] haft_http::Error),
}

impl AuthorizationServer {
    /// Takes tokens of this issuer which are for this resource: the address at which clients reach the server, as it stands
    /// in their `aud`.
    ///
    /// # Errors
    ///
    /// When the issuer is not reached by `https`, or one of both is no address.
    pub fn new(issuer: &str, resource: &str) -> Result<Self, AuthorizationServerError> {
        let host =
            host(&address(issuer)?).ok_or_else(|| AuthorizationServerError::Address(issuer.to_owned()))?;
        let is_resource = Url::parse(resource).is_ok_and(|url| {
            matches!(url.scheme(), "http" | "https") && url.has_host() && url.fragment().is_none()
        });
        if !is_resource {
            return Err(AuthorizationServerError::Resource(resource.to_owned()));
        }
        Ok(Self {
            issuer: issuer.to_owned(),
            resource: resource.to_owned(),
            scopes: Vec::new(),
            keys: None,
            introspection: None,
            client: HttpClient::new(AddressPolicy::public().host(host))?,
        })
    }

    /// Takes only tokens that have this scope, too.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Says where its keys are (a JWK set, RFC 7517).
    ///
    /// # Errors
    ///
    /// When it is not reached by `https`.
    pub fn keys_at(mut self, url: &str) -> Result<Self, AuthorizationServerError> {
        self.keys = Some(address(url)?);
        Ok(self)
    }

    /// Says where it tells what a token is (RFC 7662).
    ///
    /// # Errors
    ///
    /// When it is not reached by `https`.
    pub fn introspection_at(mut self, url: &str) -> Result<Self, AuthorizationServerError> {
        self.introspection = Some(address(url)?);
        Ok(self)
    }

    /// Asks it with this client; else with one that reaches the issuer's host and the public internet.
    pub fn client(mut self, client: HttpClient) -> Self {
        self.client = client;
        self
    }

    /// The document that tells clients where their tokens are to be had (RFC 9728).
    pub(super) fn metadata(&self) -> Value {
        let mut document = json!({
            "resource": self.resource,
            "authorization_servers": [self.issuer],
            "bearer_methods_supported": ["header"],
        });
        if !self.scopes.is_empty() {
            document["scopes_supported"] = json!(self.scopes);
        }
        document
    }

    /// Fetches the keys; the text says why it cannot, for the log.
    pub(super) async fn keys(&self) -> Result<Value, String> {
        let url = match &self.keys {
            Some(url) => url.clone(),
            None => self.look_up("jwks_uri").await?,
        };
        self.get(&url).await
    }

    /// Finds out where it tells what a token is.
    pub(super) async fn introspection(&self) -> Result<Url, String> {
        match &self.introspection {
            Some(url) => Ok(url.clone()),
            None => self.look_up("introspection_endpoint").await,
        }
    }

    async fn look_up(&self, name: &str) -> Result<Url, String> {
        let issuer = Url::parse(&self.issuer).map_err(|_| "the issuer is not an address".to_owned())?;
        let path = issuer.path().trim_end_matches('/');
        let mut why = String::new();
        for place in [
            format!("/.well-known/oauth-authorization-server{path}"),
            format!("{path}/.well-known/openid-configuration"),
            format!("/.well-known/openid-configuration{path}"),
        ] {
            let mut url = issuer.clone();
            url.set_path(&place);
            url.set_query(None);
            match self.get(&url).await {
                // A document that names another would have tokens of the other count here.
                Ok(document) if document["issuer"].as_str() != Some(&self.issuer) => {
                    return Err("the authorization server's metadata names another issuer".into());
                }
                Ok(document) => {
                    let found = document[name].as_str().and_then(|found| address(found).ok());
                    return found
                        .ok_or_else(|| format!("the authorization server's metadata has no `{name}`"));
                }
                Err(error) => why = error,
            }
        }
        Err(format!("the authorization server has no metadata: {why}"))
    }

    async fn get(&self, url: &Url) -> Result<Value, String> {
        let request = Request::get(url.as_str()).header("accept", "application/json").body(Bytes::new());
        self.ask(request.map_err(|_| "its address cannot be asked".to_owned())?).await
    }

    /// Asks, and reads a JSON document.
    pub(super) async fn ask(&self, request: Request<Bytes>) -> Result<Value, String> {
        let exchange = Exchange::default().first_byte_timeout(PATIENCE).most_bytes(MOST_BYTES);
        let asked = async {
            let answer = self.client.send(request, exchange).await.map_err(|error| error.to_string())?;
            if !answer.status().is_success() {
                return Err(format!("it answered {}", answer.status().as_u16()));
            }
            let body = answer.into_body().bytes().await.map_err(|error| error.to_string())?;
            serde_json::from_slice(&body).map_err(|_| "what it answered is not JSON".to_owned())
        };
        tokio::time::timeout(2 * PATIENCE, asked).await.map_err(|_| "it did not answer in time".to_owned())?
    }
}

/// Reads an address that is asked over TLS, or on this machine.
fn address(text: &str) -> Result<Url, AuthorizationServerError> {
    let url = Url::parse(text).ok().filter(|url| match url.scheme() {
        "https" => url.has_host(),
        "http" => host(url).is_some_and(|host| {
            host.name() == Some("localhost") || host.address().is_some_and(|address| address.is_loopback())
        }),
        _ => false,
    });
    url.ok_or_else(|| AuthorizationServerError::Address(text.to_owned()))
}

fn host(url: &Url) -> Option<Host> {
    url.host_str()?.parse().ok()
}
