//! Tokens of an authorization server, which stands on this machine and says what the tests say.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

mod bearer;
mod id_server;
mod signatures;
mod signer;
