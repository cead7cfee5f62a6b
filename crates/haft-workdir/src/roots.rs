//! The directories of a [`Workdir`](crate::Workdir): the main one and those added to it.

use std::cmp::Reverse;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, Stat, fstat, open, openat};
use rustix::io::Errno;

use crate::error::Error;
use crate::handle::{Lookup, RootHandle};
use crate::identity::Identity;
use crate::ignore_rules::KnownRules;
use crate::path::WorkdirPath;
use crate::platform;

/// What may be done in a root.
///
/// ```
/// use haft_workdir::{Error, Existing, RootAccess, Workdir};
///
/// # let (project, library) = (tempfile::tempdir()?, tempfile::tempdir()?);
/// # std::fs::write(library.path().join("lib.rs"), "code")?;
/// let workdir = Workdir::open(project.path())?.with_root(library.path(), RootAccess::ReadOnly)?;
/// let path = workdir.resolve(&format!("{}/lib.rs", library.path().display()))?;
/// assert_eq!(workdir.read(&path, 100)?, b"code");
/// let refused = workdir.write_atomic(&path, b"other", Existing::Replace);
/// assert!(matches!(refused, Err(Error::ReadOnly { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RootAccess {
    /// Everything.
    ReadWrite,
    /// Nothing that changes it.
    ReadOnly,
}

/// A directory that was opened.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) handle: RootHandle,
    /// The path given to open, made absolute.
    given: PathBuf,
    /// The same without symbolic links.
    pub(crate) canonical: PathBuf,
    /// What paths in it begin with: nothing in the main one.
    pub(crate) path: WorkdirPath,
}

/// What the clones of a [`Workdir`](crate::Workdir) share.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    main: Arc<Root>,
    /// Directories that lie in none of the others; the main one may lie in one of them.
    others: Vec<Arc<Root>>,
    /// What may be done below a place, the innermost first; anything where there is none.
    access: Vec<(WorkdirPath, RootAccess)>,
    /// Where the main one is, by the names of the others that it lies in.
    aliases: Vec<WorkdirPath>,
    /// The rules of ignore files that were read in any of them.
    pub(crate) known_rules: Arc<KnownRules>,
}

impl Root {
    pub(crate) fn open(path: &Path, lookup: Lookup) -> Result<Self, Error> {
        let unopened = |source| Error::RootUnopened { path: path.to_owned(), source };
        let handle = RootHandle::open(path, lookup).map_err(|errno| match errno {
            Errno::NOENT => Error::RootMissing { path: path.to_owned() },
            Errno::NOTDIR => Error::RootNotADirectory { path: path.to_owned() },
            other => unopened(other.into()),
        })?;
        let given = std::path::absolute(path).map_err(unopened)?;
        let canonical = path.canonicalize().map_err(unopened)?;
        // Something else may have been put in its place since it was opened, and paths would be about that.
        let opened = handle.stat().map_err(|errno| unopened(errno.into()))?;
        match without_links(&canonical) {
            Ok(found) if Identity::of(&found) == Identity::of(&opened) => {}
            // Where directories have to be read to be opened, those above may be nobody's to read.
            Err(Errno::ACCESS) => {}
            _ => return Err(Error::RootMoved { path: canonical }),
        }
        Ok(Self { handle, given, canonical, path: WorkdirPath::root() })
    }

    /// Returns the part of an absolute host path below the root, going by the names the root was known by.
    fn strip<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.strip_prefix(&self.canonical).or_else(|_| path.strip_prefix(&self.given)).ok()
    }

    /// Returns the place in this root that another directory has.
    fn place_of(&self, other: &Self) -> Option<WorkdirPath> {
        let below = other.canonical.strip_prefix(&self.canonical).ok()?;
        let names = below.components().map(|name| name.as_os_str().to_str());
        names.into_iter().try_fold(self.path.clone(), |place, name| place.join_file_name(name?))
    }
}

/// Finds what is at an absolute path if no symbolic link is followed.
fn without_links(path: &Path) -> Result<Stat, Errno> {
    let mut place = open("/", platform::PLACE, Mode::empty())?;
    for name in path.components() {
        if let Component::Normal(name) = name {
            place = openat(&place, name, platform::PLACE | OFlags::NOFOLLOW, Mode::empty())?;
        }
    }
    fstat(place)
}

impl Roots {
    pub(crate) fn of(main: Root) -> Self {
        Self {
            main: Arc::new(main),
            others: Vec::new(),
            access: Vec::new(),
            aliases: Vec::new(),
            known_rules: Arc::default(),
        }
    }

    pub(crate) fn main(&self) -> &Root {
        &self.main
    }

    /// The main one alone, in which everything may be done.
    pub(crate) fn of_main_alone(&self) -> Self {
        Self {
            main: Arc::clone(&self.main),
            others: Vec::new(),
            access: Vec::new(),
            aliases: Vec::new(),
            known_rules: Arc::clone(&self.known_rules),
        }
    }

    /// The host paths of the others, and what may be done there.
    pub(crate) fn others(&self) -> impl Iterator<Item = (&Path, RootAccess)> {
        self.others.iter().map(|other| (other.canonical.as_path(), self.access(&other.path)))
    }

    /// The same without the others; what may be done in the main one stays.
    pub(crate) fn without_others(&self) -> Self {
        let access = self.access.iter().filter(|(place, _)| !place.is_absolute()).cloned();
        Self {
            main: Arc::clone(&self.main),
            others: Vec::new(),
            access: access.collect(),
            aliases: Vec::new(),
            known_rules: Arc::clone(&self.known_rules),
        }
    }

    /// Adds a directory.
    pub(crate) fn with(mut self, mut root: Root, access: RootAccess) -> Result<Self, Error> {
        let inside = |outer: &Root| outer.place_of(&root);
        let place = inside(&self.main).or_else(|| self.others.iter().find_map(|other| inside(other)));
        let place = if let Some(place) = place {
            place
        } else {
            let text = root.canonical.to_str().ok_or_else(|| Error::RootUnopened {
                path: root.canonical.clone(),
                source: io::Error::new(io::ErrorKind::InvalidFilename, "its path is not UTF-8"),
            })?;
            root.path = WorkdirPath::of_root(text);
            // What lies in it is one with it from now on, and keeps its own access.
            self.others.retain(|other| root.place_of(other).is_none());
            self.aliases.extend(root.place_of(&self.main));
            let path = root.path.clone();
            self.others.push(Arc::new(root));
            path
        };
        let places = std::mem::take(&mut self.access).into_iter().filter(|(known, _)| *known != place);
        self.access = places.map(|(place, access)| (self.rebased(&place), access)).collect();
        self.access.push((place, access));
        self.access.sort_by_key(|(place, _)| Reverse(place.segments().count()));
        Ok(self)
    }

    /// Returns a path as it is made now, after roots were added around its own.
    fn rebased(&self, path: &WorkdirPath) -> WorkdirPath {
        let outer = self.others.iter().find(|other| path.starts_with(&other.path));
        outer.map_or_else(|| path.clone(), |outer| outer.path.with_text(path.as_str()))
    }

    /// Returns the handle that a path is looked up from, and the path below it.
    pub(crate) fn locate<'p>(&self, path: &'p WorkdirPath) -> (&RootHandle, &'p str) {
        let other = self.others.iter().find_map(|other| Some((other, path.relative_to(&other.path)?)));
        match other {
            Some((other, below)) => (&other.handle, below),
            None => (&self.main.handle, path.relative()),
        }
    }

    /// Returns the root that a path is in.
    pub(crate) fn root_of(&self, path: &WorkdirPath) -> &Root {
        self.others.iter().find(|other| path.starts_with(&other.path)).unwrap_or(&self.main)
    }

    /// Finds the innermost root that an absolute host path leads into, and the part of the path below it.
    pub(crate) fn find<'p>(&self, path: &'p Path) -> Option<(&Root, &'p Path)> {
        let roots = std::iter::once(&self.main).chain(&self.others);
        let found = roots.filter_map(|root| Some((&**root, root.strip(path)?)));
        found.min_by_key(|(_, below)| below.as_os_str().len())
    }

    /// Gives a place in the main root its name there, where it was reached by that of another.
    pub(crate) fn innermost(&self, path: WorkdirPath) -> WorkdirPath {
        match self.aliases.iter().find_map(|alias| path.relative_to(alias)) {
            Some(below) => WorkdirPath::from_resolved(below),
            None => path,
        }
    }

    /// Tells whether a path of another root is the main one, whose content has names of its own.
    pub(crate) fn is_main(&self, path: &WorkdirPath) -> bool {
        self.aliases.contains(path)
    }

    /// Tells what may be done at a path.
    pub(crate) fn access(&self, path: &WorkdirPath) -> RootAccess {
        // No tool has a path of the main root by the name of another; nothing is changed by such a path.
        if self.aliases.iter().any(|alias| path.starts_with(alias)) {
            return RootAccess::ReadOnly;
        }
        let innermost = self.access.iter().find(|(place, _)| path.starts_with(place));
        innermost.map_or(RootAccess::ReadWrite, |(_, access)| *access)
    }

    /// Lists the directories from which on down something may be done, the main one first.
    pub(crate) fn host_directories(&self) -> Vec<(PathBuf, RootAccess)> {
        let main = self.main.canonical.clone();
        let mut all = vec![(main, self.access(&WorkdirPath::root()))];
        for (place, access) in
            self.access.iter().rev().filter(|(place, _)| !place.is_root() || place.is_absolute())
        {
            all.push((self.root_of(place).canonical.join(place.relative()), *access));
        }
        all
    }

    /// Refuses to change anything at a path that is in a root for reading.
    pub(crate) fn check_writable(&self, path: &WorkdirPath) -> Result<(), Error> {
        match self.access(path) {
            RootAccess::ReadWrite => Ok(()),
            RootAccess::ReadOnly => Err(Error::ReadOnly { path: path.clone() }),
        }
    }

    /// Refuses to move or remove an entry that is a root or holds one.
    pub(crate) fn check_movable(&self, path: &WorkdirPath, action: &'static str) -> Result<(), Error> {
        self.check_writable(path)?;
        if path.is_root() {
            return Err(Error::IsRoot { action });
        }
        let places = self.access.iter().map(|(place, _)| place).chain(&self.aliases);
        match places.into_iter().find(|place| place.starts_with(path)) {
            Some(_) => Err(Error::HoldsRoot { action, path: path.clone() }),
            None => Ok(()),
        }
    }
}
