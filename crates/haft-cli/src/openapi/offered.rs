use super::documents::OpenApiDocuments;
use super::source::DocumentSource;
use crate::exit;
use crate::mcp::offered::Wanted;
use crate::paint::ASKS;
use crate::timeline::visible;
use anyhow::Result;
use haft::{Catalog, CollisionPolicy, Redactor, SourceHealth, Tool, ToolRegistry, Workdir};
use std::sync::Arc;

/// Adds the tools of documents that are wanted to those that there are, which keep their names.
///
/// What is wrong with a document is said on standard error, and stands in the way of nothing else.
pub(crate) async fn offer(
    workdir: &Workdir,
    mut tools: ToolRegistry,
    wanted: Wanted<'_>,
) -> Result<ToolRegistry> {
    let (document, tool) = match wanted {
        Wanted::Nothing => return Ok(tools),
        Wanted::All => (None, None),
        Wanted::Of(tool) => match tool.split_once("__") {
            Some((document, _)) if tools.get(tool).is_none() => (Some(document), Some(tool)),
            _ => return Ok(tools),
        },
    };
    for configured in configured(workdir) {
        if document.is_some_and(|document| document != configured.name) {
            continue;
        }
        let opened = match configured.open().await {
            Ok(opened) => opened,
            Err(error) => {
                note(&configured.name, &format!("{error:#}"));
                continue;
            }
        };
        let mut of_document: Vec<Arc<dyn Tool>> = opened.tools.tools();
        // Each of the others would cost the time to compile its schema.
        if let Some(found) = of_document.iter().position(|one| Some(one.spec().name().as_str()) == tool) {
            of_document = vec![of_document.swap_remove(found)];
        }
        let (of_document, refused) = ToolRegistry::admit(of_document);
        for tool in refused {
            exit::note(&tool.error);
        }
        tools = tools.merge(&of_document, CollisionPolicy::KeepFirst)?;
    }
    Ok(tools)
}

/// Adds the documents that are configured behind the sources of a catalog; what they fetch to log in is registered as secret.
pub(crate) fn offer_live(workdir: &Workdir, catalog: &Catalog, redactor: &Redactor) {
    for mut configured in configured(workdir) {
        configured.redactor = Some(redactor.clone());
        if let Err(error) = catalog.attach(DocumentSource::new(configured)) {
            exit::note(&error);
        }
    }
}

/// Says on standard error of which documents of a catalog the tools are missing, and why.
pub(crate) fn print_notes(catalog: &Catalog) {
    for status in catalog.statuses() {
        if let (Some(name), SourceHealth::Failed { reason, .. }) =
            (status.name.strip_prefix("openapi:"), &status.health)
        {
            note(name, reason);
        }
    }
}

fn configured(workdir: &Workdir) -> Vec<super::open::Configured> {
    match OpenApiDocuments::read(workdir) {
        Ok(file) => {
            file.print_notes();
            file.documents
        }
        Err(error) => {
            exit::note(error.as_ref());
            Vec::new()
        }
    }
}

fn note(name: &str, reason: &str) {
    anstream::eprintln!("{ASKS}note{ASKS:#}: the document `{name}` is left out: {}", visible(reason));
}
