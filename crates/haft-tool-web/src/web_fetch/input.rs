use haft_core::{ToolError, Visible};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

/// The arguments of `web_fetch`. The comments are what the model reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FetchInput {
    /// The whole address, such as `https://example.org/page`.
    #[schemars(length(max = 8000))]
    pub(super) url: String,
    /// Whether to give the page's navigation, header and footer too.
    #[serde(default)]
    pub(super) whole: bool,
    /// Whether to give the HTML itself.
    #[serde(default)]
    pub(super) raw: bool,
}

/// Reads an address of the web.
pub(super) fn address(text: &str) -> Result<Url, ToolError> {
    let refused = |why: &str| ToolError::invalid_input(format!("`url` {why}"));
    let mut url = Url::parse(text.trim()).map_err(|_| {
        refused(
            "is not a whole address; write it with its scheme and host, such as `https://example.org/page`",
        )
    })?;
    if url.scheme() == "file" {
        return Err(refused("is that of a file on this machine; read it with a tool for files"));
    }
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = Visible::line(url.scheme());
        return Err(refused(&format!(
            "begins with `{scheme}:`, and only `http:` and `https:` are read; use another"
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("holds a user or a password, which are not sent; leave them out"));
    }
    url.set_fragment(None);
    Ok(url)
}
