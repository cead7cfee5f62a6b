//! The client seen from outside.

#![cfg(feature = "client")]
#![expect(clippy::unwrap_used, reason = "a fixture that cannot be built fails the test")]

mod counterparts;
#[cfg(unix)]
mod relisting;

/// The fixture's program.
#[cfg(unix)]
fn hostile_server() -> std::path::PathBuf {
    let this = std::env::current_exe().unwrap();
    let program = this.ancestors().nth(2).unwrap().join("examples").join("hostile-server");
    assert!(program.exists(), "build the examples of this crate: cargo test does, or cargo build --examples");
    program
}
