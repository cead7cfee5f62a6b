use super::settings::Settings;
use crate::progress::Working;
use crate::timeline::visible;
use crate::user_directories::UserDirectories;
use anyhow::{Context as _, Result};
use haft::openapi::{Document, OpenApiTools};
use haft::tools_core::Redactor;
use std::path::{Path, PathBuf};

/// Is a document with what is said of it, not read yet.
#[derive(Clone)]
pub(super) struct Configured {
    pub(super) name: String,
    pub(super) settings: Settings,
    /// Where relative paths begin.
    pub(super) folder: PathBuf,
    /// Whose secrets what operations give is kept from; one of its own by default.
    pub(super) redactor: Option<Redactor>,
}

/// Is a document that was read, with its tools.
pub(super) struct Opened {
    pub(super) document: Document,
    pub(super) tools: OpenApiTools,
}

impl Configured {
    /// Reads the document, and makes tools of it.
    pub(super) async fn open(&self) -> Result<Opened> {
        let (settings, found) = (&self.settings, |path: &Path| self.found(path));
        let client = settings.client(&found)?;
        let _working = Working::on(format!("reading {}", visible(&settings.document)));
        let document = if settings.is_remote() {
            let options = settings.load_options(None);
            Document::from_url(&settings.document, &client, &options).await?
        } else {
            let path = self.found(Path::new(&settings.document));
            // The parent of a bare name is empty.
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let options = settings.load_options(Some(folder.unwrap_or(Path::new("."))));
            let reading = tokio::task::spawn_blocking(move || Document::from_file(path, &options));
            reading.await.context("cannot read the document")??
        };
        let tools = settings.tools(&self.name, document.clone(), client, &found, self.redactor.clone())?;
        Ok(Opened { document, tools })
    }

    /// Gathers the secrets that its operations are called with; what cannot be read is told when it is used.
    pub(super) fn secrets(&self) -> Vec<String> {
        self.settings.secrets(&|path| self.found(path))
    }

    /// Finds a path that is written relative to a file of configuration or to the home directory.
    fn found(&self, path: &Path) -> PathBuf {
        UserDirectories::found(&self.folder, path)
    }
}
