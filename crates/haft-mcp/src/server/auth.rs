//! Who calls over HTTP: by tokens that are written down here, or by those of an authorization server.

#[cfg(feature = "server-oauth")]
mod authorization_server;
#[cfg(feature = "server-oauth")]
mod claims;
#[cfg(feature = "server-oauth")]
mod introspection;
#[cfg(feature = "server-oauth")]
mod jwt_bearer;
#[cfg(feature = "server-oauth")]
mod key_cache;
#[cfg(feature = "server-oauth")]
mod key_set;
#[cfg(feature = "server-oauth")]
mod signed_token;
mod static_tokens;
#[cfg(all(test, feature = "server-oauth"))]
mod tests;

#[cfg(feature = "server-oauth")]
pub use authorization_server::{AuthorizationServer, AuthorizationServerError};
#[cfg(feature = "server-oauth")]
pub use introspection::Introspection;
#[cfg(feature = "server-oauth")]
pub use jwt_bearer::JwtBearer;
pub use static_tokens::{StaticTokens, StaticTokensError};
