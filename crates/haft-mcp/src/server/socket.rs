use super::caller::Principal;
use super::rmcp_service::{Serving, serve_lines};
use super::tool_server::{SocketError, session};
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How many clients are served at once; more wait until one goes.
const MOST: usize = 256;

/// After what time it is listened again where no connection could be taken.
const PAUSE: Duration = Duration::from_millis(100);

/// Is a socket that only its owner can open; dropped, it is removed.
pub(super) struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Listens at a path, in the place of a socket that was left behind.
    pub(super) async fn bind(path: &Path) -> Result<Self, SocketError> {
        let failed = |source: io::Error| SocketError::Listen { path: path.to_owned(), source };
        if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
            if UnixStream::connect(path).await.is_ok() {
                return Err(SocketError::Taken { path: path.to_owned() });
            }
            fs::remove_file(path).map_err(failed)?;
        }
        // It is made under another name, so that nobody can open it before nobody else may.
        let made = path.with_extension(format!("{}.tmp", session()));
        let listener = UnixListener::bind(&made).map_err(failed)?;
        let moved = fs::set_permissions(&made, fs::Permissions::from_mode(0o600))
            .and_then(|()| fs::hard_link(&made, path));
        let removed = fs::remove_file(&made);
        moved.and(removed).map_err(failed)?;
        Ok(Self { listener, path: path.to_owned() })
    }

    /// Serves whoever connects, until it is to stop.
    pub(super) async fn serve(&self, serving: &Arc<Serving>, stop: &CancellationToken) {
        let mut clients = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(_) = clients.join_next(), if !clients.is_empty() => {}
                accepted = self.listener.accept(), if clients.len() < MOST => match accepted {
                    Ok((stream, _)) => {
                        let (serving, stop) = (serving.clone(), stop.clone());
                        clients.spawn(async move {
                            let whose = (Principal::local(), session());
                            serve_lines(&serving, stream.into_split(), whose, &stop).await
                        });
                    }
                    // Too many files are open, for one; that passes.
                    Err(_) => sleep(PAUSE).await,
                },
            }
        }
        while clients.join_next().await.is_some() {}
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // If it cannot be removed, the next one replaces it.
        let _ = fs::remove_file(&self.path);
    }
}
