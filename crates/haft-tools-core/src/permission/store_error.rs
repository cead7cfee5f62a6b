use std::error::Error;

/// Says that what has to be kept cannot be kept or read.
///
/// ```
/// use haft_tools_core::StoreError;
/// use std::error::Error as _;
///
/// let error = StoreError::new("keep a grant", std::io::Error::from(std::io::ErrorKind::StorageFull));
/// assert_eq!(error.to_string(), "cannot keep a grant");
/// assert!(error.source().is_some());
/// ```
#[derive(Debug, thiserror::Error)]
#[error("cannot {attempted}")]
pub struct StoreError {
    attempted: &'static str,
    source: Box<dyn Error + Send + Sync>,
}

impl StoreError {
    /// Says what was attempted, as in `read the grants`, and what it failed with.
    pub fn new(attempted: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { attempted, source: source.into() }
    }
}
