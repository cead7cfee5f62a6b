use super::caller::Principal;
use async_trait::async_trait;
use serde_json::Value;

/// Finds out who sends a request, before its body is read. `StaticTokens`, `JwtBearer` and `Introspection` do.
///
/// ```
/// use async_trait::async_trait;
/// use haft_mcp::{AuthenticationError, Authenticator, Principal};
///
/// /// Knows one token.
/// struct OneToken;
///
/// #[async_trait]
/// impl Authenticator for OneToken {
///     async fn check(&self, bearer: Option<&str>) -> Result<Principal, AuthenticationError> {
///         match bearer {
///             Some("a-long-token-that-nobody-guesses") => Ok(Principal::new("ann")),
///             _ => Err(AuthenticationError::Unknown("this token is not known here".to_owned())),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// assert_eq!(OneToken.check(Some("a-long-token-that-nobody-guesses")).await, Ok(Principal::new("ann")));
/// assert!(OneToken.check(None).await.is_err());
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Authenticator: Send + Sync + 'static {
    /// Checks what stands in `Authorization: Bearer`; the token goes no further than here.
    ///
    /// # Errors
    ///
    /// Why not, with what the client has to be told in `WWW-Authenticate`.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    async fn check(&self, bearer: Option<&str>) -> Result<Principal, AuthenticationError>;
    /// The document of RFC 9728 that says where tokens are to be had, if there is one.
    fn metadata(&self) -> Option<&Value> {
        None
    }
}

/// Says why a request is not let in: 401, or 403 where another scope is needed.
///
/// Its text is for the log: a client is told the scopes that it needs, and nothing else of it.
///
/// ```
/// use haft_mcp::AuthenticationError;
///
/// /// Says whether another token would help.
/// fn is_final(denied: &AuthenticationError) -> bool {
///     !matches!(denied, AuthenticationError::Unavailable(_))
/// }
/// let narrow = AuthenticationError::Scope("tools:call".to_owned());
/// assert!(is_final(&narrow));
/// assert_eq!(
///     narrow.to_string(),
///     "the token does not reach far enough; get one for the scopes `tools:call`"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthenticationError {
    /// There is no token, or it does not count (`invalid_token`); the reason is for the log alone.
    #[error("the request is not let in: {0}")]
    Unknown(String),
    /// It counts, and does not reach far enough (`insufficient_scope`): it needs these scopes, which the client is told.
    #[error("the token does not reach far enough; get one for the scopes `{0}`")]
    Scope(String),
    /// It cannot be told now: 503.
    #[error("tokens cannot be checked now: {0}; try again later")]
    Unavailable(String),
}
