use super::documents::OpenApiDocuments;
use super::open::Configured;
use crate::config::Configuration;
use anyhow::Result;
use haft::Workdir;

/// Is the documents that are configured, for whoever looks whether they can be used.
pub(crate) struct Documents(OpenApiDocuments);

/// Is one of them, which was not read yet.
pub(crate) struct LookedAt(Configured);

impl Documents {
    pub(crate) fn of(workdir: &Workdir) -> Result<Self> {
        Configuration::read(workdir)?.documents.map(Self)
    }

    /// The names of those of a file that is not trusted.
    pub(crate) fn untrusted(&self) -> impl Iterator<Item = &str> {
        self.0.untrusted.iter().map(String::as_str)
    }

    pub(crate) fn into_all(self) -> impl Iterator<Item = LookedAt> {
        self.0.documents.into_iter().map(LookedAt)
    }
}

impl LookedAt {
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// Tells whether it is in the network.
    pub(crate) fn is_remote(&self) -> bool {
        self.0.settings.is_remote()
    }

    /// Reads it, and counts the operations that are tools.
    pub(crate) async fn operations(self) -> Result<usize> {
        Ok(self.0.open().await?.tools.tools().len())
    }
}
