//! Delegation as a host and a model see it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes its snapshots with them")]

mod background;
mod counting;
mod delegating;
mod fixture;
mod following_up;
#[cfg(all(unix, feature = "worktrees"))]
mod isolation;
mod limiting;
mod matrix;
mod permitting;
mod sharing;
mod specs;
mod talking;
mod telling;
