use super::open::Configured;
use super::settings::Settings;
use crate::config::{ConfigFile, Layer, told};
use crate::exit::say_note;
use crate::paint::ASKS;
use crate::timeline::visible;
use anyhow::{Context as _, Result};
use haft::mcp::expand_variables;
use serde::Deserialize;

/// Holds the documents that are configured: tables `[openapi.NAME]` of `haft.toml`.
#[derive(Default)]
pub(crate) struct OpenApiDocuments {
    pub(super) documents: Vec<Configured>,
    /// What is wrong or odd in the files, for people.
    pub(super) notes: Vec<String>,
    /// Which documents another takes the place of, for people.
    pub(super) replaced: Vec<String>,
    /// The names of documents that something is wrong with.
    pub(super) refused: Vec<String>,
    pub(super) disabled: Vec<String>,
    /// The names of documents of the workspace's file, which is not trusted: they are not read.
    pub(super) untrusted: Vec<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Tables {
    openapi: toml::Table,
}

impl OpenApiDocuments {
    /// Gathers the documents of the files in force; one of the user's takes the place of the workspace's.
    pub(crate) fn of(files: &[&ConfigFile]) -> Result<Self> {
        let mut read = Self::default();
        for file in files {
            match file.parse() {
                Ok(Tables { openapi }) => {
                    openapi.into_iter().for_each(|(name, value)| read.take(&name, value, file));
                }
                Err(error) if file.layer == Layer::User => return Err(error),
                // A workspace must not keep the user from their own documents.
                Err(error) => read.notes.push(error.to_string()),
            }
        }
        Ok(read)
    }

    /// Gathers the secrets that the operations of the documents are called with.
    pub(crate) fn secrets(&self) -> Vec<String> {
        self.documents.iter().flat_map(Configured::secrets).collect()
    }

    /// Prints what is wrong or odd in the file.
    pub(super) fn print_notes(&self) {
        for note in self.notes.iter().chain(&self.replaced) {
            say_note(note);
        }
        if !self.untrusted.is_empty() {
            let names = haft::tools_core::listed(self.untrusted.iter().map(String::as_str), "and");
            errln!(
                "{ASKS}note{ASKS:#}: {} of `haft.toml` is not read before you trust the file; look at it, then run `haft policy \
                 trust`",
                visible(&names)
            );
        }
    }

    /// What is wrong with one document does not keep the others from being used.
    fn take(&mut self, name: &str, value: toml::Value, file: &ConfigFile) {
        let known = self.documents.iter().map(|known| &known.name).chain(&self.disabled).chain(&self.refused);
        if known.into_iter().any(|known| known == name) {
            self.replaced
                .push(format!("`{name}` of `{}` is not used: there is a document of that name", file.name));
            return;
        }
        if value.get("disabled") == Some(&toml::Value::Boolean(true)) {
            // What is not used need not be right.
            self.disabled.push(name.to_owned());
            return;
        }
        if file.layer == Layer::Untrusted {
            // What is not trusted learns nothing of the variables there are.
            self.untrusted.push(name.to_owned());
            return;
        }
        let read = named(name).and_then(|()| settings(value));
        match read {
            Ok(settings) => {
                let folder = file.folder.clone();
                let name = name.to_owned();
                self.documents.push(Configured { name, settings, folder, redactor: None });
            }
            Err(error) => {
                self.notes.push(format!("the document `{name}` of `{}` is left out: {error:#}", file.name));
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

/// Names of documents are parts of the names of tools, as those of servers are.
fn named(name: &str) -> Result<()> {
    anyhow::ensure!(
        !name.is_empty() && haft::core::namespace(name) == name,
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
