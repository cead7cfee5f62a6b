use sha2::{Digest as _, Sha256};
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Keeps the logins to servers.
///
/// A login is a text that only haft reads; it holds secrets. A server is told by a key that stands for its address.
/// The methods may block: haft calls them where that does no harm.
pub trait CredentialStore: fmt::Debug + Send + Sync + 'static {
    /// The login to a server, if one is kept.
    fn load(&self, server: &str) -> io::Result<Option<String>>;

    /// Keeps a login, in place of the one that was kept.
    fn save(&self, server: &str, login: &str) -> io::Result<()>;

    /// Forgets a login.
    fn remove(&self, server: &str) -> io::Result<()>;

    /// Waits until nobody else changes the login to a server; they wait until what is given back is dropped.
    fn lock(&self, server: &str) -> io::Result<Box<dyn Any + Send + Sync>>;
}

/// Keeps logins for as long as it lives.
#[derive(Default)]
pub struct CredentialsInProcess {
    logins: Mutex<HashMap<String, String>>,
}

impl CredentialStore for CredentialsInProcess {
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

impl fmt::Debug for CredentialsInProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialsInProcess").finish_non_exhaustive()
    }
}

/// Keeps each login in a file of a directory, which only the user may read (mode 0600); shared by processes.
///
/// A file is replaced as a whole, so that a login is there either as it was or as it is now.
#[derive(Debug, Clone)]
pub struct CredentialFiles {
    directory: PathBuf,
}

impl CredentialFiles {
    /// Keeps logins in this directory, which is made when the first is kept.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// A key may be any text, and a name only what every file system takes.
    fn path(&self, server: &str, extension: &str) -> PathBuf {
        let digest = Sha256::digest(server.as_bytes());
        let name = u128::from_be_bytes(digest[..16].try_into().expect("a digest has 32 bytes"));
        self.directory.join(format!("{name:032x}.{extension}"))
    }

    fn make_directory(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.directory)
    }
}

impl CredentialStore for CredentialFiles {
    fn load(&self, server: &str) -> io::Result<Option<String>> {
        match fs::read_to_string(self.path(server, "json")) {
            Ok(login) => Ok(Some(login)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn save(&self, server: &str, login: &str) -> io::Result<()> {
        self.make_directory()?;
        let (path, new) = (self.path(server, "json"), self.path(server, "new"));
        // One that was left behind may have another mode.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = private(OpenOptions::new().write(true).create_new(true)).open(&new)?;
        file.write_all(login.as_bytes())?;
        file.sync_all()?;
        fs::rename(new, path)
    }

    fn remove(&self, server: &str) -> io::Result<()> {
        match fs::remove_file(self.path(server, "json")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn lock(&self, server: &str) -> io::Result<Box<dyn Any + Send + Sync>> {
        self.make_directory()?;
        let file = open_lock(&self.path(server, "lock"))?;
        file.lock()?;
        Ok(Box::new(file))
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create(true).truncate(false)).open(path)
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_logins_for_the_user_only() {
        let directory = tempfile::tempdir().unwrap();
        let files = CredentialFiles::new(directory.path().join("logins"));
        let key = "https://example.org/mcp?a=b/../..";
        assert_eq!(files.load(key).unwrap(), None);
        for login in ["one", "two"] {
            files.save(key, login).unwrap();
            assert_eq!(files.load(key).unwrap().as_deref(), Some(login));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            let _lock = files.lock(key).unwrap();
            assert_eq!(mode(&files.directory), 0o700);
            let found: Vec<PathBuf> =
                fs::read_dir(&files.directory).unwrap().map(|entry| entry.unwrap().path()).collect();
            assert_eq!(found.len(), 2);
            assert!(found.iter().all(|path| mode(path) == 0o600), "{found:?}");
        }
        files.remove(key).unwrap();
        files.remove(key).unwrap();
        assert_eq!(files.load(key).unwrap(), None);
    }

    #[test]
    fn one_holds_the_lock_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let files = CredentialFiles::new(directory.path());
        let held = files.lock("a").unwrap();
        let other = open_lock(&files.path("a", "lock")).unwrap();
        assert!(other.try_lock().is_err());
        let _of_another_server = files.lock("b").unwrap();
        drop(held);
        assert!(other.try_lock().is_ok());
    }
}
