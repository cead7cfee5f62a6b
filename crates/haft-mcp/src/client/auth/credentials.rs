use haft_tools_core::PrivateFiles;
use sha2::{Digest as _, Sha256};
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long is waited for another process that changes the same login: it asks a service meanwhile.
const PATIENCE: Duration = Duration::from_mins(1);

/// Keeps the logins to servers.
///
/// A login is a text that only haft reads; it holds secrets. A server is told by a key that stands for its address.
/// The methods may block: haft calls them where that does no harm.
///
/// ```
/// use haft_mcp::{CredentialStore, MemoryCredentials};
///
/// /// Forgets all of these logins, each while nobody else uses it.
/// fn forget(store: &dyn CredentialStore, servers: &[&str]) -> std::io::Result<()> {
///     for server in servers {
///         let _held = store.lock(server)?;
///         store.remove(server)?;
///     }
///     Ok(())
/// }
/// forget(&MemoryCredentials::default(), &["notes", "time"])?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait CredentialStore: fmt::Debug + Send + Sync + 'static {
    /// The login to a server, if one is kept.
    fn load(&self, server: &str) -> io::Result<Option<String>>;

    /// Keeps a login, in place of the one that was kept.
    fn save(&self, server: &str, login: &str) -> io::Result<()>;

    /// Forgets a login.
    fn remove(&self, server: &str) -> io::Result<()>;

    /// Waits until nobody else changes the login to a server; they wait until what is given back is dropped.
    ///
    /// It may give up after some time, with an error.
    fn lock(&self, server: &str) -> io::Result<Box<dyn Any + Send + Sync>>;
}

impl<S: CredentialStore + ?Sized> CredentialStore for Arc<S> {
    fn load(&self, server: &str) -> io::Result<Option<String>> {
        (**self).load(server)
    }

    fn save(&self, server: &str, login: &str) -> io::Result<()> {
        (**self).save(server, login)
    }

    fn remove(&self, server: &str) -> io::Result<()> {
        (**self).remove(server)
    }

    fn lock(&self, server: &str) -> io::Result<Box<dyn Any + Send + Sync>> {
        (**self).lock(server)
    }
}

/// Keeps logins for as long as it lives.
///
/// ```
/// use haft_mcp::{CredentialStore as _, McpServers, MemoryCredentials};
/// use std::sync::Arc;
///
/// let store = Arc::new(MemoryCredentials::default());
/// let servers = McpServers::builder().credentials(Arc::clone(&store)).build();
/// # drop(servers);
/// store.save("notes", "what a login is kept as")?;
/// assert_eq!(store.load("notes")?.as_deref(), Some("what a login is kept as"));
/// store.remove("notes")?;
/// assert_eq!(store.load("notes")?, None);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Default)]
pub struct MemoryCredentials {
    logins: Mutex<HashMap<String, String>>,
}

impl CredentialStore for MemoryCredentials {
    fn load(&self, server: &str) -> io::Result<Option<String>> {
        Ok(self.logins.lock().unwrap_or_else(PoisonError::into_inner).get(server).cloned())
    }

    fn save(&self, server: &str, login: &str) -> io::Result<()> {
        let mut logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        logins.insert(server.to_owned(), login.to_owned());
        Ok(())
    }

    fn remove(&self, server: &str) -> io::Result<()> {
        self.logins.lock().unwrap_or_else(PoisonError::into_inner).remove(server);
        Ok(())
    }

    /// Nobody else is there: a server has one login, which is changed by one at a time.
    fn lock(&self, _server: &str) -> io::Result<Box<dyn Any + Send + Sync>> {
        Ok(Box::new(()))
    }
}

impl fmt::Debug for MemoryCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryCredentials").finish_non_exhaustive()
    }
}

/// Keeps each login in a file of a directory, which only the user may read (mode 0600); shared by processes.
///
/// A file is replaced as a whole, so that a login is there either as it was or as it is now. One that others could have
/// read or written is an error, and no login.
///
/// ```
/// use haft_mcp::{CredentialStore as _, FileCredentials};
///
/// # let place = tempfile::tempdir()?;
/// let store = FileCredentials::new(place.path().join("logins"));
/// store.save("notes", "what a login is kept as")?;
/// assert_eq!(store.load("notes")?.as_deref(), Some("what a login is kept as"));
/// store.remove("notes")?;
/// assert_eq!(store.load("notes")?, None);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FileCredentials(PrivateFiles);

impl FileCredentials {
    /// Keeps logins in this directory, which is made when the first is kept.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self(PrivateFiles::new(directory))
    }
}

/// A key may be any text, and a name only what every file system takes.
fn name(server: &str, extension: &str) -> String {
    let digest = Sha256::digest(server.as_bytes());
    let name = u128::from_be_bytes(digest[..16].try_into().expect("a digest has 32 bytes"));
    format!("{name:032x}.{extension}")
}

impl CredentialStore for FileCredentials {
    fn load(&self, server: &str) -> io::Result<Option<String>> {
        Ok(self.0.read(&name(server, "json"))?)
    }

    fn save(&self, server: &str, login: &str) -> io::Result<()> {
        Ok(self.0.write(&name(server, "json"), login)?)
    }

    fn remove(&self, server: &str) -> io::Result<()> {
        self.0.remove(&name(server, "json"))?;
        Ok(())
    }

    /// Waits for a minute at most.
    fn lock(&self, server: &str) -> io::Result<Box<dyn Any + Send + Sync>> {
        Ok(Box::new(self.0.lock(&name(server, "lock"), PATIENCE)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn keeps_logins_for_the_user_only() {
        let directory = tempfile::tempdir().unwrap();
        let files = FileCredentials::new(directory.path().join("logins"));
        let key = "https://example.org/mcp?a=b/../..";
        assert_eq!(files.load(key).unwrap(), None);
        for login in ["one", "two"] {
            files.save(key, login).unwrap();
            assert_eq!(files.load(key).unwrap().as_deref(), Some(login));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let path = files.0.path(&name(key, "json"));
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
            // What others could have read is theirs by now, and what they could have written may be theirs.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            assert_eq!(files.load(key).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        }
        files.remove(key).unwrap();
        files.remove(key).unwrap();
        assert_eq!(files.load(key).unwrap(), None);
    }

    #[test]
    fn one_holds_the_lock_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let files = FileCredentials::new(directory.path());
        let held = files.lock("a").unwrap();
        let other = || files.0.lock(&name("a", "lock"), Duration::ZERO);
        other().unwrap_err();
        let _of_another_server = files.lock("b").unwrap();
        drop(held);
        let _held = other().unwrap();
    }
}
