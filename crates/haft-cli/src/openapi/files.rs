use super::open::Configured;
use super::settings::Settings;
use crate::exit::UsageError;
use crate::paint::ASKS;
use crate::small_file::text_of;
use crate::timeline::visible;
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use haft::mcp::expand_variables;
use std::path::Path;

/// The file of the user's documents, in haft's configuration directory.
pub(super) const FILE: &str = "openapi.toml";

/// Holds the documents that are configured here.
#[derive(Default)]
pub(super) struct OpenApiFile {
    pub(super) documents: Vec<Configured>,
    /// What is wrong or odd in the file, for people.
    pub(super) notes: Vec<String>,
    /// The names of documents that something is wrong with.
    pub(super) refused: Vec<String>,
    pub(super) disabled: Vec<String>,
}

impl OpenApiFile {
    /// Reads the user's file, which need not be there.
    pub(super) fn read() -> Result<Self> {
        let directories = UserDirectories::from_environment();
        let Some((directory, _)) = directories.config() else { return Ok(Self::default()) };
        let path = directory.join(FILE);
        let Some(text) = text_of(&path)? else { return Ok(Self::default()) };
        let shown = path.display();
        let file: toml::Table = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            UsageError(format!("`{shown}` is not TOML: {} in line {line}", error.message()))
        })?;
        let mut read = Self::default();
        for (key, value) in file {
            match (key.as_str(), value) {
                ("openapi", toml::Value::Table(documents)) => {
                    for (name, value) in documents {
                        read.take(&name, value, directory);
                    }
                }
                _ => read.notes.push(format!(
                    "`{key}` of `{FILE}` is not known, and has no effect; documents are tables `[openapi.NAME]`"
                )),
            }
        }
        Ok(read)
    }

    /// Prints what is wrong or odd in the file.
    pub(super) fn print_notes(&self) {
        for note in &self.notes {
            anstream::eprintln!("{ASKS}note{ASKS:#}: {}", visible(note));
        }
    }

    /// What is wrong with one document does not keep the others from being used.
    fn take(&mut self, name: &str, value: toml::Value, folder: &Path) {
        if value.get("disabled") == Some(&toml::Value::Boolean(true)) {
            // What is not used need not be right.
            self.disabled.push(name.to_owned());
            return;
        }
        let read = named(name).and_then(|()| settings(value));
        match read {
            Ok(settings) => {
                self.documents.push(Configured {
                    name: name.to_owned(),
                    settings,
                    folder: folder.to_owned(),
                });
            }
            Err(error) => {
                self.notes.push(format!("the document `{name}` of `{FILE}` is left out: {error:#}"));
                self.refused.push(name.to_owned());
            }
        }
    }
}

fn settings(mut value: toml::Value) -> Result<Settings> {
    let read = |value: toml::Value| {
        value.try_into::<Settings>().map_err(|error| anyhow::anyhow!(told(error.message())))
    };
    // What is wrong is told of what is written: it may quote a value, which a variable could be a secret of.
    read(value.clone())?;
    expand(&mut value)?;
    let settings = read(value)?;
    anyhow::ensure!(!settings.document.is_empty(), "it has no `document`; write a path or an address");
    Ok(settings)
}

/// Says what is wrong with a table; of a field that is not known, what is meant, and not all that could be.
fn told(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let (true, Some(unknown)) = (message.starts_with("unknown field"), quoted.next()) else {
        return message.to_owned();
    };
    let near = haft::listed(haft::nearest(unknown, quoted), "or");
    let instead = if near.is_empty() { String::new() } else { format!("; did you mean {near}?") };
    format!("`{unknown}` is not known{instead}")
}

/// Names of documents are parts of the names of tools, as those of servers are.
fn named(name: &str) -> Result<()> {
    anyhow::ensure!(
        !name.is_empty() && haft::namespace(name) == name,
        "a name has 1 to 32 letters, digits, `-` and single `_` inside; rename it"
    );
    Ok(())
}

/// Replaces variables in all texts.
fn expand(value: &mut toml::Value) -> Result<()> {
    match value {
        toml::Value::String(text) => {
            *text = expand_variables(text, &|name| std::env::var(name).ok())?;
        }
        toml::Value::Array(items) => items.iter_mut().try_for_each(expand)?,
        toml::Value::Table(members) => {
            for (name, member) in members.iter_mut() {
                expand(member).with_context(|| format!("`{name}`"))?;
            }
        }
        _ => {}
    }
    Ok(())
}
