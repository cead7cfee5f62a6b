use crate::redaction::Redaction;
use crate::service_error::short;
use crate::{ApiKey, ServiceError};
use haft_http::HttpClient;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::sync::Arc;
use url::Url;

/// Says where a service of models is, and as whom it is asked.
///
/// The [`HttpClient`] comes from the host and decides which addresses may be reached: a server on this machine needs
/// `AddressPolicy::public().loopback()`.
///
/// ```
/// use haft_http::{AddressPolicy, HttpClient};
/// use haft_providers::{ApiKey, Service};
///
/// let http = HttpClient::new(AddressPolicy::public().loopback())?;
/// let ollama = Service::new(http.clone(), "http://127.0.0.1:11434/v1")?;
/// let azure = Service::new(http.clone(), "https://example.openai.azure.com/openai/v1")?
///     .key_header("api-key", ApiKey::new("secret")?)?;
/// let gemini = Service::new(http, "https://generativelanguage.googleapis.com/v1beta/openai/")?
///     .bearer(ApiKey::new("secret")?);
/// assert!(!format!("{azure:?} {gemini:?} {ollama:?}").contains("secret"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Service {
    pub(crate) http: HttpClient,
    base: Url,
    headers: HeaderMap,
    keys: Vec<ApiKey>,
    /// What is secret in other headers.
    secrets: Vec<Arc<str>>,
    query: Vec<(String, String)>,
}

impl Service {
    /// Names a service by its base URL: what stands before `/messages`, `/chat/completions` or `/responses`.
    ///
    /// # Errors
    ///
    /// [`ServiceError::BaseUrl`] if it is no absolute URL of `http` or `https`, holds a user or a password, or has a query or a
    /// fragment.
    pub fn new(http: HttpClient, base_url: &str) -> Result<Self, ServiceError> {
        let base = crate::service_error::base_url(base_url)?;
        let (keys, secrets, query) = Default::default();
        Ok(Self { http, base, headers: HeaderMap::new(), keys, secrets, query })
    }

    /// Anthropic's own service, `https://api.anthropic.com/v1`.
    #[cfg(feature = "anthropic")]
    pub fn anthropic(http: HttpClient, key: ApiKey) -> Self {
        Self::known(http, "https://api.anthropic.com/v1").key(HeaderName::from_static("x-api-key"), "", key)
    }

    /// OpenAI's own service, `https://api.openai.com/v1`.
    #[cfg(feature = "openai")]
    pub fn openai(http: HttpClient, key: ApiKey) -> Self {
        Self::known(http, "https://api.openai.com/v1").bearer(key)
    }

    fn known(http: HttpClient, base_url: &str) -> Self {
        Self::new(http, base_url).expect("the address of a known service is a base URL")
    }

    /// Sends a key as `Authorization: Bearer`.
    pub fn bearer(self, key: ApiKey) -> Self {
        self.key(AUTHORIZATION, "Bearer ", key)
    }

    /// Sends a key in a header of its own, such as `x-api-key` or `api-key`.
    ///
    /// # Errors
    ///
    /// [`ServiceError::Header`] if that is no header's name.
    pub fn key_header(self, name: &str, key: ApiKey) -> Result<Self, ServiceError> {
        let header = HeaderName::try_from(name).map_err(|_| unfit(name))?;
        Ok(self.key(header, "", key))
    }

    fn key(mut self, name: HeaderName, before: &str, key: ApiKey) -> Self {
        self.headers.insert(name, key.header(before));
        self.keys.push(key);
        self
    }

    /// Sends a header with every request, such as `anthropic-beta` or `OpenAI-Organization`; not for keys, since its value may
    /// be shown in errors.
    ///
    /// # Errors
    ///
    /// [`ServiceError::Header`] if it is none.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, ServiceError> {
        let header = HeaderName::try_from(name).map_err(|_| unfit(name))?;
        let mut value = HeaderValue::try_from(value).map_err(|_| unfit(name))?;
        value.set_sensitive(true);
        self.headers.insert(header, value);
        Ok(self)
    }

    /// Sends a header whose value is a secret, or ends with one, such as `Authorization: Basic …`: what a service repeats of it
    /// is taken out of errors.
    ///
    /// A key that is all of the value, or stands behind `Bearer`, is better given as an [`ApiKey`].
    ///
    /// ```
    /// use haft_http::{AddressPolicy, HttpClient};
    /// use haft_providers::Service;
    ///
    /// let http = HttpClient::new(AddressPolicy::public())?;
    /// let service = Service::new(http, "https://models.example.org/v1")?
    ///     .secret_header("authorization", "Basic YW5uOmh1bnRlcjI=")?;
    /// assert!(!format!("{service:?}").contains("YW5u"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ServiceError::Header`] if it is none.
    pub fn secret_header(self, name: &str, value: &str) -> Result<Self, ServiceError> {
        let mut service = self.header(name, value)?;
        // A scheme such as `Basic` stands ahead of what is secret.
        let secrets = [value.trim(), value.rsplit(' ').next().unwrap_or_default()];
        service.secrets.extend(secrets.into_iter().map(Arc::from));
        Ok(service)
    }

    /// Adds a parameter to the query of every request, such as `api-version`.
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// The headers of a request.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The URL of a path below the base.
    pub(crate) fn url(&self, path: &[&str]) -> String {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !self.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.query);
        }
        url.into()
    }

    /// What takes the keys out of a text.
    pub(crate) fn redaction(&self) -> Redaction {
        Redaction::of(self.keys.iter().map(ApiKey::expose).chain(self.secrets.iter().map(|secret| &**secret)))
    }
}

fn unfit(name: &str) -> ServiceError {
    ServiceError::Header { name: short(name) }
}

/// Shows the host and the names of headers only.
impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("host", &self.base.host_str().unwrap_or_default())
            .field("headers", &self.headers.keys().map(HeaderName::as_str).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
