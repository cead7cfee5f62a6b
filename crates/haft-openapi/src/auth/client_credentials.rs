mod fetch;

pub(crate) use fetch::ClientUse;

use crate::auth::server_origin::is_confidential;
use crate::auth::{Secret, ServerOriginError};
use haft_core::ToolError;
use haft_http::HttpClient;
use haft_tools_core::Redactor;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;
use url::Url;

/// Is a client that is registered with an authorization server, and fetches its tokens there (OAuth 2, client credentials).
///
/// A document says itself where tokens are fetched, so it could name a server that collects secrets: that address is used
/// only if it is of an [origin that the host allows](crate::OpenApiToolsBuilder::allow_origin). Otherwise the host
/// [names it](Self::token_url).
///
/// ```
/// use haft_openapi::ClientCredentials;
///
/// let client = ClientCredentials::new("id", "s3cret").token_url("https://login.example.com/token")?.scopes(["read"]);
/// assert!(!format!("{client:?}").contains("s3cret"));
/// # Ok::<(), haft_openapi::ServerOriginError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct ClientCredentials {
    pub(crate) id: String,
    pub(crate) secret: Secret,
    pub(crate) token_url: Option<Url>,
    pub(crate) scopes: Option<Vec<String>>,
    pub(crate) in_body: bool,
}

impl ClientCredentials {
    /// Names a client and its secret.
    pub fn new(id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        Self { id: id.into(), secret: secret.into(), token_url: None, scopes: None, in_body: false }
    }

    /// Where its tokens are fetched; where the document says, if that may be asked, by default.
    ///
    /// # Errors
    ///
    /// If it is no address of `https`, nor one of `http` on this machine (RFC 6749, section 3.2).
    pub fn token_url(self, url: impl AsRef<str>) -> Result<Self, ServerOriginError> {
        let text = url.as_ref();
        let url = Url::parse(text).ok().filter(is_confidential);
        let url = url.ok_or_else(|| ServerOriginError::no_address(text))?;
        Ok(Self { token_url: Some(url), ..self })
    }

    /// What its tokens are asked to be good for; what the operations want by default.
    pub fn scopes<T: Into<String>>(self, scopes: impl IntoIterator<Item = T>) -> Self {
        Self { scopes: Some(scopes.into_iter().map(Into::into).collect()), ..self }
    }

    /// Whether the client names itself in the body of its request, for servers that do not take the header
    /// `Authorization`; in the header by default.
    pub fn in_body(self, in_body: bool) -> Self {
        Self { in_body, ..self }
    }
}

impl fmt::Debug for ClientCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCredentials").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Keeps the tokens that clients have fetched, until they are over or refused.
#[derive(Default)]
pub(crate) struct FetchedTokens(Mutex<HashMap<ClientUse, Arc<Slot>>>);

/// Is where the token of a client is. Whoever fetches holds its lock meanwhile, so that the others wait for the token instead of
/// fetching one each.
type Slot = tokio::sync::Mutex<Option<Fetched>>;

pub(crate) struct Fetched {
    token: Secret,
    until: Option<Instant>,
}

impl FetchedTokens {
    /// Gives a token that is good now, and is not the one that was refused.
    pub(crate) async fn token(
        &self,
        (client, redactor): (&HttpClient, &Redactor),
        of: &ClientUse,
        refused: Option<&Secret>,
    ) -> Result<Secret, ToolError> {
        let slot =
            Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(of.clone()).or_default());
        let mut slot = slot.lock().await;
        if let Some(fetched) = &*slot
            && fetched.until.is_none_or(|until| Instant::now() < until)
            && refused != Some(&fetched.token)
        {
            return Ok(fetched.token.clone());
        }
        *slot = None;
        let fetched = fetch::fetch(client, redactor, of).await?;
        let token = fetched.token.clone();
        *slot = Some(fetched);
        Ok(token)
    }
}

impl fmt::Debug for FetchedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FetchedTokens(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::ClientCredentials;

    #[test]
    fn tokens_are_fetched_where_nobody_listens() {
        let takes = |url: &str| ClientCredentials::new("id", "s").token_url(url).is_ok();
        for url in ["https://a.example/t", "http://127.0.0.1:8080/t", "http://[::1]/t", "http://localhost/t"]
        {
            assert!(takes(url), "{url}");
        }
        for url in
            ["http://a.example/t", "http://localhost.example/t", "http://10.0.0.1/t", "ftp://a.example", "t"]
        {
            assert!(!takes(url), "{url}");
        }
    }
}
