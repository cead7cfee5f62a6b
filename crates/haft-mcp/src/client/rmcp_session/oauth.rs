//! Logins to servers, by OAuth 2.1.
//!
//! The library finds the authorization server, registers, and exchanges codes and tokens ([`Flow`]). What it lacks is here:
//! it writes codes and tokens to its log, so it runs where nothing is logged; its record of a login cannot be refreshed by
//! another process, so there is one that can ([`Login`]); and a token is refreshed once for all processes that share a
//! login ([`Vault`]).

mod asker;
mod flow;
mod known;
mod login;
mod vault;

#[cfg(test)]
mod tests;

use crate::client::auth::{Authorizer, Challenge, CredentialStore, LoginConfig, Token};
use crate::client::session::Fault;
use crate::shown::line;
use asker::Asker;
use async_trait::async_trait;
use flow::{Flow, Waiting};
use haft_http::Host;
use known::Doubt;
use login::Login;
use rmcp::transport::AuthError;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout};
use tracing::instrument::WithSubscriber as _;
use tracing::subscriber::NoSubscriber;
use vault::Vault;

/// How long a person may take to log in.
const LOGIN: Duration = Duration::from_mins(10);

/// How often more is asked for because a server wants it, within the time of a login.
const MOST_STEPS: u32 = 2;

/// The most bytes that are told of why a login was in vain.
const MOST_FAILURE: usize = 1 << 10;

/// Knows the login to one server.
pub(crate) struct OAuth(Arc<Inner>);

struct Inner {
    flow: Flow,
    vault: Vault,
    /// One at a time changes the login.
    change: tokio::sync::Mutex<Steps>,
    /// Where people come back to from logins that were begun.
    attempts: Mutex<JoinSet<()>>,
    /// Is told of each login that a person has finished.
    logged_in: Notify,
    /// Why the last login was in vain, until that is told.
    failure: Mutex<Option<String>>,
    /// Is told of each login that was in vain.
    failed: Notify,
}

/// How often more was asked for, and the attempt that is under way.
#[derive(Default)]
struct Steps {
    count: u32,
    last: Option<Instant>,
    attempt: Option<Attempt>,
}

struct Attempt {
    url: String,
    scopes: Vec<String>,
    task: AbortHandle,
    /// Is told when its port is free again.
    gone: oneshot::Receiver<()>,
}

/// Why there is no login.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Library(#[from] AuthError),
    #[error("the login cannot be kept: {0}")]
    Store(#[from] io::Error),
    #[error("the server does not say where to log in")]
    NoServer,
    #[error("the page to log in at is not given by `https`")]
    Plain,
    #[error("the authorization server has changed")]
    Changed,
    #[error("the authorization server says {0}")]
    Refused(String),
    #[error(
        "nothing says of which authorization server the secret of the client `{client}` is; write its `issuer`"
    )]
    OfNobody { client: String },
    #[error(
        "the server names the authorization server `{named}`, and the client `{client}` is registered with `{known}`; if the \
         server is to be believed, register a client there"
    )]
    OfAnother { client: String, known: String, named: String },
    #[error("the port {0}, at which people come back from logins, cannot be listened at: {1}")]
    Port(u16, io::Error),
}

impl OAuth {
    /// Knows the login to a server that is at this address, on this host; `authorities` are trusted besides the system's.
    pub(crate) fn new(
        server: String,
        host: Host,
        authorities: &[u8],
        config: LoginConfig,
        store: Arc<dyn CredentialStore>,
    ) -> Result<Self, haft_http::Error> {
        Ok(Self(Arc::new(Inner {
            flow: Flow::new(server.clone(), Asker::new(host, authorities)?, config),
            vault: Vault::new(server, store),
            change: tokio::sync::Mutex::default(),
            attempts: Mutex::default(),
            logged_in: Notify::new(),
            failure: Mutex::default(),
            failed: Notify::new(),
        })))
    }
}

#[async_trait]
impl Authorizer for OAuth {
    async fn token(&self) -> Result<Option<Token>, Fault> {
        let Some(login) = self.0.vault.login().await.map_err(broken)? else { return Ok(None) };
        if !login.is_over() || !login.can_refresh() {
            // One that is over and cannot be replaced is tried: what the server says to it tells where to log in.
            return Ok(login.token());
        }
        let _steps = self.0.change.lock().await;
        let login = self.0.refresh(&login, Doubt::No).await.unwrap_or(login);
        Ok(login.token())
    }

    async fn challenged(&self, challenge: Challenge<'_>) -> Result<(), Fault> {
        let mut steps = self.0.change.lock().await;
        let login = self.0.vault.login().await.map_err(broken)?;
        let token = login.as_ref().and_then(|login| login.token());
        // Somebody else has seen to it meanwhile.
        if token.is_some() && token.as_ref() != challenge.tried {
            return Ok(());
        }
        let mut held = Vec::new();
        if let Some(login) = login {
            if challenge.status == 403 {
                if !steps.may_step() {
                    return Err(Fault::Unauthorized { url: None });
                }
                held.clone_from(&login.stored.granted_scopes);
            } else if login.can_refresh() && self.0.refresh(&login, Doubt::Yes).await.is_ok() {
                return Ok(());
            }
        }
        let url = self.0.begin(&mut steps, challenge.header, held).await?;
        Err(Fault::Unauthorized { url: Some(url) })
    }

    async fn logged_in(&self) {
        self.0.logged_in.notified().await;
    }

    async fn login_failed(&self) -> String {
        loop {
            let failure = self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
            match failure {
                Some(failure) => return failure,
                None => self.0.failed.notified().await,
            }
        }
    }

    async fn begin(&self) -> Result<String, Fault> {
        let mut steps = self.0.change.lock().await;
        // What a server has asked for is not replaced by less.
        if let Some(attempt) = steps.attempt.as_ref().filter(|attempt| !attempt.task.is_finished()) {
            return Ok(attempt.url.clone());
        }
        self.0.begin(&mut steps, "", Vec::new()).await
    }

    async fn forget(&self) -> Result<(), Fault> {
        let mut steps = self.0.change.lock().await;
        if let Some(attempt) = steps.attempt.take() {
            attempt.task.abort();
        }
        self.0.flow.forget();
        self.0.vault.forget().await.map_err(broken)
    }
}

impl Steps {
    /// Counts a time that more is asked for; false if that was too often.
    fn may_step(&mut self) -> bool {
        let is_old = self.last.is_none_or(|last| last.elapsed() > LOGIN);
        self.count = if is_old { 1 } else { self.count + 1 };
        self.last = Some(Instant::now());
        self.count <= MOST_STEPS
    }
}

impl Inner {
    /// Replaces a token, or takes the one that another process has got meanwhile.
    async fn refresh(&self, old: &Login, doubt: Doubt) -> Result<Arc<Login>, Failure> {
        let locked = self.vault.lock().await?;
        let Some(kept) = locked.read().await? else { return Err(AuthError::AuthorizationRequired.into()) };
        if kept.token() != old.token() && !kept.is_over() {
            return Ok(kept);
        }
        match self.flow.refreshed(&kept, doubt).with_subscriber(NoSubscriber::new()).await {
            Ok(stored) => Ok(locked.keep(Login { stored, ..Login::clone(&kept) }).await?),
            // What the authorization server will never take again is of no use to anybody.
            Err(failure @ (Failure::Changed | Failure::Library(AuthError::TokenRefreshRejected(_)))) => {
                locked.forget().await?;
                Err(failure)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Begins a login, or gives the one that was begun for the same; the person's way is its URL.
    async fn begin(
        self: &Arc<Self>,
        steps: &mut Steps,
        challenge: &str,
        held: Vec<String>,
    ) -> Result<String, Fault> {
        let begun = self.begun(steps, challenge, held).with_subscriber(NoSubscriber::new()).await;
        begun.map_err(|failure| {
            Fault::Broken(format!("the server needs a login, and none can be begun: {failure}"))
        })
    }

    async fn begun(
        self: &Arc<Self>,
        steps: &mut Steps,
        challenge: &str,
        held: Vec<String>,
    ) -> Result<String, Failure> {
        let found = self.flow.find((!challenge.is_empty()).then_some(challenge)).await?;
        let scopes = self.flow.scopes(&found, held).await;
        if let Some(attempt) = &steps.attempt
            && attempt.scopes == scopes
            && !attempt.task.is_finished()
        {
            return Ok(attempt.url.clone());
        }
        let login = self.vault.login().await?;
        if let Some(before) = steps.attempt.take() {
            before.task.abort();
            // It may listen where this one has to.
            let _ = before.gone.await;
        }
        let waiting = self.flow.begin(found, login.as_deref(), &scopes).await?;
        // What became of an earlier login says nothing of this one.
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let url = waiting.url.clone();
        let (is_there, gone) = oneshot::channel();
        let task = self.wait(waiting, is_there);
        steps.attempt = Some(Attempt { url: url.clone(), scopes, task, gone });
        Ok(url)
    }

    /// Tells whoever waits for a login that it was in vain.
    fn fail(&self, failure: String) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
        self.failed.notify_one();
    }

    /// Waits for the person beside all else, as long as the login is known at all.
    fn wait(self: &Arc<Self>, waiting: Waiting, is_there: oneshot::Sender<()>) -> AbortHandle {
        let inner = Arc::downgrade(self);
        let run = async move {
            // Dropped last.
            let _is_there = is_there;
            // A login that nobody finishes leaves nothing behind.
            let Ok(Ok((ended, visit))) = timeout(LOGIN, waiting.login()).await else { return };
            let Some(inner) = inner.upgrade() else { return };
            let ended = match ended {
                Ok(login) => inner.vault.keep(login).await.map_err(Failure::Store),
                Err(failure) => Err(failure),
            };
            match ended {
                Ok(_) => {
                    inner.logged_in.notify_one();
                    visit.answer(true, "You are logged in. This page can be closed.").await;
                }
                Err(failure) => {
                    let failure = line(&failure.to_string(), MOST_FAILURE);
                    inner.fail(failure.clone());
                    visit.answer(false, &format!("The login failed: {failure}.")).await;
                }
            }
        };
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        while attempts.try_join_next().is_some() {}
        attempts.spawn(run.with_subscriber(NoSubscriber::new()))
    }
}

fn broken(error: io::Error) -> Fault {
    Fault::Broken(Failure::Store(error).to_string())
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").finish_non_exhaustive()
    }
}
