//! `haft openapi`: says what becomes of OpenAPI documents, and calls their operations.

pub(crate) mod arguments;
mod call;
mod check;
mod chosen;
mod credential;
mod documents;
mod list;
pub(crate) mod named;
pub(crate) mod offered;
mod open;
mod report;
mod settings;
mod source;

use crate::exit::Exit;
use anyhow::Result;
use arguments::OpenApiCommand;
use haft::Workdir;

/// Does what one of the subcommands says.
pub(crate) async fn openapi(command: OpenApiCommand) -> Result<Exit> {
    match command {
        OpenApiCommand::Check(options) => check::check(&options).await,
        OpenApiCommand::List(options) => list::list(&options).await,
        OpenApiCommand::Call(options) => call::call(options).await,
    }
}

/// Lists what is wrong in what the files in force say of documents, and what of them is not used.
pub(crate) fn problems(workdir: &Workdir) -> Result<(Vec<String>, Vec<String>)> {
    let documents = documents::OpenApiDocuments::read(workdir)?;
    Ok((documents.notes, documents.replaced))
}
