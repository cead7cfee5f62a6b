use super::Failure;
use super::asker::{Asker, is_guarded};
use super::known::{Doubt, Known};
use super::login::Login;
use crate::client::auth::{LoginConfig, Redirect, RegisteredClient, Visit};
use crate::shown::line;
use rmcp::transport::auth::{
    AuthorizationCallback, AuthorizationMetadata, AuthorizationMetadataSource, OAuthClientConfig,
};
use rmcp::transport::{
    AuthError, AuthorizationManager, CredentialStore as _, InMemoryCredentialStore, StoredCredentials,
};
use serde_json::Value;
use std::io;
use std::sync::Arc;
use tokio::time::Instant;
use url::Url;

const CLIENT_NAME: &str = "haft";

/// What has to be asked for so that a token can be refreshed, where the authorization server knows it.
const OFFLINE: &str = "offline_access";

/// The most bytes that are told of an authorization server's words.
const MOST_SHOWN: usize = 500;

/// Goes through what a login consists of, with the library.
pub(super) struct Flow {
    /// The server's address: what tokens are for.
    server: String,
    config: LoginConfig,
    asker: Arc<Asker>,
    known: Known,
}

/// Is an authorization server that was found, and the library's part that knows it.
pub(super) struct Found {
    manager: AuthorizationManager,
    metadata: AuthorizationMetadata,
}

impl Found {
    pub(super) fn issuer(&self) -> Option<&str> {
        self.metadata.issuer.as_deref()
    }
}

/// Is a login that waits for a person.
pub(super) struct Waiting {
    /// Where the person goes.
    pub(super) url: String,
    server: String,
    manager: AuthorizationManager,
    kept: InMemoryCredentialStore,
    client_secret: Option<String>,
    redirect: Redirect,
    /// What tells this login from others.
    state: String,
}

impl Flow {
    pub(super) fn new(server: String, asker: Asker, config: LoginConfig) -> Self {
        Self { server, config, asker: Arc::new(asker), known: Known::default() }
    }

    /// Finds the authorization server that the server names.
    pub(super) async fn find(&self, challenge: Option<&str>) -> Result<Found, Failure> {
        let asker = self.asker.clone();
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(self.server.as_str(), asker).await?;
        let found = manager.resolve_metadata_from_challenge(challenge).await?;
        // Without a word of the server's, its own address is no place to send a person or a secret to.
        if found.source == AuthorizationMetadataSource::LegacyEndpointFallback {
            return Err(Failure::NoServer);
        }
        let metadata = found.metadata;
        let endpoints = [&metadata.authorization_endpoint, &metadata.token_endpoint];
        if !endpoints.into_iter().chain(&metadata.registration_endpoint).all(|endpoint| is_guarded(endpoint))
        {
            return Err(Failure::Plain);
        }
        manager.set_metadata(metadata.clone());
        Ok(Found { manager, metadata })
    }

    /// Gets another token for a login, from the authorization server that it is of; that is found anew where it is in doubt.
    pub(super) async fn refreshed(&self, login: &Login, doubt: Doubt) -> Result<StoredCredentials, Failure> {
        let known = self.known.take(login.stored.issuer.as_deref(), doubt);
        let (at, Found { mut manager, metadata }) = match known {
            Some(known) => known,
            None => (Instant::now(), self.find(None).await?),
        };
        if metadata.issuer != login.stored.issuer {
            return Err(Failure::Changed);
        }
        manager.configure_client(login.client())?;
        let kept = InMemoryCredentialStore::new();
        kept.save(login.stored.clone()).await?;
        manager.set_credential_store(kept.clone());
        manager.refresh_token().await?;
        let refreshed = kept.load().await?;
        // Tokens are kept elsewhere.
        manager.set_credential_store(InMemoryCredentialStore::new());
        self.known.keep(at, Found { manager, metadata });
        refreshed.ok_or_else(|| AuthError::AuthorizationRequired.into())
    }

    /// Forgets by whom a login was refreshed.
    pub(super) fn forget(&self) {
        self.known.forget();
    }

    /// What is asked for: what a person has configured, or what the server wants; in any case no less than is held.
    pub(super) async fn scopes(&self, found: &Found, held: Vec<String>) -> Vec<String> {
        let mut scopes = held;
        scopes.extend(match self.config.scopes.as_slice() {
            [] => found.manager.select_initial_scopes(&[]).await,
            configured => configured.to_vec(),
        });
        let known = found.metadata.scopes_supported.iter().flatten();
        if !scopes.is_empty() {
            scopes.extend(known.filter(|scope| *scope == OFFLINE).cloned());
        }
        let mut once = Vec::with_capacity(scopes.len());
        for scope in scopes {
            if !once.contains(&scope) {
                once.push(scope);
            }
        }
        once
    }

    /// Begins a login, as the client that was registered for the last one if it still can be.
    pub(super) async fn begin(
        &self,
        found: Found,
        before: Option<&Login>,
        scopes: &[String],
    ) -> Result<Waiting, Failure> {
        let Found { mut manager, metadata } = found;
        self.check_issuer(&metadata)?;
        let before = before.filter(|login| login.stored.issuer == metadata.issuer);
        let redirect = match self.config.redirect_port {
            Some(port) => Redirect::listen_at(port).await.map_err(|error| Failure::Port(port, error))?,
            None => Redirect::listen(before.and_then(|login| Redirect::port_of(&login.redirect_url))).await?,
        };
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = match self.client(&metadata, before, &redirect.url()) {
            Some(client) => client,
            None => manager.register_client(CLIENT_NAME, &redirect.url(), &scopes).await?,
        };
        let client_secret = client.client_secret.clone();
        manager.configure_client(client)?;
        let kept = InMemoryCredentialStore::new();
        manager.set_credential_store(kept.clone());
        let url = manager.get_authorization_url(&scopes).await?;
        let state = query(&url, "state").unwrap_or_default();
        Ok(Waiting { url, server: self.server.clone(), manager, kept, client_secret, redirect, state })
    }

    /// Refuses an authorization server that the configured client is not registered with: whatever it is told is for that one.
    fn check_issuer(&self, metadata: &AuthorizationMetadata) -> Result<(), Failure> {
        let Some(RegisteredClient { id, secret, issuer }) = &self.config.client else { return Ok(()) };
        let client = line(id, MOST_SHOWN);
        match issuer {
            None if secret.is_none() => Ok(()),
            None => Err(Failure::OfNobody { client }),
            // What it calls itself was checked against where the description is.
            Some(known) if metadata.issuer.as_deref().is_some_and(|named| is_same_issuer(named, known)) => {
                Ok(())
            }
            Some(known) => {
                let named = line(metadata.issuer.as_deref().unwrap_or_default(), MOST_SHOWN);
                Err(Failure::OfAnother { client, known: line(known, MOST_SHOWN), named })
            }
        }
    }

    /// As whom it is logged in: as configured, as described where that is taken, or as before; `None` if it has to register.
    fn client(
        &self,
        metadata: &AuthorizationMetadata,
        before: Option<&Login>,
        redirect_url: &str,
    ) -> Option<OAuthClientConfig> {
        if let Some(client) = &self.config.client {
            let mut config = OAuthClientConfig::new(&client.id, redirect_url);
            config.client_secret.clone_from(&client.secret);
            return Some(config);
        }
        let takes_documents = metadata.additional_fields.get("client_id_metadata_document_supported");
        if let Some(url) = &self.config.client_metadata_url
            && takes_documents.and_then(Value::as_bool) == Some(true)
        {
            return Some(OAuthClientConfig::new(url, redirect_url));
        }
        before.filter(|login| login.redirect_url == redirect_url).map(Login::client)
    }
}

impl Waiting {
    /// Waits for the person to come back, and gives what came of it with the page that waits to say so.
    pub(super) async fn login(self) -> io::Result<(Result<Login, Failure>, Visit)> {
        loop {
            let visit = self.redirect.visit().await?;
            if query(&visit.url, "state").as_ref() != Some(&self.state) {
                visit.answer(false, "This is not the login that was begun.").await;
                continue;
            }
            let exchanged = self.exchanged(&visit.url).await;
            let Self { server, client_secret, redirect, .. } = self;
            let login =
                |stored| Login { resource: server, client_secret, redirect_url: redirect.url(), stored };
            return Ok((exchanged.map(login), visit));
        }
    }

    /// Exchanges the code that a browser has brought back.
    async fn exchanged(&self, url: &str) -> Result<StoredCredentials, Failure> {
        if let Some(error) = query(url, "error") {
            let told = [Some(error), query(url, "error_description")];
            let told = told.into_iter().flatten().map(|text| format!("\"{}\"", line(&text, MOST_SHOWN)));
            return Err(Failure::Refused(told.collect::<Vec<_>>().join(": ")));
        }
        let AuthorizationCallback { code, csrf_token, issuer, .. } =
            AuthorizationCallback::from_redirect_url(url)?;
        self.manager.exchange_code_for_token_with_issuer(&code, &csrf_token, issuer.as_deref()).await?;
        self.kept.load().await?.ok_or_else(|| AuthError::AuthorizationRequired.into())
    }
}

/// Tells whether two addresses of authorization servers are one, written with a slash behind the host or without.
fn is_same_issuer(one: &str, other: &str) -> bool {
    one == other || Url::parse(one).is_ok_and(|one| Url::parse(other).is_ok_and(|other| one == other))
}

/// A part of a URL's query.
fn query(url: &str, name: &str) -> Option<String> {
    let url: Url = url.parse().ok()?;
    url.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
}
