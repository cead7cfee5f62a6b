use std::fmt;
use std::sync::Arc;

use crate::path::WorkdirPath;

/// Says which ignore files a walk must not read, so that their rules do not count.
///
/// It is for somebody who may not see all of a tree: a rule would tell what is in the file that it stands in. By default all
/// are read. It is asked about those that are there: `.gitignore` and `.ignore` of each directory of the walk and above it, and
/// `.git/info/exclude` of each repository.
///
/// ```
/// use haft_workdir::{UnreadRules, WalkOptions, Workdir};
///
/// let directory = tempfile::tempdir()?;
/// std::fs::write(directory.path().join("build.log"), "")?;
/// std::fs::write(directory.path().join(".gitignore"), "*.log")?;
///
/// let workdir = Workdir::open(directory.path())?;
/// let unread = UnreadRules::new(|path| path.as_str() == ".gitignore");
/// let listing = workdir.walk_directory_without(&workdir.resolve(".")?, WalkOptions::default(), unread).list()?;
/// assert_eq!(listing.included().map(|entry| entry.name()).collect::<Vec<_>>(), ["build.log"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct UnreadRules(Option<Arc<Unread>>);

type Unread = dyn Fn(&WorkdirPath) -> bool + Send + Sync;

impl UnreadRules {
    /// Leaves unread the ignore files for which this says so.
    pub fn new(is_unread: impl Fn(&WorkdirPath) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_unread)))
    }

    pub(crate) fn holds(&self, file: &WorkdirPath) -> bool {
        self.0.as_ref().is_some_and(|is_unread| is_unread(file))
    }
}

impl fmt::Debug for UnreadRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnreadRules").field("any", &self.0.is_some()).finish()
    }
}
