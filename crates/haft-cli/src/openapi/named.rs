use super::documents::OpenApiDocuments;
use haft::Tool;
use std::sync::Arc;
use tokio::runtime::{Handle, RuntimeFlavor};

impl OpenApiDocuments {
    /// Gives the tool of this name, if it is one of theirs.
    pub(crate) fn named_tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let (document, _) = name.split_once("__")?;
        let configured = self.documents.iter().find(|known| known.name == document)?;
        let runtime = Handle::try_current()
            .ok()
            .filter(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)?;
        let opened = tokio::task::block_in_place(|| runtime.block_on(configured.open())).ok()?;
        opened.tools.tools().into_iter().find(|tool| tool.spec().name().as_str() == name)
    }
}
