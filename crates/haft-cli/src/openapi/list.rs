use super::arguments::ListOptions;
use super::chosen;
use super::open::Configured;
use super::report::{pairs, place};
use crate::config::Configuration;
use crate::exit::{Exit, UsageError};
use crate::opened_workdir;
use crate::paint::{ASKS, NAME, QUIET};
use crate::printed::print_json;
use crate::timeline::visible;
use anyhow::Result;
use haft::core::ToolSpec;
use schemars::JsonSchema;
use serde::Serialize;

/// Lists the operations of a document, or the documents that are configured.
pub(super) async fn list(options: &ListOptions) -> Result<Exit> {
    let Some(document) = &options.document else { return documents(options) };
    let workdir = opened_workdir::workdir(None)?;
    let documents = Configuration::read(&workdir)?.documents?;
    let opened = chosen::open(&documents, document, &options.chosen).await?;
    let pairs: Vec<_> = pairs(&opened).collect();
    if options.json {
        let specs: Vec<&ToolSpec> = pairs.iter().map(|(tool, _)| tool.spec()).collect();
        outln!("{}", serde_json::to_string_pretty(&specs)?);
        return Ok(Exit::Done);
    }
    let width = pairs.iter().map(|(_, operation)| operation.name().as_str().len()).max().unwrap_or_default();
    for (_, operation) in &pairs {
        let (name, place) = (operation.name().as_str(), visible(&place(operation)));
        let title = operation.title().map(|title| format!("  {QUIET}{}{QUIET:#}", visible(&title)));
        let deprecated =
            if operation.is_deprecated() { format!("  {ASKS}deprecated{ASKS:#}") } else { String::new() };
        outln!("{NAME}{name:width$}{NAME:#}  {place}{}{deprecated}", title.unwrap_or_default());
    }
    if pairs.is_empty() {
        outln!("No operation is chosen; `haft openapi check` says what is left out.");
    }
    Ok(Exit::Done)
}

fn documents(options: &ListOptions) -> Result<Exit> {
    let file = Configuration::read(&opened_workdir::workdir(None)?)?.documents?;
    let chosen = &options.chosen;
    if chosen.server.is_some()
        || chosen.no_deprecated
        || [&chosen.tag, &chosen.method, &chosen.path].iter().any(|given| !given.is_empty())
    {
        return Err(
            UsageError("name the document that is meant before what to choose of it".to_owned()).into()
        );
    }
    if options.json {
        let told = |document: &Configured| ListedDocument {
            name: document.name.clone(),
            document: shown(&document.settings.document).to_owned(),
        };
        print_json(&ListedDocuments {
            documents: file.documents.iter().map(told).collect(),
            disabled: file.disabled,
            refused: file.refused,
            untrusted: file.untrusted,
            notes: file.notes.into_iter().chain(file.replaced).collect(),
        })?;
        return Ok(Exit::Done);
    }
    file.print_notes();
    let names = file.documents.iter().map(|document| document.name.as_str());
    let width = names
        .chain(file.disabled.iter().chain(&file.untrusted).map(String::as_str))
        .map(str::len)
        .max()
        .unwrap_or_default()
        .min(40);
    for document in &file.documents {
        let place = visible(shown(&document.settings.document));
        outln!("{NAME}{:width$}{NAME:#}  {place}", document.name);
    }
    for name in &file.disabled {
        outln!("{:width$}  {QUIET}disabled{QUIET:#}", visible(name));
    }
    for name in &file.untrusted {
        outln!("{:width$}  {ASKS}not trusted{ASKS:#}", visible(name));
    }
    if [&file.disabled, &file.untrusted].iter().all(|names| names.is_empty()) && file.documents.is_empty() {
        outln!(
            "There are no documents; add one to `haft.toml`, yours or the workspace's, as in\n\n  [openapi.petstore]\n  document = \
             \"https://petstore3.swagger.io/api/v3/openapi.json\""
        );
    }
    Ok(Exit::Done)
}

/// The OpenAPI documents that are configured here.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ListedDocuments {
    /// Each document that can be used.
    documents: Vec<ListedDocument>,
    /// The names of those that are disabled.
    disabled: Vec<String>,
    /// The names of those whose configuration is wrong.
    refused: Vec<String>,
    /// The names of those of a file that is not trusted.
    untrusted: Vec<String>,
    /// What is wrong or odd in the files, for people.
    notes: Vec<String>,
}

/// An OpenAPI document, as it is configured.
#[derive(Serialize, JsonSchema)]
struct ListedDocument {
    /// Its name.
    name: String,
    /// Where it is: a path or an address, without what may be a secret.
    document: String,
}

/// Says where a document is: what stands behind a `?` may be a secret that a variable was replaced by.
fn shown(document: &str) -> &str {
    document.split(['?', '#']).next().unwrap_or_default()
}
