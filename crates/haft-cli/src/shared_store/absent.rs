//! Stands for what this build has not.

use super::Database;
use crate::exit::UsageError;
use crate::kept_state::KeptStore;
use anyhow::Result;
use haft::store::Examination;
use std::sync::Arc;

pub(crate) async fn connect(_: &Database) -> Result<Arc<dyn KeptStore>> {
    Err(absent())
}

pub(crate) async fn examine(_: &Database) -> Result<Option<Examination>> {
    Err(absent())
}

fn absent() -> anyhow::Error {
    UsageError(super::absent().unwrap_or_default().to_owned()).into()
}
