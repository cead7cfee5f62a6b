use crate::scan::Seed;
use crate::watch::Watch;
use crate::wording::Quoted;
use haft_core::{ToolError, ToolErrorKind};
use haft_tools_core::{Access, CallContext, Resource, Scheme};
use haft_workdir::{EntryKind, Error, ResolveError, WalkOptions, Workdir, WorkdirPath};
use std::iter;

/// The scheme under which files of the working directory are declared.
const FILE: Scheme = Scheme::new("file");

/// The scheme under which files of other roots are declared, as commands declare them; its paths start with `/`.
const OUTSIDE: Scheme = Scheme::new("outside");

/// How many directories are named one by one. Accesses are compared with one another, and a path can have 2,000 names.
const NAMED_DIRECTORIES: usize = 32;

/// Where a search starts, as it was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// One file.
    File(WorkdirPath),
    /// A directory and everything below it.
    Directory(WorkdirPath),
}

impl Start {
    /// Resolves a model-given path, which must exist.
    pub(crate) fn resolve(workdir: &Workdir, given: &str) -> Result<Self, ToolError> {
        let path = workdir.resolve(given).map_err(|error| refused(error.into()))?;
        match workdir.kind(&path).map_err(refused)? {
            EntryKind::File => Ok(Self::File(path)),
            EntryKind::Directory => Ok(Self::Directory(path)),
            kind => Err(ToolError::invalid_input(format!(
                "{} is a {kind}; use the path of a file or directory",
                Quoted(path.as_str())
            ))),
        }
    }

    /// The directory; a file is refused.
    pub(crate) fn into_directory(self) -> Result<WorkdirPath, ToolError> {
        match self {
            Self::Directory(path) => Ok(path),
            Self::File(file) => Err(ToolError::invalid_input(format!(
                "{} is a file, not a directory; leave out `path` or set it to a directory",
                Quoted(file.as_str())
            ))),
        }
    }

    /// Begins a search from here; only what is there is looked up.
    pub(crate) fn seed(
        &self,
        workdir: &Workdir,
        options: WalkOptions,
        watch: &dyn Watch,
    ) -> Result<Seed, ToolError> {
        match self {
            Self::File(path) => {
                // A directory that took the place of the file is not what was permitted.
                workdir.open_file(path).map_err(refused)?;
                Ok(Seed::File(path.clone()))
            }
            Self::Directory(path) => seed_in(workdir, path, options, watch),
        }
    }

    pub(crate) fn path(&self) -> &WorkdirPath {
        match self {
            Self::File(path) | Self::Directory(path) => path,
        }
    }

    /// Declares what a search from here reads; above a directory these are the ignore files, where they count. A search does
    /// without those that are denied to it.
    pub(crate) fn accesses(&self, no_ignore: bool) -> impl Iterator<Item = Access> + use<> {
        let above = match self {
            Self::Directory(path) if !no_ignore => ignore_files_above(path),
            _ => Vec::new(),
        };
        let searched = match self {
            Self::File(_) => self.searched(),
            Self::Directory(_) => self.searched().sifted(),
        };
        iter::once(searched).chain(above.into_iter().map(|file| Access::read(file).dispensable()))
    }

    /// What a search from here looks at.
    pub(crate) fn searched(&self) -> Access {
        match self {
            Self::File(path) => Access::read(exactly(path)),
            Self::Directory(path) => everything_in(path),
        }
    }
}

/// Begins a search of a directory.
pub(crate) fn seed_in(
    workdir: &Workdir,
    path: &WorkdirPath,
    options: WalkOptions,
    watch: &dyn Watch,
) -> Result<Seed, ToolError> {
    let listing = workdir.walk_directory_without(path, options, watch.unread(path)).list();
    listing.map(Seed::Directory).map_err(refused)
}

/// What a search of a directory looks at.
pub(crate) fn everything_in(directory: &WorkdirPath) -> Access {
    Access::read(tree(directory))
}

/// Tells whether something is denied to a search, or a directory on the way to it that no search has let pass.
pub(crate) fn denies_way_to(
    path: &WorkdirPath,
    kind: EntryKind,
    denies: impl Fn(&WorkdirPath, EntryKind) -> bool,
) -> bool {
    let mut above = iter::successors(path.parent(), WorkdirPath::parent).filter(|path| !path.is_root());
    denies(path, kind) || above.any(|directory| denies(&directory, EntryKind::Directory))
}

/// Tells whether something that a search meets is denied to it; of a directory, itself or all that is in it.
pub(crate) fn is_denied(cx: &CallContext, path: &WorkdirPath, kind: EntryKind) -> bool {
    cx.denies(&match kind {
        EntryKind::Directory => everything_in(path).sifted(),
        _ => Access::read(exactly(path)),
    })
}

fn exactly(path: &WorkdirPath) -> Resource {
    Resource::exact(scheme(path), path.as_str())
}

fn scheme(path: &WorkdirPath) -> Scheme {
    if path.is_absolute() { OUTSIDE } else { FILE }
}

/// Names a directory and everything below it; the main root is the empty path.
fn tree(path: &WorkdirPath) -> Resource {
    let is_main_root = path.is_root() && !path.is_absolute();
    Resource::subtree(scheme(path), if is_main_root { "" } else { path.as_str() })
}

/// Names the ignore files that a walk consults in the directories above its start; where they are many, the whole tree.
fn ignore_files_above(start: &WorkdirPath) -> Vec<Resource> {
    if start.segments().count() > NAMED_DIRECTORIES {
        return vec![tree(&start.own_root())];
    }
    let files = |directory: WorkdirPath| {
        [".gitignore", ".ignore", ".git/info/exclude"].map(|file| match directory.as_str() {
            "." => Resource::exact(FILE, file),
            above => Resource::exact(scheme(&directory), format!("{}/{file}", above.trim_end_matches('/'))),
        })
    };
    iter::successors(start.parent(), WorkdirPath::parent).flat_map(files).collect()
}

/// Says to the model why a place cannot be searched.
///
/// What exists beside a missing one is not said: when the start is resolved, nobody has permitted to read that yet.
pub(crate) fn refused(error: Error) -> ToolError {
    let text = error.model_text();
    let kind = match &error {
        Error::Resolve(ResolveError::Outside { .. } | ResolveError::LinkOutside { .. }) => {
            ToolErrorKind::Denied
        }
        Error::Resolve(ResolveError::DanglingLink { .. }) | Error::NotFound { .. } => ToolErrorKind::NotFound,
        Error::Changed { .. } => return ToolError::retry(text).with_source(error),
        Error::Resolve(ResolveError::Lookup { .. }) | Error::Io { .. } => ToolErrorKind::Failed,
        _ => ToolErrorKind::InvalidInput,
    };
    ToolError::new(kind, text).with_source(error)
}
