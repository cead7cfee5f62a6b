//! The client seen from outside.

#![cfg(feature = "client")]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

mod counterparts;
