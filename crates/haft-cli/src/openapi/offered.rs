use super::documents::OpenApiDocuments;
use super::open::Configured;
use super::source::DocumentSource;
use crate::exit;
use crate::mcp::offered::Wanted;
use crate::paint::ASKS;
use crate::timeline::visible;
use anyhow::Result;
use haft::tools_core::{Catalog, CollisionPolicy, Redactor, SourceHealth};
use haft::{Tool, ToolRegistry};
use std::sync::Arc;

/// Adds the tools of documents that are wanted to those that there are, which keep their names.
///
/// What is wrong with a document is said on standard error, and stands in the way of nothing else.
pub(crate) async fn offer(
    documents: &Result<OpenApiDocuments>,
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
    for configured in configured(documents) {
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
pub(crate) fn offer_live(documents: &Result<OpenApiDocuments>, catalog: &Catalog, redactor: &Redactor) {
    for configured in configured(documents) {
        let configured = Configured { redactor: Some(redactor.clone()), ..configured.clone() };
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

/// Gives the documents, and says what is wrong with those that there are not.
fn configured(documents: &Result<OpenApiDocuments>) -> &[Configured] {
    match documents {
        Ok(known) => {
            known.print_notes();
            &known.documents
        }
        Err(error) => {
            exit::note(error.as_ref());
            &[]
        }
    }
}

fn note(name: &str, reason: &str) {
    errln!("{ASKS}note{ASKS:#}: the document `{name}` is left out: {}", visible(reason));
}
