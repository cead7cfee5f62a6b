//! The database in which several machines remember the same: the table `[store]`, with the feature `postgres`.

#[cfg(not(feature = "postgres"))]
mod absent;
mod database;
#[cfg(feature = "postgres")]
mod present;
mod url;

#[cfg(not(feature = "postgres"))]
pub(crate) use absent::{connect, examine};
pub(crate) use database::Database;
#[cfg(feature = "postgres")]
pub(crate) use present::{connect, examine};
pub(crate) use url::StoreUrl;

/// Why nothing can be remembered in a database, if this build cannot.
pub(crate) fn absent() -> Option<&'static str> {
    let absent = "this haft was built without the feature `postgres`, which `[store]` of your `haft.toml` needs; build it with \
                  `cargo install --path crates/haft-cli --features postgres`, or take the table out";
    (!cfg!(feature = "postgres")).then_some(absent)
}
