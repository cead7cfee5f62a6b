use bytes::Bytes;
use http::{HeaderMap, Method};

/// Holds a request that was made of an operation and arguments, without credentials.
#[derive(Debug, Clone)]
pub struct RequestParts {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Says why arguments do not make a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// An argument is missing, of the wrong kind, or cannot be sent without changing something else.
    #[error("at `{pointer}`: {message}")]
    Argument {
        /// The place in the arguments, as a JSON pointer.
        pointer: String,
        /// What is wrong, for a model.
        message: String,
    },
    /// Neither the document nor the host says which server the operation is on.
    #[error("it is not said which server the operation is on: {0}")]
    Server(String),
}

impl RequestParts {
    /// The method.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The absolute address, with its query and without a fragment.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The headers, `Content-Type`, `Accept` and `Cookie` among them where they are needed.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The body; empty where there is none.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// Makes a request of it.
    ///
    /// # Errors
    ///
    /// If `http` does not take the address, which is possible only for one that the document itself spoils.
    pub fn into_request(self) -> Result<http::Request<Bytes>, http::Error> {
        let mut request = http::Request::builder().method(self.method).uri(self.url).body(self.body)?;
        *request.headers_mut() = self.headers;
        Ok(request)
    }
}

impl EncodeError {
    pub(crate) fn argument(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Argument { pointer: pointer.into(), message: message.into() }
    }
}
