#[cfg(any(feature = "anthropic", feature = "openai"))]
use http::HeaderValue;
use std::fmt;

/// Is what a service knows its caller by; nothing shows it.
///
/// It comes from the host: nothing here reads the environment or a file. `Debug` hides it, it is sent in headers that are
/// marked as sensitive, and it is taken out of what a service answers before that becomes an error.
///
/// ```
/// use haft_providers::ApiKey;
///
/// let key = ApiKey::new("sk-very-secret")?;
/// assert_eq!(format!("{key:?}"), "ApiKey([redacted])");
/// assert!(ApiKey::new("two words").is_err());
/// # Ok::<(), haft_providers::ServiceError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(Box<str>);

impl ApiKey {
    /// Takes a key; white space around it is left out, as a file or a variable may have it.
    ///
    /// # Errors
    ///
    /// [`ServiceError::Key`](crate::ServiceError::Key) if nothing is left, or what no key has: white space inside, or
    /// characters beyond ASCII.
    pub fn new(key: impl AsRef<str>) -> Result<Self, crate::ServiceError> {
        let key = key.as_ref().trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(crate::ServiceError::Key);
        }
        Ok(Self(key.into()))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The value of a header that holds it, marked as sensitive.
    #[cfg(any(feature = "anthropic", feature = "openai"))]
    pub(crate) fn header(&self, before: &str) -> HeaderValue {
        let mut value = HeaderValue::try_from(format!("{before}{}", self.0))
            .expect("a key is made of visible ASCII characters");
        value.set_sensitive(true);
        value
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey([redacted])")
    }
}
