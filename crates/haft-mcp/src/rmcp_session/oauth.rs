//! Logins to servers, by OAuth 2.1.
//!
//! The library finds the authorization server, registers, and exchanges codes and tokens. What it lacks is here: it writes
//! codes and tokens to its log, so it runs where nothing is logged; its record of a login cannot be refreshed by another
//! process, so there is one that can ([`Login`]); and a token is refreshed once for all processes that share a login.

mod asker;
mod login;

#[cfg(test)]
mod tests;

use crate::auth::{Authorizer, Challenge, CredentialStore, LoginConfig, Redirect, Token};
use crate::session::Fault;
use asker::{Asker, is_guarded};
use async_trait::async_trait;
use haft_http::Host;
use login::Login;
use rmcp::transport::auth::{
    AuthorizationCallback, AuthorizationMetadata, AuthorizationMetadataSource, OAuthClientConfig,
};
use rmcp::transport::{
    AuthError, AuthorizationManager, CredentialStore as _, InMemoryCredentialStore, StoredCredentials,
};
use std::any::Any;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, timeout};
use tracing::instrument::WithSubscriber as _;
use tracing::subscriber::NoSubscriber;

/// How long a person may take to log in.
const LOGIN: Duration = Duration::from_mins(10);

/// How often more is asked for because a server wants it, within the time of a login.
const MOST_STEPS: u32 = 2;

const CLIENT_NAME: &str = "haft";

/// Knows the login to one server.
pub(crate) struct OAuth(Arc<Inner>);

struct Inner {
    /// The server's address: what tokens are for.
    server: String,
    config: LoginConfig,
    asker: Arc<Asker>,
    store: Arc<dyn CredentialStore>,
    /// One at a time changes the login.
    change: tokio::sync::Mutex<Steps>,
    known: Mutex<Known>,
    /// Where people come back to from logins that were begun.
    attempts: Mutex<JoinSet<()>>,
}

#[derive(Default)]
struct Known {
    was_read: bool,
    login: Option<Arc<Login>>,
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
}

impl OAuth {
    /// Knows the login to a server that is at this address.
    pub(crate) fn new(
        server: String,
        host: Host,
        config: LoginConfig,
        store: Arc<dyn CredentialStore>,
    ) -> Result<Self, haft_http::Error> {
        Ok(Self(Arc::new(Inner {
            server,
            config,
            asker: Arc::new(Asker::new(host)?),
            store,
            change: tokio::sync::Mutex::default(),
            known: Mutex::default(),
            attempts: Mutex::default(),
        })))
    }

    /// Begins a login although no server has asked for one; gives where a person logs in.
    pub(crate) async fn begin(&self) -> Result<String, Fault> {
        let mut steps = self.0.change.lock().await;
        self.0.begin(&mut steps, "", Vec::new()).await.map_err(|failure| Fault::Broken(failure.to_string()))
    }

    /// Forgets the login.
    pub(crate) async fn forget(&self) -> Result<(), Fault> {
        let _steps = self.0.change.lock().await;
        let _lock = self.0.lock().await.map_err(broken)?;
        self.0.forget().await.map_err(broken)
    }
}

#[async_trait]
impl Authorizer for OAuth {
    async fn token(&self) -> Result<Option<Token>, Fault> {
        let login = match self.0.known() {
            Some(known) => known,
            None => self.0.read().await.map_err(broken)?,
        };
        let Some(login) = login else { return Ok(None) };
        if !login.is_over() {
            return Ok(login.token());
        }
        let _steps = self.0.change.lock().await;
        // A token that cannot be replaced is tried: what the server says to it tells where to log in.
        let login = if login.can_refresh() { self.0.refresh(&login).await.unwrap_or(login) } else { login };
        Ok(login.token())
    }

    async fn challenged(&self, challenge: Challenge<'_>) -> Result<(), Fault> {
        let mut steps = self.0.change.lock().await;
        let login = self.0.known().flatten();
        // Somebody else has seen to it meanwhile.
        if let Some(login) = &login
            && challenge.tried.is_some()
            && login.token().as_ref() != challenge.tried
        {
            return Ok(());
        }
        let wants_more = challenge.status == 403;
        let mut held = Vec::new();
        if let Some(login) = login {
            if wants_more {
                held = login.stored.granted_scopes.clone();
                if !steps.may_step() {
                    return Err(Fault::Unauthorized { url: None });
                }
            } else if login.can_refresh() && self.0.refresh(&login).await.is_ok() {
                return Ok(());
            }
        }
        match self.0.begin(&mut steps, challenge.header, held).await {
            Ok(url) => Err(Fault::Unauthorized { url: Some(url) }),
            Err(failure) => {
                Err(Fault::Broken(format!("the server wants a login, and none can be begun: {failure}")))
            }
        }
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
    /// What is known of the login; `None` if it was not read yet.
    fn known(&self) -> Option<Option<Arc<Login>>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.was_read.then(|| known.login.clone())
    }

    fn know(&self, login: Option<Arc<Login>>) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Known { was_read: true, login };
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn CredentialStore, &str) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let (store, server) = (self.store.clone(), self.server.clone());
        let work = tokio::task::spawn_blocking(move || work(store.as_ref(), &server));
        work.await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    /// Reads the login that is kept. One that cannot be read, or is for another server, is none.
    async fn read(&self) -> io::Result<Option<Arc<Login>>> {
        let text = self.blocking(|store, server| store.load(server)).await?;
        let login: Option<Login> = text.and_then(|text| serde_json::from_str(&text).ok());
        let login = login.filter(|login| login.resource == self.server).map(Arc::new);
        self.know(login.clone());
        Ok(login)
    }

    async fn lock(&self) -> io::Result<Box<dyn Any + Send>> {
        self.blocking(|store, server| store.lock(server)).await
    }

    /// Keeps a login; the lock is held.
    async fn keep(&self, login: Login) -> io::Result<Arc<Login>> {
        let text = serde_json::to_string(&login).map_err(io::Error::other)?;
        self.blocking(move |store, server| store.save(server, &text)).await?;
        let login = Arc::new(login);
        self.know(Some(login.clone()));
        Ok(login)
    }

    /// Forgets the login; the lock is held.
    async fn forget(&self) -> io::Result<()> {
        self.blocking(|store, server| store.remove(server)).await?;
        self.know(None);
        Ok(())
    }

    /// Replaces a token, or takes the one that another process has got meanwhile.
    async fn refresh(&self, old: &Login) -> Result<Arc<Login>, Failure> {
        let _lock = self.lock().await?;
        let Some(kept) = self.read().await? else { return Err(AuthError::AuthorizationRequired.into()) };
        if kept.token() != old.token() && !kept.is_over() {
            return Ok(kept);
        }
        let refreshed = self.refreshed(&kept).with_subscriber(NoSubscriber::new()).await;
        match refreshed {
            Ok(stored) => Ok(self.keep(Login { stored, ..Login::clone(&kept) }).await?),
            // What the authorization server will never take again is of no use to anybody.
            Err(failure @ (Failure::Changed | Failure::Library(AuthError::TokenRefreshRejected(_)))) => {
                self.forget().await?;
                Err(failure)
            }
            Err(failure) => Err(failure),
        }
    }

    async fn refreshed(&self, login: &Login) -> Result<StoredCredentials, Failure> {
        let (mut manager, metadata) = self.manager(None).await?;
        if metadata.issuer != login.stored.issuer {
            return Err(Failure::Changed);
        }
        let mut client = OAuthClientConfig::new(&login.stored.client_id, &login.redirect_url);
        client.client_secret.clone_from(&login.client_secret);
        manager.configure_client(client)?;
        let kept = InMemoryCredentialStore::new();
        kept.save(login.stored.clone()).await?;
        manager.set_credential_store(kept.clone());
        manager.refresh_token().await?;
        kept.load().await?.ok_or_else(|| AuthError::AuthorizationRequired.into())
    }

    /// The library's part, and what the authorization server says of itself.
    async fn manager(
        &self,
        challenge: Option<&str>,
    ) -> Result<(AuthorizationManager, AuthorizationMetadata), Failure> {
        let asker = self.asker.clone();
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(self.server.as_str(), asker).await?;
        let found = manager.resolve_metadata_from_challenge(challenge).await?;
        // Without a word of the server's, its own address is no place to send a person or a secret to.
        if found.source == AuthorizationMetadataSource::LegacyEndpointFallback {
            return Err(Failure::NoServer);
        }
        let endpoints = [&found.metadata.authorization_endpoint, &found.metadata.token_endpoint];
        if !endpoints.into_iter().all(|endpoint| is_guarded(endpoint)) {
            return Err(Failure::Plain);
        }
        manager.set_metadata(found.metadata.clone());
        Ok((manager, found.metadata))
    }

    /// Begins a login, or gives the one that was begun for the same; the person's way is its URL.
    async fn begin(
        self: &Arc<Self>,
        steps: &mut Steps,
        challenge: &str,
        held: Vec<String>,
    ) -> Result<String, Failure> {
        let beginning = self.begun(challenge, held, steps.attempt.as_ref());
        let Some((attempt, run)) = beginning.with_subscriber(NoSubscriber::new()).await? else {
            return Ok(steps.attempt.as_ref().map(|attempt| attempt.url.clone()).unwrap_or_default());
        };
        if let Some(before) = steps.attempt.take() {
            before.task.abort();
        }
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        while attempts.try_join_next().is_some() {}
        let task = attempts.spawn(run.with_subscriber(NoSubscriber::new()));
        let (url, scopes) = attempt;
        steps.attempt = Some(Attempt { url: url.clone(), scopes, task });
        Ok(url)
    }

    /// Prepares a login: its URL with what it asks for, and what waits for the person; `None` if that is under way.
    async fn begun(
        self: &Arc<Self>,
        challenge: &str,
        held: Vec<String>,
        before: Option<&Attempt>,
    ) -> Result<Option<((String, Vec<String>), impl Future<Output = ()> + Send + 'static)>, Failure> {
        let challenge = (!challenge.is_empty()).then_some(challenge);
        let (mut manager, metadata) = self.manager(challenge).await?;
        let scopes = self.scopes(&manager, &metadata, held).await;
        if before.is_some_and(|before| before.scopes == scopes && !before.task.is_finished()) {
            return Ok(None);
        }
        let known = self.known().flatten().filter(|login| login.stored.issuer == metadata.issuer);
        let redirect =
            Redirect::listen(known.as_ref().and_then(|login| Redirect::port_of(&login.redirect_url))).await?;
        let client = self.client(&mut manager, &metadata, known.as_deref(), &redirect.url(), &scopes).await?;
        let client_secret = client.client_secret.clone();
        manager.configure_client(client)?;
        let scope_texts: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let url = manager.get_authorization_url(&scope_texts).await?;
        if !is_guarded(&url) {
            return Err(Failure::Plain);
        }
        // The task ends with what knows the login, and does not keep it.
        let inner = Arc::downgrade(self);
        let run = async move {
            let waiting = async {
                let kept = InMemoryCredentialStore::new();
                manager.set_credential_store(kept.clone());
                loop {
                    let Ok(visit) = redirect.visit().await else { return };
                    let came_back = come_back(&manager, &visit.url).await;
                    let (Ok(true), Ok(Some(stored)), Some(inner)) =
                        (&came_back, kept.load().await, inner.upgrade())
                    else {
                        let text = match &came_back {
                            Ok(_) => "This is not the login that was begun.".to_owned(),
                            Err(failure) => format!("The login failed: {failure}"),
                        };
                        visit.answer(false, &text).await;
                        match came_back {
                            Ok(_) => continue,
                            Err(_) => return,
                        }
                    };
                    let login = Login {
                        resource: inner.server.clone(),
                        client_secret: client_secret.clone(),
                        redirect_url: redirect.url(),
                        stored,
                    };
                    match inner.keep_new(login).await {
                        Ok(()) => visit.answer(true, "You are logged in. This page can be closed.").await,
                        Err(error) => {
                            visit.answer(false, &format!("The login cannot be kept: {error}")).await
                        }
                    }
                    return;
                }
            };
            // A login that nobody has finished leaves nothing behind.
            let _ = timeout(LOGIN, waiting).await;
        };
        Ok(Some(((url, scopes), run)))
    }

    async fn keep_new(&self, login: Login) -> io::Result<()> {
        let _lock = self.lock().await?;
        self.keep(login).await.map(drop)
    }

    /// What is asked for: what a person has configured, or what the server wants; in any case no less than is held.
    async fn scopes(
        &self,
        manager: &AuthorizationManager,
        metadata: &AuthorizationMetadata,
        held: Vec<String>,
    ) -> Vec<String> {
        const OFFLINE: &str = "offline_access";
        let mut scopes = held;
        let wanted = match self.config.scopes.as_slice() {
            [] => manager.select_initial_scopes(&[]).await,
            configured => configured.to_vec(),
        };
        scopes.extend(wanted);
        let knows_offline = metadata
            .scopes_supported
            .as_ref()
            .is_some_and(|scopes| scopes.iter().any(|scope| scope == OFFLINE));
        if knows_offline && !scopes.is_empty() {
            scopes.push(OFFLINE.to_owned());
        }
        let mut seen = Vec::new();
        scopes.retain(|scope| {
            let is_new = !seen.contains(scope);
            seen.push(scope.clone());
            is_new
        });
        scopes
    }

    /// As whom it is logged in: as configured, as described where that is taken, as before, or as one that registers now.
    async fn client(
        &self,
        manager: &mut AuthorizationManager,
        metadata: &AuthorizationMetadata,
        known: Option<&Login>,
        redirect_url: &str,
        scopes: &[String],
    ) -> Result<OAuthClientConfig, Failure> {
        if let Some(client) = &self.config.client {
            let mut config = OAuthClientConfig::new(&client.id, redirect_url);
            config.client_secret.clone_from(&client.secret);
            return Ok(config);
        }
        let takes_documents = metadata.additional_fields.get("client_id_metadata_document_supported");
        if let Some(url) = &self.config.client_metadata_url
            && takes_documents.and_then(serde_json::Value::as_bool) == Some(true)
        {
            return Ok(OAuthClientConfig::new(url, redirect_url));
        }
        if let Some(login) = known.filter(|login| login.redirect_url == redirect_url) {
            let mut config = OAuthClientConfig::new(&login.stored.client_id, redirect_url);
            config.client_secret.clone_from(&login.client_secret);
            return Ok(config);
        }
        if !metadata.registration_endpoint.as_deref().is_none_or(is_guarded) {
            return Err(Failure::Plain);
        }
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        Ok(manager.register_client(CLIENT_NAME, redirect_url, &scopes).await?)
    }
}

/// Exchanges what a browser has brought back; false if it is of another login.
async fn come_back(manager: &AuthorizationManager, url: &str) -> Result<bool, AuthError> {
    let callback = match AuthorizationCallback::from_redirect_url(url) {
        Ok(callback) => callback,
        Err(error) => return if url.contains("error=") { Err(error) } else { Ok(false) },
    };
    let AuthorizationCallback { code, csrf_token, issuer, .. } = callback;
    match manager.exchange_code_for_token_with_issuer(&code, &csrf_token, issuer.as_deref()).await {
        Ok(_) => Ok(true),
        // No login was begun with this state.
        Err(AuthError::InternalError(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

fn broken(error: io::Error) -> Fault {
    Fault::Broken(Failure::Store(error).to_string())
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("server", &self.0.server).finish_non_exhaustive()
    }
}
