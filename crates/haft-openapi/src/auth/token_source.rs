use crate::auth::Secret;
use async_trait::async_trait;
use std::error::Error;
use std::fmt;

/// Gives tokens that change, such as those of a person who logs in.
///
/// This is how the authorization code flow of OAuth 2 and `OpenID` Connect are served: the host keeps the login, refreshes it,
/// and says where a person has to go when there is none.
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
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// A person has to log in at an address first.
    #[error("a login is needed first")]
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
