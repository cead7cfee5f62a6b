use url::Url;

/// Says why a service cannot be asked as it was described.
///
/// ```
/// use haft_providers::{ApiKey, ServiceError};
///
/// let error = ApiKey::new("sk-copied with a space").unwrap_err();
/// assert_eq!(error, ServiceError::Key);
/// assert_eq!(
///     error.to_string(),
///     "cannot use the API key: it is empty, or has white space or characters beyond ASCII; copy it again"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The base URL is none.
    #[error("cannot use the base URL: {0}; write one as in `https://api.example.org/v1`")]
    BaseUrl(&'static str),
    /// The key is none.
    #[error(
        "cannot use the API key: it is empty, or has white space or characters beyond ASCII; copy it again"
    )]
    Key,
    /// A header is none.
    #[error(
        "cannot use the header `{name}`: its name or its value is not what a header can be; write it otherwise"
    )]
    Header {
        /// The header's name.
        name: String,
    },
    /// There is no adapter of that name.
    #[cfg(feature = "genai")]
    #[error("there is no adapter `{name}`; those there are, `GenaiModel::adapters` lists")]
    Adapter {
        /// The name.
        name: String,
    },
    /// There is no reasoning effort of that name.
    #[cfg(feature = "genai")]
    #[error(
        "there is no reasoning effort `{word}`; write `zero`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`, or a number of tokens"
    )]
    Effort {
        /// The name.
        word: String,
    },
}

/// Reads a base URL, ending in `/` or not.
pub(crate) fn base_url(text: &str) -> Result<Url, ServiceError> {
    let base = Url::parse(text).map_err(|_| ServiceError::BaseUrl("it is not an absolute URL"))?;
    if !matches!(base.scheme(), "http" | "https") {
        return Err(ServiceError::BaseUrl("it is neither `http` nor `https`"));
    }
    if !base.username().is_empty() || base.password().is_some() {
        return Err(ServiceError::BaseUrl("it holds a user or a password; give the key apart from it"));
    }
    if base.query().is_some() || base.fragment().is_some() {
        return Err(ServiceError::BaseUrl("it has a query or a fragment; give a query apart from it"));
    }
    Ok(base)
}

/// Makes a name fit to be shown.
pub(crate) fn short(name: &str) -> String {
    haft_core::Visible::line(name).to_string().chars().take(64).collect()
}
