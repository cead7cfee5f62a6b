//! The integration tests of the crate, in one binary.

#[cfg(all(unix, feature = "worktrees"))]
mod isolation;
