use std::net::IpAddr;
use std::time::Duration;

/// Says why there is no answer, or not the whole of it.
///
/// Nothing of the request but its host is in it: user, password, path, query, headers and body may hold secrets.
///
/// ```
/// use haft_http::{AddressPolicy, Error, Exchange, HttpClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = HttpClient::new(AddressPolicy::public())?;
/// let request = http::Request::get("http://127.0.0.1:8080/admin?key=k").body(bytes::Bytes::new())?;
/// let error = client.send(request, Exchange::default()).await.unwrap_err();
/// assert!(matches!(error, Error::Address { .. }));
/// assert_eq!(
///     error.to_string(),
///     "refused to connect to `127.0.0.1`: 127.0.0.1 is not an address of the public internet, and is not permitted",
/// );
/// assert!(!error.can_retry());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address of the request is none that can be asked.
    #[error("cannot use the URL: {0}")]
    Url(&'static str),
    /// The connection would have been made to an address that the policy refuses.
    #[error(
        "refused to connect to `{host}`: {address} is not an address of the public internet, and is not permitted"
    )]
    Address {
        /// The host as it was named.
        host: String,
        /// The address that it leads to.
        address: IpAddr,
    },
    /// No connection could be made: the name leads nowhere, or nobody listens.
    #[error("cannot connect to `{host}`")]
    Connect {
        /// The host as it was named.
        host: String,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The host has not shown that it is the one that is named: nothing was sent to it.
    #[error("cannot trust `{host}`: {reason}")]
    Certificate {
        /// The host as it was named.
        host: String,
        /// What is wrong with its certificate.
        reason: &'static str,
        /// The same of the library that looked at it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The answer did not begin in time.
    #[error("`{host}` did not answer within {} s", within.as_secs_f64())]
    Silent {
        /// The host as it was named.
        host: String,
        /// How long it was waited for.
        within: Duration,
    },
    /// Nothing more of the answer came in time.
    #[error("`{host}` sent nothing more for {} s", within.as_secs_f64())]
    Stalled {
        /// The host as it was named.
        host: String,
        /// How long it was waited for.
        within: Duration,
    },
    /// The whole of it took too long.
    #[error("`{host}` took longer than the {} s that are waited", within.as_secs_f64())]
    Late {
        /// The host as it was named.
        host: String,
        /// How long all of it may take.
        within: Duration,
    },
    /// The connection broke before the answer was complete.
    #[error("the connection to `{host}` broke")]
    Interrupted {
        /// The host as it was named.
        host: String,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The body of the answer is larger than is taken.
    #[error("the answer is larger than the {most} bytes that are taken")]
    TooLarge {
        /// How many bytes are taken.
        most: u64,
    },
    /// The body of the answer is not what a decompressor can read.
    #[error("cannot decompress the answer of `{host}`")]
    Encoding {
        /// The host as it was named.
        host: String,
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The answer led to another address, and it was not gone to.
    #[error("`{host}` redirects, and that is not followed: {reason}")]
    Redirect {
        /// The host as it was named.
        host: String,
        /// Why it is not followed.
        reason: &'static str,
    },
    /// The authorities that were to be trusted besides the system's are none.
    #[error("cannot read the certificates of further authorities")]
    Authorities {
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The client itself could not be made.
    #[error("cannot set up a client")]
    Setup {
        /// What went wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// Tells whether the same request may fare better later: the host was not reached, was too slow, or broke off.
    ///
    /// Whether it may be repeated at all is another question: it may have been acted on.
    pub fn can_retry(&self) -> bool {
        matches!(
            self,
            Self::Connect { .. }
                | Self::Silent { .. }
                | Self::Stalled { .. }
                | Self::Late { .. }
                | Self::Interrupted { .. }
        )
    }
}
