use super::providers::is_variable_name;
use crate::exit::UsageError;
use crate::known_secrets::variable;
use crate::shared_store::{Database, StoreUrl};
use crate::small_file::bytes_of;
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use std::path::{Path, PathBuf};

/// The most bytes of a file with a password or with certificates.
const MOST_BYTES: u64 = 1 << 20;

/// In which database several machines remember the same; in your own `haft.toml` alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StoreTable {
    /// The database, without a password, as in `postgres://haft@db.example.org/haft`.
    #[serde(deserialize_with = "super::reading::parsed")]
    #[schemars(with = "Option<String>", regex(pattern = r"^postgres(ql)?://"))]
    postgres: Option<StoreUrl>,
    /// The name of the variable of the environment that the password is in.
    #[serde(deserialize_with = "name_of_variable")]
    #[schemars(regex(pattern = r"^[A-Z_][A-Z0-9_]*$"))]
    password: Option<String>,
    /// The file that the password is in; a path begins beside this file.
    password_file: Option<PathBuf>,
    /// The schema that the tables are in; `haft` by default.
    schema: Option<String>,
    /// A file with certificates, in PEM, of authorities that may have signed the server's, beside those that the system trusts.
    authorities: Option<PathBuf>,
}

impl StoreTable {
    /// Reads what the table names; `folder` is that of its file.
    ///
    /// # Errors
    ///
    /// When it names no database, when a variable is not set, and when a file cannot be read.
    pub(crate) fn database(self, folder: &Path) -> Result<Database> {
        let Some(url) = self.postgres.clone() else {
            return Err(said(
                "names no database; write it as `postgres`, as in `postgres://haft@db.example.org/haft`",
            ));
        };
        let password = self.password(folder)?;
        let authorities = self.authorities.map(|path| read(folder, &path, "authorities")).transpose()?;
        Ok(Database { url, password, schema: self.schema, authorities })
    }

    /// Reads the password, if one is named.
    pub(super) fn password(&self, folder: &Path) -> Result<Option<String>> {
        match (&self.password, &self.password_file) {
            (Some(_), Some(_)) => Err(said("has `password` and `password_file`; write one of them")),
            (Some(name), None) => {
                variable(name).filter(|value| !value.is_empty()).map(Some).ok_or_else(|| {
                    said(&format!(
                        "names `{name}` for the password, which is not set; set it where haft is started"
                    ))
                })
            }
            (None, Some(path)) => {
                let text = String::from_utf8(read(folder, path, "password_file")?);
                let text = text.map_err(|_| {
                    said("names a `password_file` that is not UTF-8; write the password alone into it")
                })?;
                Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
            }
            (None, None) => Ok(None),
        }
    }
}

fn read(folder: &Path, path: &Path, key: &str) -> Result<Vec<u8>> {
    let path = UserDirectories::found(folder, path);
    bytes_of(&path, MOST_BYTES).with_context(|| {
        let text = format!("`[store]` of `haft.toml` names `{}` as `{key}`, which cannot be read; make it a file that you can read", path.display());
        UsageError(text)
    })
}

fn said(what: &str) -> anyhow::Error {
    UsageError(format!("`[store]` of `haft.toml` {what}")).into()
}

/// Reads the name of a variable, which few passwords look like.
fn name_of_variable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let name = String::deserialize(deserializer)?;
    // What is written is not repeated: it may be the password itself.
    let form = "this is the name of a variable of the environment, in capitals, as in `HAFT_DB_PASSWORD`, and not the password itself";
    if is_variable_name(&name) { Ok(Some(name)) } else { Err(D::Error::custom(form)) }
}
