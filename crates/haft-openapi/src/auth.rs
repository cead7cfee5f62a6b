//! Who asks: what operations want to be shown, what the host has, and to whom it may be sent.

mod client_credentials;
mod credential;
mod credentials;
mod grant;
mod requirement;
mod scheme;
mod secret;
mod server_origin;
mod sign;
mod token_source;

pub use client_credentials::ClientCredentials;
pub(crate) use client_credentials::FetchedTokens;
pub use credential::Credential;
pub use credentials::Credentials;
pub(crate) use grant::{Grant, Keyring, Shown, With};
pub(crate) use requirement::Requirement;
pub(crate) use scheme::{Scheme, Schemes, stated, stated_schemes};
pub use secret::Secret;
pub use server_origin::{ServerOrigin, ServerOriginError};
pub(crate) use sign::{Token, redact, sign};
pub use token_source::{TokenError, TokenSource};
