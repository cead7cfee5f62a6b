use super::authorization_server::AuthorizationServer;
use super::claims::{self, Claims};
use crate::server::authenticator::{AuthenticationError, Authenticator};
use crate::server::caller::Principal;
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderValue, Request};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::Instant;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

/// For how long what was said of a token counts.
const KEPT: Duration = Duration::from_mins(1);
/// For how long it counts that a token is none.
const REFUSED: Duration = Duration::from_secs(10);
/// Of how many tokens it is kept.
const MOST: usize = 10_000;
/// How many tokens are asked about at once.
const AT_ONCE: usize = 16;
/// How long a token waits until it can be asked about.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many characters a token may have.
const LONGEST: usize = 16 << 10;

/// Knows callers by what an authorization server says of their tokens when it is asked (RFC 7662).
///
/// What it says counts for a minute and never longer than the token; a token that is revoked is refused after that. It has to
/// say for whom the token is (`aud`). A caller's name is as with [`JwtBearer`](super::JwtBearer).
///
/// ```
/// use haft_mcp::{Authenticator as _, AuthorizationServer, Introspection};
///
/// let server = AuthorizationServer::new("https://login.example", "https://mcp.example.org/mcp")?;
/// let checks = Introspection::new(server, "haft", "s3cret");
/// assert_eq!(checks.metadata().ok_or("clients are told")?["resource"], "https://mcp.example.org/mcp");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Introspection {
    server: AuthorizationServer,
    address: OnceCell<Url>,
    credentials: HeaderValue,
    metadata: Value,
    known: Mutex<HashMap<[u8; 32], Known>>,
    asked: Semaphore,
}

type Known = (Result<Principal, AuthenticationError>, Instant);

impl Introspection {
    /// Asks an authorization server, as the client that this server is to it.
    pub fn new(server: AuthorizationServer, client_id: &str, client_secret: &str) -> Self {
        // RFC 6749, section 2.3.1.
        let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
        let pair = format!("{}:{}", encoded(client_id), encoded(client_secret));
        let mut credentials = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair)))
            .unwrap_or(HeaderValue::from_static(""));
        credentials.set_sensitive(true);
        Self {
            metadata: server.metadata(),
            server,
            address: OnceCell::new(),
            credentials,
            known: Mutex::default(),
            asked: Semaphore::new(AT_ONCE),
        }
    }

    fn known(&self, digest: &[u8; 32]) -> Option<Result<Principal, AuthenticationError>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(digest).filter(|(_, until)| Instant::now() < *until).map(|(said, _)| said.clone())
    }

    fn keep(&self, digest: [u8; 32], said: Result<Principal, AuthenticationError>, most: Duration) {
        let now = Instant::now();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.retain(|_, (_, until)| now < *until);
        }
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(digest, (said, now + most));
    }

    /// Asks what a token is; the error says why that cannot be found out.
    async fn ask(&self, token: &str) -> Result<(Result<Principal, AuthenticationError>, Duration), String> {
        let asked = tokio::time::timeout(PATIENCE, self.asked.acquire()).await;
        let _place =
            asked.map_err(|_| "too many tokens are asked about")?.map_err(|error| error.to_string())?;
        let address = self.address.get_or_try_init(|| self.server.introspection()).await?;
        let form = Serializer::new(String::new())
            .append_pair("token", token)
            .append_pair("token_type_hint", "access_token")
            .finish();
        let request = Request::post(address.as_str())
            .header("authorization", self.credentials.clone())
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json")
            .body(Bytes::from(form))
            .map_err(|_| "its address cannot be asked")?;
        let answer = self.server.ask(request).await?;
        if answer["active"] != Value::Bool(true) {
            return Ok((
                Err(AuthenticationError::Unknown("the authorization server does not know the token".into())),
                REFUSED,
            ));
        }
        let mut claims: Claims =
            serde_json::from_value(answer).map_err(|_| "what it says of the token cannot be read")?;
        // It need not name itself; if it names another, the token is another's.
        claims.iss.get_or_insert_with(|| self.server.issuer.clone());
        let now = claims::now();
        let left = claims.exp.map_or(0.0, |exp| (exp - now).max(0.0));
        let said = claims.check(&self.server, now);
        let kept = if said.is_ok() { KEPT } else { REFUSED };
        Ok((said, kept.min(Duration::try_from_secs_f64(left).unwrap_or(KEPT))))
    }
}

#[async_trait]
impl Authenticator for Introspection {
    async fn check(&self, bearer: Option<&str>) -> Result<Principal, AuthenticationError> {
        let token = bearer.ok_or_else(|| AuthenticationError::Unknown("there is no token".into()))?;
        if token.len() > LONGEST {
            return Err(AuthenticationError::Unknown("the token is too long".into()));
        }
        let digest = Sha256::digest(token).into();
        if let Some(said) = self.known(&digest) {
            return said;
        }
        let unavailable =
            |why| AuthenticationError::Unavailable(format!("the token cannot be asked about: {why}"));
        let (said, most) = self.ask(token).await.map_err(unavailable)?;
        self.keep(digest, said.clone(), most);
        said
    }

    fn metadata(&self) -> Option<&Value> {
        Some(&self.metadata)
    }
}

impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introspection").field("server", &self.server).finish_non_exhaustive()
    }
}
