use haft_tools_core::{Resource, Scheme};
use haft_workdir::WorkdirPath;
use std::iter;

/// The scheme of everything in a working directory; its paths are those of a [`WorkdirPath`] in the main root.
///
/// Every crate whose tools touch files names it so, and calls of one batch wait for each other by it.
pub(crate) const FILE: Scheme = Scheme::new("file");

/// The scheme of everything outside it; its paths start with `/`.
pub(crate) const OUTSIDE: Scheme = Scheme::new("outside");

/// Names one file.
pub(crate) fn file(path: &WorkdirPath) -> Resource {
    Resource::exact(scheme(path), named(path))
}

/// Names a directory and everything below it.
pub(crate) fn tree(path: &WorkdirPath) -> Resource {
    Resource::subtree(scheme(path), named(path))
}

/// A root other than the main one lies outside of that, and commands name what is there so, too.
fn scheme(path: &WorkdirPath) -> Scheme {
    if path.is_absolute() { OUTSIDE } else { FILE }
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
        return vec![tree(&start.own_root())];
    }
    let files = |directory: WorkdirPath| {
        [".gitignore", ".ignore", ".git/info/exclude"].map(|file| match named(&directory) {
            "" => Resource::exact(FILE, file),
            above => Resource::exact(scheme(&directory), format!("{}/{file}", above.trim_end_matches('/'))),
        })
    };
    iter::successors(start.parent(), WorkdirPath::parent).flat_map(files).collect()
}

/// The main root is the empty path, below which everything lies.
fn named(path: &WorkdirPath) -> &str {
    if path.is_root() && !path.is_absolute() { "" } else { path.as_str() }
}
