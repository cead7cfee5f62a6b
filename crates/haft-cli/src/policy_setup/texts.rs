#[cfg(test)]
mod tests;

use haft::policy::{LocalPolicySource, PolicySource};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Holds which file each path was found to be, and what each file said: neither is asked of the file system again.
///
/// Whoever may write to a directory can make a path another file at any time. What is decided of a file is therefore about
/// what was found when it was first asked for, and that is what everybody gets who asks later.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts(Arc<Mutex<Found>>);

#[derive(Debug, Default)]
struct Found {
    /// The one path of each file, by those that it was asked for.
    canonical: BTreeMap<PathBuf, PathBuf>,
    /// What each file says, by its one path.
    texts: BTreeMap<PathBuf, String>,
}

impl Texts {
    /// Keeps what somebody has read of a file.
    pub(crate) fn keep(&self, path: &Path, text: &str) {
        // A file that is gone meanwhile is gone for whoever asks for it next.
        if let Ok(canonical) = self.canonical(path) {
            self.found().texts.insert(canonical, text.to_owned());
        }
    }

    /// Gives the one path of a file.
    pub(super) fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.found().canonical(&LocalPolicySource, path)
    }

    /// Gives the one path of a file with its text.
    pub(super) fn read(&self, path: &Path) -> io::Result<(PathBuf, String)> {
        self.read_from(&LocalPolicySource, path)
    }

    fn read_from(&self, source: &impl PolicySource, path: &Path) -> io::Result<(PathBuf, String)> {
        let mut found = self.found();
        let canonical = found.canonical(source, path)?;
        if let Some(text) = found.texts.get(&canonical) {
            let text = text.clone();
            return Ok((canonical, text));
        }
        // What was found is read, which the path may not lead to any more: no text is taken for that of another file.
        let text = source.read(&canonical)?;
        found.texts.insert(canonical.clone(), text.clone());
        Ok((canonical, text))
    }

    /// Nothing panics half-way through a change.
    fn found(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Found {
    fn canonical(&mut self, source: &impl PolicySource, path: &Path) -> io::Result<PathBuf> {
        let path = absolute(path)?;
        if let Some(canonical) = self.canonical.get(&path) {
            return Ok(canonical.clone());
        }
        let canonical = source.canonical(&path)?;
        self.canonical.insert(path, canonical.clone());
        Ok(canonical)
    }
}
