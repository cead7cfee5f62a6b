use super::caller::Principal;
use async_trait::async_trait;
use serde_json::Value;

/// Finds out who sends a request, before its body is read. `StaticTokens`, `JwtBearer` and `Introspection` do.
///
/// ```
/// use async_trait::async_trait;
/// use haft_mcp::{Authenticator, Denied, Principal};
///
/// /// Knows one token.
/// struct OneToken;
///
/// #[async_trait]
/// impl Authenticator for OneToken {
///     async fn check(&self, bearer: Option<&str>) -> Result<Principal, Denied> {
///         match bearer {
///             Some("a-long-token-that-nobody-guesses") => Ok(Principal::new("ann")),
///             _ => Err(Denied::Unknown("this token is not known here".to_owned())),
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
    async fn check(&self, bearer: Option<&str>) -> Result<Principal, Denied>;
    /// The document of RFC 9728 that says where tokens are to be had, if there is one.
    fn metadata(&self) -> Option<&Value> {
        None
    }
}

/// Says why a request is not let in: 401, or 403 where another scope is needed.
///
/// ```
/// use haft_mcp::Denied;
///
/// /// Says whether another token would help.
/// fn is_final(denied: &Denied) -> bool {
///     !matches!(denied, Denied::Unavailable(_))
/// }
/// assert!(is_final(&Denied::Scope("tools:call".to_owned())));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denied {
    /// There is no token, or it does not count (`invalid_token`); the reason is for the log alone.
    Unknown(String),
    /// It counts, and does not reach far enough (`insufficient_scope`): it needs these scopes, which the client is told.
    Scope(String),
    /// It cannot be told now: 503.
    Unavailable(String),
}
