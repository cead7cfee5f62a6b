use haft_tools_core::{Resource, Scheme};
use haft_workdir::WorkdirPath;
use std::iter;

/// The scheme of everything in a working directory; its paths are those of a [`WorkdirPath`].
///
/// Every crate whose tools touch files names it so, and calls of one batch wait for each other by it.
pub(crate) const FILE: Scheme = Scheme::new("file");

/// The scheme of everything outside it; its paths start with `/`.
pub(crate) const OUTSIDE: Scheme = Scheme::new("outside");

/// Names one file.
pub(crate) fn file(path: &WorkdirPath) -> Resource {
    Resource::exact(FILE, relative(path))
}

/// Names a directory and everything below it.
pub(crate) fn tree(path: &WorkdirPath) -> Resource {
    Resource::subtree(FILE, relative(path))
}

/// How many directories are named one by one. Accesses are compared with one another, and a path can have 2,000 names.
const NAMED_DIRECTORIES: usize = 32;

/// Names directories that a write creates, the lowest first; where they are many, all that lies below the highest.
pub(crate) fn created(directories: &[WorkdirPath]) -> Vec<Resource> {
    match directories.last() {
        Some(highest) if directories.len() > NAMED_DIRECTORIES => vec![tree(highest)],
        _ => directories.iter().map(file).collect(),
    }
}

/// Names the ignore files that a walk from a directory consults in those above it; where they are many, the whole tree.
pub(crate) fn ignore_files_above(start: &WorkdirPath) -> Vec<Resource> {
    if start.segments().count() > NAMED_DIRECTORIES {
        return vec![tree(&WorkdirPath::root())];
    }
    let files = |directory: WorkdirPath| {
        [".gitignore", ".ignore", ".git/info/exclude"].map(|file| match relative(&directory) {
            "" => Resource::exact(FILE, file),
            directory => Resource::exact(FILE, format!("{directory}/{file}")),
        })
    };
    iter::successors(start.parent(), WorkdirPath::parent).flat_map(files).collect()
}

/// The root is the empty path, below which everything lies.
fn relative(path: &WorkdirPath) -> &str {
    if path.is_root() { "" } else { path.as_str() }
}
