//! What the built-in tools promise together, and what `#[haft::tool]` makes of a function.

#![cfg(any(feature = "macros", feature = "tools"))]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

#[cfg(all(feature = "policy", feature = "tools"))]
mod attacks;
#[cfg(all(feature = "policy", feature = "tools"))]
mod decisions;
#[cfg(all(feature = "changes", feature = "tools", target_os = "linux"))]
mod killed;
#[cfg(feature = "tools")]
mod ordering;
#[cfg(all(feature = "policy", feature = "tools"))]
mod policy;
#[cfg(all(feature = "policy", feature = "tools"))]
mod profiles;
#[cfg(all(feature = "policy", feature = "tools"))]
mod sifting;
#[cfg(all(feature = "policy", feature = "tools"))]
mod suggestions;
#[cfg(feature = "macros")]
mod tool_attribute;
