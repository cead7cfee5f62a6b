use crate::auth::Secret;
use async_trait::async_trait;
use std::error::Error;
use std::fmt;

/// Gives tokens that change, such as those of a person who logs in.
///
/// This is how the authorization code flow of OAuth 2 and `OpenID` Connect are served: the host keeps the login, refreshes it,
/// and says where a person has to go when there is none.
///
/// One that keeps a token until the API refuses it:
///
/// ```
/// use haft_openapi::{Credential, Secret, TokenError, TokenSource};
/// use std::sync::Mutex;
///
/// struct Login(Mutex<Option<Secret>>);
///
/// #[async_trait::async_trait]
/// impl TokenSource for Login {
///     async fn token(&self, refused: Option<&Secret>) -> Result<Secret, TokenError> {
///         let mut kept = self.0.lock().map_err(|_| TokenError::failed("the login is broken"))?;
///         if refused.is_some() {
///             *kept = None;
///         }
///         kept.clone().ok_or_else(|| TokenError::login("https://pets.example/login"))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let login = Login(Mutex::new(Some(Secret::new("t-1"))));
/// let token = login.token(None).await?;
/// let error = login.token(Some(&token)).await.unwrap_err();
/// assert!(matches!(error, TokenError::Login { url } if url == "https://pets.example/login"));
///
/// let credential = Credential::tokens(login);
/// # let _ = credential;
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait TokenSource: Send + Sync + 'static {
    /// Gives a token that can be used now.
    ///
    /// `refused` is the one that the API has just refused with 401, if it did: it is not to be given again.
    ///
    /// # Errors
    ///
    /// [`TokenError::Login`] when a person has to do something first: the call then waits for them, if the host can wait.
    ///
    /// # Cancel safety
    ///
    /// Must be cancel safe: the future is dropped with the call.
    async fn token(&self, refused: Option<&Secret>) -> Result<Secret, TokenError>;
}

/// Says why there is no token.
///
/// A tool whose person has to log in tells its host where:
///
/// ```
/// # use haft_http::{AddressPolicy, HttpClient};
/// use haft_openapi::{Credential, Secret, TokenError, TokenSource};
/// # use haft_openapi::{Document, LoadOptions, OpenApiTools};
/// # use haft_tools_core::{CallContext, CallScope, Tool as _};
/// # use serde_json::json;
/// # use std::collections::BTreeMap;
///
/// struct LoggedOut;
///
/// #[async_trait::async_trait]
/// impl TokenSource for LoggedOut {
///     async fn token(&self, _refused: Option<&Secret>) -> Result<Secret, TokenError> {
///         Err(TokenError::login("https://pets.example/login"))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let document = Document::from_value(json!({
/// #     "openapi": "3.1.0", "security": [{ "token": [] }],
/// #     "components": { "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } } },
/// #     "paths": { "/pets": { "get": { "operationId": "listPets" } } },
/// # }), &LoadOptions::default().server("https://pets.example"))?;
/// # let client = HttpClient::new(AddressPolicy::public())?;
/// # let scope = CallScope::new("run-1".parse()?);
/// let credentials = BTreeMap::from([("token".to_owned(), Credential::tokens(LoggedOut))]);
/// let tools = OpenApiTools::builder("pets", document, client).credentials(credentials).build();
/// let call = tools.tools()[0].prepare(&json!({}), &scope)?;
/// let error = call.run(CallContext::detached("c1".parse()?, scope)).await.unwrap_err();
/// assert_eq!(error.authentication_url(), Some("https://pets.example/login"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// A person has to log in at an address first.
    #[error("the API needs a login first")]
    Login {
        /// Where; `https`, or `http` on this machine.
        url: String,
    },
    /// Something else.
    #[error("there is no token: {reason}")]
    Failed {
        /// What, for people; nothing secret.
        reason: String,
        /// The cause.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
}

impl TokenError {
    /// Says why there is none, for people.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed { reason: reason.into(), source: None }
    }

    /// Says that a person has to go to an address first.
    pub fn login(url: impl Into<String>) -> Self {
        Self::Login { url: url.into() }
    }
}

impl fmt::Debug for dyn TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSource(..)")
    }
}
