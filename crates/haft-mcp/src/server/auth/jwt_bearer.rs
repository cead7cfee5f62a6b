use super::authorization_server::AuthorizationServer;
use super::claims::{self, Claims};
use super::key_cache::KeyCache;
use super::key_set::{Key, KeySet};
use super::signed_token::SignedToken;
use crate::server::authenticator::{AuthenticationError, Authenticator};
use crate::server::caller::Principal;
use async_trait::async_trait;
use serde_json::Value;
use std::sync::Arc;

/// Knows callers by tokens that an authorization server signed for this server (JWT, RFC 7519 and RFC 9068).
///
/// Each is checked here, with keys that are fetched when one is named that is not known, at most once in a minute. They are
/// signed with RSA (`RS`/`PS` with 256, 384 or 512), ECDSA (`ES256`, `ES384`) or Ed25519 (`EdDSA`); never with a shared
/// secret. A caller's name is the issuer, `#` and the subject; for a client without a subject the issuer, `?` and its id.
///
/// ```
/// use haft_mcp::{Authenticator as _, AuthorizationServer, JwtBearer};
///
/// let server = AuthorizationServer::new("https://login.example", "https://mcp.example.org/mcp")?;
/// let checks = JwtBearer::new(server);
/// assert_eq!(checks.metadata().ok_or("clients are told")?["resource"], "https://mcp.example.org/mcp");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct JwtBearer {
    server: Arc<AuthorizationServer>,
    keys: KeyCache,
    metadata: Value,
}

impl JwtBearer {
    /// Takes the tokens of an authorization server; its keys are fetched with the first.
    pub fn new(server: AuthorizationServer) -> Self {
        let (metadata, server) = (server.metadata(), Arc::new(server));
        let asked = Arc::clone(&server);
        let fetch = move || -> futures_util::future::BoxFuture<'static, _> {
            let server = Arc::clone(&asked);
            Box::pin(async move { KeySet::read(&server.keys().await?) })
        };
        Self { server, keys: KeyCache::new(Box::new(fetch)), metadata }
    }
}

#[async_trait]
impl Authenticator for JwtBearer {
    async fn check(&self, bearer: Option<&str>) -> Result<Principal, AuthenticationError> {
        let unknown = |why: &str| AuthenticationError::Unknown(why.to_owned());
        let token =
            SignedToken::read(bearer.ok_or_else(|| unknown("there is no token"))?).map_err(unknown)?;
        let keys = self.keys.keys(|keys| keys.of(&token).next().is_some()).await;
        let keys = keys.map_err(|why| {
            AuthenticationError::Unavailable(format!("no keys to check tokens with: {why}"))
        })?;
        let mut candidates = keys.of(&token).peekable();
        if candidates.peek().is_none() {
            return Err(unknown("the token is signed with a key that is not known"));
        }
        let payload = candidates.find_map(|key: &Key| token.verified(key));
        let payload = payload.ok_or_else(|| unknown("the token's signature is wrong"))?;
        let claims: Claims =
            serde_json::from_slice(payload).map_err(|_| unknown("the token is not well formed"))?;
        claims.check(&self.server, claims::now())
    }

    fn metadata(&self) -> Option<&Value> {
        Some(&self.metadata)
    }
}
