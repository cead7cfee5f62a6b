use super::arguments::ChosenOptions;
use super::documents::OpenApiDocuments;
use super::open::{Configured, Opened};
use super::settings::{Select, Settings};
use crate::exit::UsageError;
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};

/// Reads the document that the command line names: one of the configuration, an address, or a file.
pub(super) async fn open(
    known: &OpenApiDocuments,
    document: &str,
    options: &ChosenOptions,
) -> Result<Opened> {
    known.print_notes();
    let mut configured = find(known, document)?;
    let ChosenOptions { server, tag, method, path, no_deprecated } = options;
    let Settings { server: known, select, .. } = &mut configured.settings;
    if let Some(server) = server {
        *known = Some(server.clone());
    }
    let Select { tags, methods, paths, without_deprecated, .. } = select;
    for (given, known) in [(tag, tags), (method, methods), (path, paths)] {
        if !given.is_empty() {
            known.clone_from(given);
        }
    }
    *without_deprecated |= no_deprecated;
    // Whether a pattern can be read is told of the command line, and not of the document.
    let _ = select.selection().map_err(|error| UsageError(format!("{error:#}")))?;
    configured.open().await.with_context(|| {
        UsageError(format!(
            "cannot use the document `{document}`; name a file, an address, or a document of `haft.toml`"
        ))
    })
}

fn find(known: &OpenApiDocuments, document: &str) -> Result<Configured> {
    let refused = |why: &str| Err(UsageError(format!("the document `{document}` {why}")).into());
    if known.refused.iter().any(|name| name == document) {
        return refused("cannot be used; correct it as the note says");
    }
    if known.disabled.iter().any(|name| name == document) {
        return refused("is disabled; remove `disabled` from its configuration");
    }
    if known.untrusted.iter().any(|name| name == document) {
        return refused(
            "is not read before you trust the workspace; look at its `haft.toml`, then run `haft policy trust`",
        );
    }
    let path = Path::new(document);
    let documents = &known.documents;
    if let Some(found) = documents.iter().find(|other| other.name == document) {
        return Ok(found.clone());
    }
    let settings = Settings::of(document);
    if !settings.is_remote() && !path.exists() {
        let near = haft::tools_core::listed(
            haft::tools_core::nearest(document, documents.iter().map(|other| other.name.as_str())),
            "or",
        );
        let instead = if near.is_empty() {
            "name a file, an address, or a document of `haft.toml`".to_owned()
        } else {
            format!("did you mean {near}?")
        };
        return Err(UsageError(format!("there is no document `{document}`; {instead}")).into());
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Configured { name: stem, settings, folder: PathBuf::new(), redactor: None })
}
