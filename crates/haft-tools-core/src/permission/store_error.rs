use std::error::Error;

/// Says that what has to be kept cannot be kept or read.
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
