//! `haft openapi`: says what becomes of OpenAPI documents, and calls their operations.

pub(crate) mod arguments;
mod call;
mod check;
mod chosen;
mod credential;
mod documents;
mod list;
mod looked_at;
mod named;
pub(crate) mod offered;
mod open;
mod report;
mod settings;
mod source;

pub(crate) use documents::OpenApiDocuments;
pub(crate) use list::ListedDocuments;
pub(crate) use looked_at::Documents;
pub(crate) use report::CheckedDocument;

use crate::exit::Exit;
use anyhow::Result;
use arguments::OpenApiCommand;
use schemars::{Schema, SchemaGenerator};

/// Does what one of the subcommands says.
pub(crate) async fn openapi(command: OpenApiCommand) -> Result<Exit> {
    match command {
        OpenApiCommand::Check(options) => check::check(&options).await,
        OpenApiCommand::List(options) => list::list(&options).await,
        OpenApiCommand::Call(options) => call::call(options).await,
    }
}

/// Lists what is wrong in what the files in force say of documents, and what of them is not used.
pub(crate) fn problems(documents: Result<OpenApiDocuments>) -> Result<(Vec<String>, Vec<String>)> {
    let OpenApiDocuments { notes, replaced, .. } = documents?;
    Ok((notes, replaced))
}

/// Gives the JSON Schema of a table `[openapi.NAME]`.
pub(crate) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<settings::Settings>()
}

/// Looks whether a table `[openapi.NAME]` can be read.
#[cfg(test)]
pub(crate) fn reads(value: toml::Value) -> Result<()> {
    Ok(value.try_into::<settings::Settings>().map(drop)?)
}
