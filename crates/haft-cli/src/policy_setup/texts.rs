use haft::policy::{LocalPolicySource, PolicySource as _};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Holds the texts of files by the one path that each has: what was read once is not read again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts(Arc<Mutex<BTreeMap<PathBuf, String>>>);

impl Texts {
    /// Keeps what somebody has read of a file.
    pub(crate) fn keep(&self, path: &Path, text: &str) {
        // A file that is gone meanwhile is gone for whoever asks for it next.
        if let Ok(canonical) = path.canonicalize() {
            self.texts().insert(canonical, text.to_owned());
        }
    }

    /// Gives the one path of a file with its text.
    pub(super) fn read(&self, path: &Path) -> io::Result<(PathBuf, String)> {
        let canonical = LocalPolicySource.canonical(path)?;
        let mut texts = self.texts();
        if let Some(text) = texts.get(&canonical) {
            let text = text.clone();
            return Ok((canonical, text));
        }
        let text = LocalPolicySource.read(path)?;
        texts.insert(canonical.clone(), text.clone());
        Ok((canonical, text))
    }

    /// Nothing panics half-way through a change.
    fn texts(&self) -> MutexGuard<'_, BTreeMap<PathBuf, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
