use rustix::io::Errno;
use strsim::normalized_damerau_levenshtein;

use crate::metadata::EntryKind;
use crate::path::WorkdirPath;
use crate::workdir::Workdir;

/// How many near paths are worth the reader's time.
const NEAR_MAX: usize = 3;

/// The least similarity, from 0 to 1: half of the longer name has to be right, so that `lib` finds `lib.rs`.
const NEAR_ENOUGH: f64 = 0.5;

impl Workdir {
    /// Returns up to three existing paths that `path` was probably meant to be, the best first.
    ///
    /// It is for answering "did you mean" when a path does not exist. Names are compared with those that exist beside
    /// the first part that does not, without regard to letter case; what follows that part is kept where it exists
    /// below the near name, and left out where it does not. Empty when nothing is near, when the path
    /// exists after all, or when the directory cannot be listed. The cost grows with the size of one directory.
    ///
    /// ```
    /// # use haft_workdir::{Existing, Workdir};
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::create_dir(directory.path().join("src"))?;
    /// # std::fs::write(directory.path().join("src/main.rs"), "")?;
    /// let workdir = Workdir::open(directory.path())?;
    /// let missing = workdir.resolve("scr/main.rs")?;
    /// assert_eq!(workdir.near_names(&missing), [workdir.resolve("src/main.rs")?]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn near_names(&self, path: &WorkdirPath) -> Vec<WorkdirPath> {
        let Some((directory, missing, rest)) = self.split_at_missing(path) else {
            return Vec::new();
        };
        let wanted = missing.to_lowercase();
        let mut near: Vec<(f64, WorkdirPath)> = self
            .list(&directory)
            .unwrap_or_default()
            .iter()
            .filter(|(_, kind)| rest.is_empty() || *kind == EntryKind::Directory)
            .filter_map(|(name, _)| std::str::from_utf8(name).ok())
            .filter_map(|name| {
                let similarity = normalized_damerau_levenshtein(&name.to_lowercase(), &wanted);
                (similarity >= NEAR_ENOUGH).then(|| (similarity, directory.child(name)))
            })
            .collect();
        near.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
        near.truncate(NEAR_MAX);
        near.into_iter().map(|(_, path)| self.with_rest(path, &rest)).collect()
    }

    /// Splits a path into the deepest existing directory, the first missing name and the names after it.
    fn split_at_missing<'p>(&self, path: &'p WorkdirPath) -> Option<(WorkdirPath, &'p str, Vec<&'p str>)> {
        let mut directory = path.own_root();
        let mut names = path.segments();
        while let Some(name) = names.next() {
            let next = directory.child(name);
            match self.directory(&next) {
                Ok(_) => directory = next,
                Err(Errno::NOENT) => return Some((directory, name, names.collect())),
                Err(_) => return None,
            }
        }
        None
    }

    fn with_rest(&self, near: WorkdirPath, rest: &[&str]) -> WorkdirPath {
        let whole = rest.iter().fold(near.clone(), |path, name| path.child(name));
        if self.metadata(&whole).is_ok() { whole } else { near }
    }
}
