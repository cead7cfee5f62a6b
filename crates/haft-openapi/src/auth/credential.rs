use crate::auth::{ClientCredentials, Secret, TokenSource};
use std::fmt;
use std::sync::Arc;

/// Is what the host has for one security scheme of a document.
///
/// | scheme | takes |
/// |---|---|
/// | `apiKey` | [`Secret`](Self::Secret) |
/// | `http` with `basic` | [`Basic`](Self::Basic) |
/// | `http` with `bearer` and other words, `openIdConnect` | [`Secret`](Self::Secret), [`Tokens`](Self::Tokens) |
/// | `oauth2` | the same, and [`Client`](Self::Client) where it has client credentials |
#[derive(Clone)]
#[non_exhaustive]
pub enum Credential {
    /// A key, or a token that stays the same.
    Secret(Secret),
    /// A user and a password.
    Basic {
        /// The user.
        user: String,
        /// The password.
        password: Secret,
    },
    /// A client that fetches its tokens itself.
    Client(ClientCredentials),
    /// Tokens that the host fetches, such as those of a person who has logged in.
    Tokens(Arc<dyn TokenSource>),
}

impl Credential {
    /// Gives a key or a token.
    pub fn secret(secret: impl Into<Secret>) -> Self {
        Self::Secret(secret.into())
    }

    /// Gives a user and a password.
    pub fn basic(user: impl Into<String>, password: impl Into<Secret>) -> Self {
        Self::Basic { user: user.into(), password: password.into() }
    }

    /// Gives what tokens are fetched from.
    pub fn tokens(source: impl TokenSource) -> Self {
        Self::Tokens(Arc::new(source))
    }

    /// Says what it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Secret(_) => "a key or token",
            Self::Basic { .. } => "a user and a password",
            Self::Client(_) => "a client's credentials",
            Self::Tokens(_) => "tokens",
        }
    }
}

impl From<Secret> for Credential {
    fn from(secret: Secret) -> Self {
        Self::Secret(secret)
    }
}

impl From<ClientCredentials> for Credential {
    fn from(client: ClientCredentials) -> Self {
        Self::Client(client)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credential({})", self.kind())
    }
}
