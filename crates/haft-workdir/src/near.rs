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
        self.near_names_where(path, |_| true)
    }

    /// Returns what [`Workdir::near_names`] would if there were only the paths that may be named.
    ///
    /// It is for somebody who may not see all of the directory: what they may not see neither takes the place of something
    /// that they may, nor shows by its absence that it is there. `may_be_named` is asked about each near path, the best
    /// first, until there are three.
    ///
    /// ```
    /// # use haft_workdir::Workdir;
    /// # let directory = tempfile::tempdir()?;
    /// # std::fs::write(directory.path().join("key.pem"), "")?;
    /// # std::fs::write(directory.path().join("keys.md"), "")?;
    /// let workdir = Workdir::open(directory.path())?;
    /// let missing = workdir.resolve("keys.pem")?;
    /// let near = workdir.near_names_where(&missing, |path| !path.as_str().ends_with(".pem"));
    /// assert_eq!(near, [workdir.resolve("keys.md")?]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn near_names_where(
        &self,
        path: &WorkdirPath,
        mut may_be_named: impl FnMut(&WorkdirPath) -> bool,
    ) -> Vec<WorkdirPath> {
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
        near.into_iter()
            .filter_map(|(_, near)| {
                let whole = self.with_rest(&near, &rest).filter(|whole| may_be_named(whole));
                whole.or_else(|| Some(near).filter(|near| may_be_named(near)))
            })
            .take(NEAR_MAX)
            .collect()
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

    /// Gives what is below a near name by the names that follow, where there is something.
    fn with_rest(&self, near: &WorkdirPath, rest: &[&str]) -> Option<WorkdirPath> {
        if rest.is_empty() {
            return None;
        }
        let whole = rest.iter().fold(near.clone(), |path, name| path.child(name));
        self.metadata(&whole).is_ok().then_some(whole)
    }
}
