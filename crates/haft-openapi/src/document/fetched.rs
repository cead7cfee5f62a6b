use super::Document;
use super::begun::Begun;
use crate::fetch::{address, blocking, text};
use crate::read::read;
use crate::store::load_same_origin;
use crate::{LoadError, LoadOptions, References};
use haft_http::HttpClient;
use std::time::Duration;
use tokio::time::Instant;

/// How long all files that a document refers to may take together.
const ALL_FILES: Duration = Duration::from_mins(2);

impl Document {
    /// Reads a document from an address of HTTP, through a client that is held to its policy.
    ///
    /// Redirects are followed within the origin, which is scheme, host and port. Servers that are written without a host are on
    /// the document's, unless [`LoadOptions::base_url`] says otherwise. Files that it refers to are read with
    /// [`References::SameOrigin`], and with no other kind of references, within two minutes for all of them; those that take
    /// longer are left out and noted. It needs a runtime of tokio.
    ///
    /// # Errors
    ///
    /// If there is no good answer within a minute, if it is too large, and as [`from_text`](Self::from_text).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the connection; nothing is left of what was read.
    pub async fn from_url(url: &str, client: &HttpClient, options: &LoadOptions) -> Result<Self, LoadError> {
        let url = address(url)?;
        let mut options = options.clone();
        options.base_url.get_or_insert_with(|| url.to_string());
        let text = text(&url, client, options.most_bytes).await?;
        let (most_bytes, most_nodes) = (options.most_bytes, options.most_nodes);
        let mut begun = blocking(move || Begun::of(read(&text, most_bytes, most_nodes)?)).await?;
        if options.references == References::SameOrigin && !begun.outward.is_empty() {
            let outward = std::mem::take(&mut begun.outward);
            let more = load_same_origin(
                &mut begun.store,
                &url,
                outward,
                (client, &options),
                Instant::now() + ALL_FILES,
            )
            .await;
            begun.problems.extend(more);
        }
        blocking(move || Ok(begun.read(&options))).await
    }
}

#[cfg(test)]
mod tests;
