use super::client::{Client, Line};
use super::transport::HttpTransport;
use crate::client::address::{Refusal, checked_address};
use crate::client::auth::Authorizer;
use crate::client::link::Ending;
use crate::client::rmcp_session::{Opening, Posts, open};
use crate::client::session::{Counterpart, Dial, DialError, Fault, Session};
use crate::{Era, RemoteServer};
use async_trait::async_trait;
use haft_http::{AddressPolicy, Host, HttpClient};
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// The most bytes of a file of authorities; all those of a system have a quarter of that.
const MOST_AUTHORITIES: u64 = 1 << 20;

/// Far enough away never to come.
const NEVER: Duration = Duration::from_hours(24);

/// Connects to a service.
pub(crate) struct HttpDial {
    url: String,
    headers: HeaderMap,
    http: HttpClient,
    authorizer: Option<Arc<dyn Authorizer>>,
    opening: Opening,
}

/// Says why a service cannot be asked as it is configured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpDialError {
    /// The address is none.
    #[error("the URL of the server cannot be asked; write one as in `https://example.org/mcp`")]
    Url,
    /// What is sent would be read by others.
    #[error("the server's URL is neither `https` nor `http` of this machine")]
    Plain,
    /// The file of authorities cannot be read.
    #[error("the certificates of `authorities` cannot be read from `{}`: {source}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// What is in the file of authorities is none.
    #[error("the certificates of `authorities` cannot be read: {0}")]
    NoAuthority(Box<dyn std::error::Error + Send + Sync>),
    /// A header that is configured is none; its value is not said.
    #[error("the header `{0}` cannot be sent")]
    Header(String),
    /// There is no client.
    #[error(transparent)]
    Client(haft_http::Error),
}

impl From<haft_http::Error> for HttpDialError {
    fn from(error: haft_http::Error) -> Self {
        match error {
            haft_http::Error::Authorities { source } => Self::NoAuthority(source),
            error => Self::Client(error),
        }
    }
}

impl HttpDial {
    /// Takes what a person has configured. The server's host may be anywhere; no other is connected to.
    ///
    /// `authorizer` is not asked if the person has configured the header `Authorization`.
    pub(crate) fn new(
        server: &RemoteServer,
        authorizer: Option<Arc<dyn Authorizer>>,
        opening: Opening,
    ) -> Result<Self, HttpDialError> {
        let host = host_of(&server.url)?;
        let policy = AddressPolicy::public().host(host);
        let http = HttpClient::builder(policy).authorities(authorities_of(server)?).build()?;
        let mut headers = HeaderMap::new();
        for (name, value) in &server.headers {
            let refuse = || HttpDialError::Header(name.clone());
            let known: HeaderName = name.parse().map_err(|_| refuse())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| refuse())?;
            value.set_sensitive(true);
            headers.insert(known, value);
        }
        let authorizer = authorizer.filter(|_| !headers.contains_key(AUTHORIZATION));
        Ok(Self { url: server.url.clone(), headers, http, authorizer, opening })
    }

    async fn open(
        &self,
        opening: &Opening,
        counterpart: Arc<dyn Counterpart>,
    ) -> Result<Arc<dyn Session>, DialError> {
        let most = opening.limits.message_bytes;
        let (ending, posts) = (Ending::new(), Arc::<Posts>::default());
        let line = Line { ending: ending.clone(), posts: posts.clone(), counterpart: counterpart.clone() };
        let client =
            Client::new(self.http.clone(), self.headers.clone(), self.authorizer.clone(), line, most);
        let transport = HttpTransport::new(client, &self.url, most, counterpart.clone(), ending.clone());
        match open(transport, ending, posts, opening, counterpart).await {
            // Nothing ends here but the way to the service.
            Err(DialError::Ended(farewell)) => Err(DialError::Unreachable(farewell.how)),
            opened => Ok(opened?),
        }
    }
}

/// Reads the certificates of the authorities that are trusted for a server besides the system's; nothing if none are.
pub(crate) fn authorities_of(server: &RemoteServer) -> Result<Vec<u8>, HttpDialError> {
    let Some(path) = &server.authorities else { return Ok(Vec::new()) };
    let mut pem = Vec::new();
    // A pipe would be waited for.
    let open = || {
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        File::open(path)
    };
    let read = open().and_then(|file| file.take(MOST_AUTHORITIES).read_to_end(&mut pem));
    match read {
        Ok(0) => Err(HttpDialError::NoAuthority("the file is empty".into())),
        Ok(_) => Ok(pem),
        Err(source) => Err(HttpDialError::Authorities { path: path.clone(), source }),
    }
}

/// The host of a server's URL, if what is sent there stays between it and this machine.
pub(crate) fn host_of(url: &str) -> Result<Host, HttpDialError> {
    let url = checked_address(url).map_err(|refusal| match refusal {
        Refusal::Insecure => HttpDialError::Plain,
        Refusal::NoAddress | Refusal::Login => HttpDialError::Url,
    })?;
    url.host_str().and_then(|host| host.parse().ok()).ok_or(HttpDialError::Url)
}

#[async_trait]
impl Dial for HttpDial {
    /// One connection has one era here: where a service is silent, the other era is tried on a connection of its own, and
    /// the first that is answered is taken.
    async fn dial(&self, counterpart: Arc<dyn Counterpart>) -> Result<Arc<dyn Session>, DialError> {
        let Opening { era, limits, memory, key, .. } = &self.opening;
        let is_unknown = era.or_else(|| memory.recall(key)).is_none();
        let mut first = self.opening.clone();
        first.limits.probe_timeout = NEVER;
        let first = self.open(&first, counterpart.clone());
        if !is_unknown {
            return first.await;
        }
        tokio::pin!(first);
        tokio::select! {
            opened = &mut first => return opened,
            () = sleep(limits.probe_timeout) => {}
        }
        let mut legacy = self.opening.clone();
        legacy.era = Some(Era::Legacy);
        legacy.limits.start_timeout = limits.start_timeout.saturating_sub(limits.probe_timeout);
        let legacy = self.open(&legacy, counterpart);
        tokio::pin!(legacy);
        tokio::select! {
            opened = &mut first => match opened {
                Ok(opened) => Ok(opened),
                Err(_) => legacy.await,
            },
            opened = &mut legacy => match opened {
                Ok(opened) => {
                    memory.remember(key, Era::Legacy);
                    Ok(opened)
                }
                Err(_) => first.await,
            },
        }
    }

    async fn logged_in(&self) {
        match &self.authorizer {
            Some(authorizer) => authorizer.logged_in().await,
            None => std::future::pending().await,
        }
    }

    async fn login_failed(&self) -> String {
        match &self.authorizer {
            Some(authorizer) => authorizer.login_failed().await,
            None => std::future::pending().await,
        }
    }

    async fn log_in(&self) -> Option<Result<String, Fault>> {
        Some(self.authorizer.as_ref()?.begin().await)
    }

    async fn log_out(&self) -> Option<Result<(), Fault>> {
        Some(self.authorizer.as_ref()?.forget().await)
    }
}

impl fmt::Debug for HttpDial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpDial").field("opening", &self.opening).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        let mut server = RemoteServer::new("https://mcp.example.com");
        server.authorities = Some(path.into());
        let read = authorities_of(&server).and_then(|pem| {
            Ok(HttpClient::builder(AddressPolicy::public()).authorities(pem).build().map(drop)?)
        });
        assert_eq!(read.unwrap_err().to_string(), expected);
    }

    #[test]
    fn says_why_authorities_cannot_be_trusted() {
        check(
            "/nowhere/ca.pem",
            "the certificates of `authorities` cannot be read from `/nowhere/ca.pem`: No such file or directory (os error 2)",
        );
        let empty = tempfile::NamedTempFile::new().unwrap();
        let empty = empty.path().to_str().unwrap();
        check(empty, "the certificates of `authorities` cannot be read: the file is empty");
        for special in ["/dev/null", "/dev"] {
            let said = format!(
                "the certificates of `authorities` cannot be read from `{special}`: it is not a regular file"
            );
            check(special, &said);
        }
        check(
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
            "the certificates of `authorities` cannot be read: there is none; write them in PEM",
        );
    }
}
