//! The client of requests for a library that writes its own.

use super::{HttpClient, unanswered};
use crate::Error;

impl HttpClient {
    /// Gives the client beneath, for a library that makes its own requests; have each URL [checked](Self::check) first.
    ///
    /// What is said of [`HttpClient`] holds for its connections, certificates, redirects and proxies: names lead to addresses
    /// that the policy permits. What a request or an answer may hold, and how long it may take, is for that library to bound.
    pub fn beneath(&self) -> reqwest::Client {
        self.inner.clone()
    }
}

impl Error {
    /// Reads why a request of a client [from here](HttpClient::beneath) brought no answer; gives the error back if it is none
    /// of that client's.
    ///
    /// # Errors
    ///
    /// The same error, where it is of another kind.
    pub fn of_beneath(
        error: Box<dyn std::error::Error + Send + Sync>,
        host: &str,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let error = error.downcast::<reqwest::Error>()?;
        Ok(unanswered(*error, host.to_owned()))
    }
}
