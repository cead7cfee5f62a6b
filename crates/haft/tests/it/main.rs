//! What the built-in tools promise together.

#![cfg(feature = "tools")]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

#[cfg(feature = "policy")]
mod attacks;
#[cfg(feature = "policy")]
mod decisions;
#[cfg(all(feature = "changes", target_os = "linux"))]
mod killed;
mod ordering;
#[cfg(feature = "policy")]
mod policy;
#[cfg(feature = "policy")]
mod profiles;
#[cfg(feature = "policy")]
mod sifting;
#[cfg(feature = "policy")]
mod suggestions;
