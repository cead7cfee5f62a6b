//! Who asks: what a server that wants a login is told, where logins are kept, and where a person comes back from one.

mod credentials;
mod login_config;
mod redirect;

pub use credentials::{CredentialStore, FileCredentials, MemoryCredentials};
pub use login_config::{LoginConfig, RegisteredClient};
pub(crate) use redirect::{Redirect, Visit};

use crate::client::session::Fault;
use async_trait::async_trait;
use http::HeaderValue;
use std::fmt;
use std::sync::Arc;

/// Knows the token of a server's login, and gets another where one is refused.
#[async_trait]
pub(crate) trait Authorizer: Send + Sync + 'static {
    /// The token that a request is given now; `None` as long as nobody has logged in.
    ///
    /// # Cancel safety
    ///
    /// A token that was got is kept.
    async fn token(&self) -> Result<Option<Token>, Fault>;

    /// Sees to what a server wants; done if the request may be tried again. Otherwise a person has to log in, and the
    /// fault says where.
    ///
    /// # Cancel safety
    ///
    /// A login that was begun stays so.
    async fn challenged(&self, challenge: Challenge<'_>) -> Result<(), Fault>;

    /// Waits until a person has logged in, since this was done last.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, it misses nothing.
    async fn logged_in(&self);

    /// Waits until a login that was begun was in vain, since this was done last; says why, for people.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is done, it misses nothing.
    async fn login_failed(&self) -> String;

    /// Begins a login although no server has asked for one, or goes on with the one that was begun; gives where a person
    /// logs in.
    ///
    /// # Cancel safety
    ///
    /// A login that was begun stays so.
    async fn begin(&self) -> Result<String, Fault>;

    /// Forgets the login, and gives up one that was begun.
    async fn forget(&self) -> Result<(), Fault>;
}

/// Is what a server wants before it answers.
#[derive(Clone, Copy)]
pub(crate) struct Challenge<'a> {
    /// 401, or 403 if more is wanted than the token allows.
    pub(crate) status: u16,
    /// Its header `WWW-Authenticate`; empty if there is none.
    pub(crate) header: &'a str,
    /// The token that was refused.
    pub(crate) tried: Option<&'a Token>,
}

/// Is a token; it is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token(Arc<str>);

impl Token {
    pub(crate) fn new(text: &str) -> Option<Self> {
        HeaderValue::from_str(text).ok().map(|_| Self(text.into()))
    }

    /// The value of the header `Authorization`.
    pub(crate) fn header(&self) -> HeaderValue {
        let value = HeaderValue::from_str(&format!("Bearer {}", self.0));
        let mut value = value.expect("a token is made only of what a header can have");
        value.set_sensitive(true);
        value
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
