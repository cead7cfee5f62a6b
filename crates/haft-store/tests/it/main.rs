//! What the crate promises, from the outside.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]
#![expect(clippy::needless_pass_by_value, reason = "a snapshot is written where it is used")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

#[cfg(all(unix, feature = "changes"))]
mod changes;
mod child;
mod children;
mod entries;
mod examining;
mod fixture;
mod grants;
mod hostile;
mod journal;
mod killing;
mod matrix;
mod pending;
#[cfg(feature = "postgres")]
mod postgres;
mod pruning;
mod racing;
mod runs;
mod session;
