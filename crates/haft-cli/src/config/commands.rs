//! What is known of commands: haft's own catalog, and what the files in force add to it.

use super::{ConfigFile, Configuration, Layer};
use crate::exit::UsageError;
use crate::small_file::text_of;
use anyhow::Result;
use haft::shell::CommandCatalog;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Is the table `[shell]`: commands that are known beside those that haft knows.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ShellTable {
    #[serde(alias = "catalogue")]
    catalog: Option<PathBuf>,
    commands: BTreeMap<String, toml::Table>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tables {
    shell: ShellTable,
}

impl Configuration {
    /// Gives what is known of commands.
    ///
    /// A file that is not trusted adds nothing: what it says of a command would be all that is asked about.
    pub(crate) fn catalog(&self) -> Result<CommandCatalog> {
        let mut counts = self.files().filter(|file| file.layer != Layer::Untrusted);
        counts.try_fold(CommandCatalog::built_in().clone(), added)
    }

    /// Gives what is known of commands in another directory, whose own file nobody has trusted.
    pub(crate) fn catalog_elsewhere(&self) -> Result<CommandCatalog> {
        self.user.file.iter().try_fold(CommandCatalog::built_in().clone(), added)
    }

    /// Gives what would be known if the workspace's file, of this text, were trusted.
    pub(crate) fn catalog_with(&self, text: &str) -> Result<CommandCatalog> {
        let trusted = self.files().map(|file| match file.layer {
            Layer::User => file.clone(),
            Layer::Workspace | Layer::Untrusted => {
                ConfigFile { layer: Layer::Workspace, text: text.to_owned(), ..file.clone() }
            }
        });
        trusted.collect::<Vec<_>>().iter().try_fold(CommandCatalog::built_in().clone(), added)
    }
}

/// Adds what a file says; what was said before it, also by the user, stays as it is.
fn added(known: CommandCatalog, file: &ConfigFile) -> Result<CommandCatalog> {
    // What is no TOML is told where the policy is read, and nothing runs then.
    if toml::from_str::<toml::Table>(&file.text).is_err() {
        return Ok(known);
    }
    let Tables { shell: ShellTable { catalog, commands } } = file.parse()?;
    let mut all = known.clone();
    for (name, entry) in commands {
        if known.knows(&name) && !CommandCatalog::built_in().knows(&name) {
            continue;
        }
        let text = toml::to_string(&toml::Table::from_iter([(name.clone(), toml::Value::Table(entry))]))?;
        all = all.with_new(&text).map_err(|error| {
            UsageError(format!("{}: `[shell.commands.{name}]`: {}", file.path, error.reason()))
        })?;
    }
    let Some(named) = catalog else { return Ok(all) };
    let path = beside(file, &named)?;
    let Some(text) = text_of(&path)? else {
        let message =
            format!("{}: `catalog` of `[shell]` names `{}`, which is not there", file.path, path.display());
        return Err(UsageError(message).into());
    };
    let added = all.with_new(&text);
    added.map_err(|error| {
        UsageError(format!("{}:{}: {}", path.display(), error.line(), error.reason())).into()
    })
}

/// Finds the file of a catalog, which lies where no command may write.
fn beside(file: &ConfigFile, named: &Path) -> Result<PathBuf> {
    if file.layer != Layer::User {
        let message = format!(
            "{}: `catalog` of `[shell]` counts in your own `haft.toml` alone, because a file beside this one can change \
             after it was trusted; write the entries here, as `[shell.commands.NAME]`",
            file.path
        );
        return Err(UsageError(message).into());
    }
    let is_below = named.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_below {
        let message = format!(
            "{}: `catalog` of `[shell]` names `{}`, which lies elsewhere; put it beside `haft.toml`, where no command may \
             write, and give its name",
            file.path,
            named.display()
        );
        return Err(UsageError(message).into());
    }
    Ok(file.folder.join(named))
}
