use super::login::Login;
use crate::client::auth::CredentialStore;
use std::any::Any;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Keeps the login to one server, here and where all processes find it.
pub(super) struct Vault {
    server: String,
    store: Arc<dyn CredentialStore>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    was_read: bool,
    login: Option<Arc<Login>>,
}

/// Is a vault whose login nobody else changes.
pub(super) struct Locked<'a> {
    vault: &'a Vault,
    _lock: Box<dyn Any + Send + Sync>,
}

impl Vault {
    pub(super) fn new(server: String, store: Arc<dyn CredentialStore>) -> Self {
        Self { server, store, known: Mutex::default() }
    }

    /// The login as it is known here; it is read the first time.
    pub(super) async fn login(&self) -> io::Result<Option<Arc<Login>>> {
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.was_read {
                return Ok(known.login.clone());
            }
        }
        self.read().await
    }

    /// Waits until nobody else changes the login.
    pub(super) async fn lock(&self) -> io::Result<Locked<'_>> {
        let lock = self.blocking(CredentialStore::lock).await?;
        Ok(Locked { vault: self, _lock: lock })
    }

    /// Keeps a login in place of whatever was kept.
    pub(super) async fn keep(&self, login: Login) -> io::Result<Arc<Login>> {
        self.lock().await?.keep(login).await
    }

    /// Forgets the login.
    pub(super) async fn forget(&self) -> io::Result<()> {
        self.lock().await?.forget().await
    }

    /// Reads the login. One that cannot be read, or is for another server, is none.
    async fn read(&self) -> io::Result<Option<Arc<Login>>> {
        let text = self.blocking(CredentialStore::load).await?;
        let login: Option<Login> = text.and_then(|text| serde_json::from_str(&text).ok());
        let login = login.filter(|login| login.resource == self.server).map(Arc::new);
        self.know(login.clone());
        Ok(login)
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
}

impl Locked<'_> {
    /// The login as it is now, whoever has changed it.
    pub(super) async fn read(&self) -> io::Result<Option<Arc<Login>>> {
        self.vault.read().await
    }

    /// Keeps a login.
    pub(super) async fn keep(&self, login: Login) -> io::Result<Arc<Login>> {
        let text = serde_json::to_string(&login).map_err(io::Error::other)?;
        self.vault.blocking(move |store, server| store.save(server, &text)).await?;
        let login = Arc::new(login);
        self.vault.know(Some(login.clone()));
        Ok(login)
    }

    /// Forgets the login.
    pub(super) async fn forget(&self) -> io::Result<()> {
        self.vault.blocking(CredentialStore::remove).await?;
        self.vault.know(None);
        Ok(())
    }
}
