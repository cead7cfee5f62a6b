use super::StoreUrl;
use crate::config::{ConfigFile, StoreTable};
use anyhow::Result;
use serde::Deserialize;

/// Is a database as it is configured, with what it is reached with.
#[cfg_attr(
    not(feature = "postgres"),
    expect(dead_code, reason = "a build without databases says only that it has none")
)]
pub(crate) struct Database {
    pub(crate) url: StoreUrl,
    pub(crate) password: Option<String>,
    pub(crate) schema: Option<String>,
    /// Certificates of authorities that are trusted beside those of the system, in PEM.
    pub(crate) authorities: Option<Vec<u8>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tables {
    store: Option<StoreTable>,
}

impl Database {
    /// Finds the one that the user's own file names, if there is such a file and it names one.
    ///
    /// A workspace's file is not asked: what is remembered is the user's, and the same in every directory.
    pub(crate) fn of_user(file: Option<&ConfigFile>) -> Result<Option<Self>> {
        let Some(file) = file else { return Ok(None) };
        let Tables { store } = file.parse()?;
        store.map(|table| table.database(&file.folder)).transpose()
    }
}
