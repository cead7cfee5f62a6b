use haft_core::RunId;

/// Says why something cannot be set up or reached.
///
/// A worker that is given something else than the key of its engine does not serve:
///
/// ```
/// use haft_durable::Performer;
/// use haft_durable_restate::{Error, Worker};
/// # use haft_tools_core::{LocalExecutor, ToolRegistry};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let performer = Performer::new(LocalExecutor::builder(ToolRegistry::new()));
/// # let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
/// let worker = Worker::new("tools".parse()?, performer).identity_key("publickeyv1_no");
/// let error = worker.serve(listener, std::future::pending()).await.unwrap_err();
/// assert!(matches!(error, Error::IdentityKey { .. }));
/// assert_eq!(
///     error.to_string(),
///     "this is not a public key of Restate; write the one that Restate prints when it starts"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address of the engine is none.
    #[error("`{address}` is not an address of Restate; write one such as `http://127.0.0.1:8080`")]
    Address {
        /// The address.
        address: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The token that is to say who asks cannot stand in a header.
    #[error(
        "the token for Restate cannot stand in a header; look for line breaks and other control characters in it"
    )]
    Token {
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The key by which requests of the engine are known is none.
    #[error("this is not a public key of Restate; write the one that Restate prints when it starts")]
    IdentityKey {
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The engine does not answer.
    #[error("Restate does not answer at `{address}`")]
    Unreachable {
        /// Where it was asked.
        address: String,
        /// Why.
        source: haft_http::Error,
    },
    /// The engine does not take a worker.
    #[error("Restate does not take the worker at `{worker}` ({status}): {said}")]
    NotRegistered {
        /// Where the worker is.
        worker: String,
        /// The status of the answer.
        status: u16,
        /// What it said, cut to 1 KiB.
        said: String,
    },
    /// The engine does not list the calls that wait.
    #[error(
        "Restate does not list at `{address}` what waits: {said}; name the address of its admin interface"
    )]
    NotListed {
        /// Where it was asked.
        address: String,
        /// What it said, cut to 1 KiB.
        said: String,
    },
    /// A worker cannot take connections.
    #[error("the worker cannot take connections")]
    Serve {
        /// Why.
        source: std::io::Error,
    },
    /// A run cannot be asked for, or what the engine says of it cannot be read.
    #[error("the engine says nothing of the run `{run}`")]
    Run {
        /// The run.
        run: RunId,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// There is a run of that name, and it was asked for something else.
    #[error("there is another run of the name `{run}`; begin this one under a name of its own")]
    OtherRun {
        /// The run.
        run: RunId,
    },
}
