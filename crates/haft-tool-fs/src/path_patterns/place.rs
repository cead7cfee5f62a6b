use super::name_glob::fold;
use super::tree::{Extent, Start};
use crate::resource::{FILE, OUTSIDE};
use haft_tools_core::Resource;

/// What a resource says about paths.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told<'a> {
    Place(Place<'a>),
    /// It is of paths, but not as they are declared: where it leads cannot be told.
    Unclear,
    /// It is not of paths.
    Nothing,
}

/// A path, or a tree, in the working directory or from `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub(super) start: Start,
    pub(super) extent: Extent,
    path: &'a str,
}

/// How names are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Matters,
    Ignored,
}

impl<'a> Told<'a> {
    /// Reads a resource. A path from `/` that leads into the working directory, whose names are `root`, is one in it.
    pub(super) fn by(resource: &'a Resource, root: Option<&[Box<str>]>, case: Case) -> Self {
        let extent = if resource.is_subtree() { Extent::Tree } else { Extent::Itself };
        let path = resource.path();
        let (start, path) = if *resource.scheme() == FILE {
            (Start::Inside, Some(path).filter(|path| !path.starts_with('/')))
        } else if *resource.scheme() == OUTSIDE {
            (
                Start::Top,
                path.strip_prefix('/').or(Some(path).filter(|path| path.is_empty() && resource.is_subtree())),
            )
        } else {
            return Self::Nothing;
        };
        let Some(path) = path.filter(|path| is_plain(path)) else { return Self::Unclear };
        let place = Place { start, extent, path };
        Self::Place(root.filter(|_| start == Start::Top).map_or(place, |root| place.in_root(root, case)))
    }
}

fn is_plain(path: &str) -> bool {
    memchr::memchr(0, path.as_bytes()).is_none()
        && !(path.contains("..") && path.split('/').any(|name| name == ".."))
}

impl<'a> Place<'a> {
    /// The names on the way.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.path.split('/').filter(|name| !matches!(*name, "" | "."))
    }

    /// Tells whether the working directory lies in it.
    pub(super) fn is_above(&self, root: &[Box<str>], case: Case) -> bool {
        let mut names = self.names();
        let mut root = root.iter();
        self.start == Start::Top
            && self.extent == Extent::Tree
            && names.all(|name| root.next().is_some_and(|directory| is_same(name, directory, case)))
    }

    fn in_root(self, root: &[Box<str>], case: Case) -> Self {
        let mut rest = self.path;
        for directory in root {
            rest = rest.trim_start_matches('/');
            let (name, behind) = rest.split_once('/').unwrap_or((rest, ""));
            if !is_same(name, directory, case) {
                return self;
            }
            rest = behind;
        }
        Self { start: Start::Inside, path: rest, ..self }
    }
}

fn is_same(name: &str, other: &str, case: Case) -> bool {
    name == other || (case == Case::Ignored && fold(name) == fold(other))
}
