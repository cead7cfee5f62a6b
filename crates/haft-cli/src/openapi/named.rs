use super::documents::OpenApiDocuments;
use haft::{Tool, Workdir};
use std::sync::Arc;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Gives the tool of this name, if it is one of a document that is configured.
///
/// What is wrong with the document is told where it is needed.
pub(crate) fn named_tool(workdir: &Workdir, name: &str) -> Option<Arc<dyn Tool>> {
    let (document, _) = name.split_once("__")?;
    let file = OpenApiDocuments::read(workdir).ok()?;
    let configured = file.documents.iter().find(|known| known.name == document)?;
    let runtime =
        Handle::try_current().ok().filter(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)?;
    let opened = tokio::task::block_in_place(|| runtime.block_on(configured.open())).ok()?;
    opened.tools.tools().into_iter().find(|tool| tool.spec().name().as_str() == name)
}
