use super::documents::OpenApiDocuments;
use haft::{Tool, Workdir};
use std::sync::Arc;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Knows the documents that are configured, for whoever asks about tools by name.
pub(crate) struct KnownDocuments(Option<OpenApiDocuments>);

impl KnownDocuments {
    /// Reads the files; what is wrong with them is told where documents are needed.
    pub(crate) fn read(workdir: &Workdir) -> Self {
        Self(OpenApiDocuments::read(workdir).ok())
    }

    /// Gives the tool of this name, if it is one of them.
    pub(crate) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let (document, _) = name.split_once("__")?;
        let configured = self.0.as_ref()?.documents.iter().find(|known| known.name == document)?;
        let runtime = Handle::try_current()
            .ok()
            .filter(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)?;
        let opened = tokio::task::block_in_place(|| runtime.block_on(configured.open())).ok()?;
        opened.tools.tools().into_iter().find(|tool| tool.spec().name().as_str() == name)
    }
}
