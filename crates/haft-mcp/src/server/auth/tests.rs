//! Tokens of an authorization server, which stands on this machine and says what the tests say.

mod bearer;
mod id_server;
mod signatures;
mod signer;
