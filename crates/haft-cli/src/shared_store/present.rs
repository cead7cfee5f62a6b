use super::Database;
use crate::exit::UsageError;
use crate::kept_state::KeptStore;
use anyhow::{Context as _, Result};
use haft::store::{Examination, PostgresOptions, PostgresStore};
use std::sync::Arc;

/// Connects to a database, and makes its tables where there are none.
pub(crate) async fn connect(database: &Database) -> Result<Arc<dyn KeptStore>> {
    let store = options(database).connect(database.url.as_str()).await;
    Ok(Arc::new(store.with_context(|| cannot(database))?))
}

/// Looks at a database without changing anything; there may be no tables in it.
pub(crate) async fn examine(database: &Database) -> Result<Option<Examination>> {
    let found = options(database).examine(database.url.as_str()).await;
    found.with_context(|| cannot(database))
}

fn options(database: &Database) -> PostgresOptions {
    let mut options = PostgresStore::options();
    if let Some(schema) = &database.schema {
        options = options.schema(schema);
    }
    if let Some(password) = &database.password {
        options = options.password(password);
    }
    if let Some(authorities) = &database.authorities {
        options = options.authorities(authorities.as_slice());
    }
    options
}

fn cannot(database: &Database) -> UsageError {
    UsageError(format!(
        "cannot remember anything in `{}`; correct what is said here, or take `[store]` out of your `haft.toml` to \
         remember things on this machine alone",
        database.url
    ))
}
