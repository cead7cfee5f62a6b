//! From text a model wrote to a [`WorkdirPath`].
//!
//! A path without `..` that exists and passes through no link is recognised in one system call. Anything else is
//! walked by components from the root's handle, the way the kernel does it, with two differences: the walk never takes
//! a step above the root, and an absolute path or link target is read as one below the root or refused.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use rustix::fs::{AtFlags, readlinkat, statat};
use rustix::io::Errno;

use crate::handle::{DirectoryHandle, open_child};
use crate::metadata::EntryKind;
use crate::path::{NAME_MAX, WorkdirPath};
use crate::platform;
use crate::resolve_error::ResolveError;
use crate::roots::{Root, Roots};

/// The longest path accepted, in bytes (`PATH_MAX` of Linux without its final NUL).
const PATH_MAX: usize = 4095;

/// How many symbolic links one path may pass through (the limit of Linux, see `path_resolution(7)`).
const LINKS_MAX: usize = 40;

/// Resolves `given` in `roots`; the contract is that of [`Workdir::resolve`](crate::Workdir::resolve).
pub(crate) fn resolve(roots: &Roots, given: &str) -> Result<WorkdirPath, ResolveError> {
    check_text(given)?;
    let outside = || ResolveError::Outside { path: given.to_owned() };
    let (root, steps) = split(roots, roots.main(), given.as_bytes()).ok_or_else(outside)?;
    if climbs_out(&steps) {
        return Err(outside());
    }
    if let Some(below) = plain_path(&steps)
        && (below.is_empty() || root.handle.is_plain_entry(&directory_suffix(&below, &steps)))
    {
        return Ok(roots.innermost(root.path.below(&below)));
    }
    Walk::new(roots, root, given, &steps).run().map(|path| roots.innermost(path))
}

fn check_text(given: &str) -> Result<(), ResolveError> {
    if given.len() > PATH_MAX || given.split('/').any(|name| name.len() > NAME_MAX) {
        return Err(ResolveError::TooLong { path: given.chars().take(201).collect() });
    }
    if given.contains('\0') {
        return Err(ResolveError::Nul { path: given.to_owned() });
    }
    Ok(())
}

/// Splits a path or link target into steps below the root it leads into, or below where it stands in `root`.
///
/// Nothing when it is absolute and not below a root. A `.` stays as a step where it demands that what comes before it
/// be a directory, and a final `/` becomes one.
fn split<'r, 't>(roots: &'r Roots, root: &'r Root, text: &'t [u8]) -> Option<(&'r Root, Vec<&'t [u8]>)> {
    let (root, relative) = if text.starts_with(b"/") {
        let (root, below) = roots.find(Path::new(OsStr::from_bytes(text)))?;
        (root, below.as_os_str().as_bytes())
    } else {
        (root, text)
    };
    let mut steps: Vec<&[u8]> =
        relative.split(|byte| *byte == b'/').filter(|step| !step.is_empty()).collect();
    if text.ends_with(b"/") || text.ends_with(b"/.") {
        steps.push(b".");
    }
    Some((root, steps))
}

/// Tells whether the steps go above where they start, taken at their word.
fn climbs_out(steps: &[&[u8]]) -> bool {
    let mut depth = 0_usize;
    for step in steps {
        match *step {
            b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

/// Joins steps that hold no `..`.
fn plain_path(steps: &[&[u8]]) -> Option<String> {
    let mut text = String::new();
    for step in steps.iter().filter(|step| **step != b".") {
        if *step == b".." {
            return None;
        }
        push_name(&mut text, std::str::from_utf8(step).ok()?);
    }
    Some(text)
}

/// Adds the final `/` with which the kernel insists on a directory, where the steps do.
fn directory_suffix(path: &str, steps: &[&[u8]]) -> String {
    let slash = if steps.last() == Some(&b".".as_slice()) { "/" } else { "" };
    format!("{path}{slash}")
}

fn push_name(text: &mut String, name: &str) {
    if !text.is_empty() {
        text.push('/');
    }
    text.push_str(name);
}

/// One name still to be walked.
struct Step {
    name: Vec<u8>,
    /// The link of the given path that this step was read from.
    via: Option<Rc<str>>,
}

/// The walk by components.
struct Walk<'a> {
    roots: &'a Roots,
    /// The root that the walk is in.
    root: &'a Root,
    given: &'a str,
    /// The steps still to be taken, the next one last.
    pending: Vec<Step>,
    /// Where the walk stands, relative to the root and free of links; always an existing directory until the end.
    resolved: String,
    /// The handle of `resolved`.
    current: DirectoryHandle<'a>,
    /// Links followed, and steps repeated because something changed underneath.
    followed: usize,
}

impl<'a> Walk<'a> {
    fn new(roots: &'a Roots, root: &'a Root, given: &'a str, steps: &[&[u8]]) -> Self {
        let pending = steps.iter().rev().map(|step| Step { name: step.to_vec(), via: None }).collect();
        let current = root.handle.as_directory();
        Self { roots, root, given, pending, resolved: String::new(), current, followed: 0 }
    }

    fn run(mut self) -> Result<WorkdirPath, ResolveError> {
        while let Some(step) = self.pending.pop() {
            match step.name.as_slice() {
                b"." => {}
                b".." => self.climb(&step)?,
                _ => {
                    if let Some(missing) = self.descend(step)? {
                        return self.create_below(missing);
                    }
                }
            }
        }
        Ok(self.root.path.below(&self.resolved))
    }

    /// Goes to the parent of where the walk stands, never above the root.
    fn climb(&mut self, step: &Step) -> Result<(), ResolveError> {
        let Some(parent) = WorkdirPath::from_resolved(&self.resolved).parent() else {
            return Err(self.outside(step.via.as_ref()));
        };
        // The parent is found from the root again: `..` of a handle leads wherever the directory was moved to.
        self.current = self.root.handle.directory(parent.relative()).map_err(|errno| self.lookup(errno))?;
        parent.relative().clone_into(&mut self.resolved);
        Ok(())
    }

    /// Takes one step down and follows it if it is a link. Gives the step back when nothing is there.
    fn descend(&mut self, step: Step) -> Result<Option<Step>, ResolveError> {
        let found = statat(&self.current, OsStr::from_bytes(&step.name), AtFlags::SYMLINK_NOFOLLOW);
        let kind = match found {
            Ok(stat) => EntryKind::of(&stat),
            Err(Errno::NOENT) => return Ok(Some(step)),
            Err(errno) => return Err(self.lookup(errno)),
        };
        if kind == EntryKind::Symlink {
            self.follow(step)?;
            return Ok(None);
        }
        let name = self.name_of(&step)?;
        if self.pending.is_empty() {
            push_name(&mut self.resolved, &name);
            return Ok(None);
        }
        if kind != EntryKind::Directory {
            return Err(ResolveError::NotADirectory { path: self.given.to_owned(), file: self.place(&name) });
        }
        match open_child(self.current.as_fd(), &name, platform::PLACE) {
            Ok(handle) => {
                self.current = DirectoryHandle::Opened(handle);
                push_name(&mut self.resolved, &name);
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                // It was replaced since it was looked at, so it is looked at again.
                self.count(&step)?;
                self.pending.push(step);
            }
            Err(errno) => return Err(self.lookup(errno)),
        }
        Ok(None)
    }

    /// Puts the steps of a link's target in the place of the link.
    fn follow(&mut self, step: Step) -> Result<(), ResolveError> {
        self.count(&step)?;
        let target = match readlinkat(&self.current, OsStr::from_bytes(&step.name), Vec::new()) {
            Ok(target) => target.into_bytes(),
            Err(Errno::INVAL | Errno::NOENT) => {
                self.pending.push(step);
                return Ok(());
            }
            Err(errno) => return Err(self.lookup(errno)),
        };
        let link = self.link_of(&step);
        let Some((root, steps)) = split(self.roots, self.root, &target) else {
            return Err(self.outside(Some(&link)));
        };
        if target.starts_with(b"/") {
            self.root = root;
            self.current = self.root.handle.as_directory();
            self.resolved.clear();
        }
        let steps = steps.into_iter().rev();
        self.pending.extend(steps.map(|name| Step { name: name.to_vec(), via: Some(Rc::clone(&link)) }));
        Ok(())
    }

    /// Ends the walk at a place that does not exist, if it may come to exist.
    fn create_below(mut self, missing: Step) -> Result<WorkdirPath, ResolveError> {
        let path = self.given.to_owned();
        if let Some(link) = missing.via {
            return Err(ResolveError::DanglingLink { path, link: link.to_string() });
        }
        let first = self.place(&String::from_utf8_lossy(&missing.name));
        self.pending.push(missing);
        while let Some(step) = self.pending.pop() {
            match step.name.as_slice() {
                b"." => {}
                b".." => return Err(ResolveError::ParentOfMissing { path, missing: first }),
                _ => {
                    let name = self.name_of(&step)?;
                    push_name(&mut self.resolved, &name);
                }
            }
        }
        Ok(self.root.path.below(&self.resolved))
    }

    fn count(&mut self, step: &Step) -> Result<(), ResolveError> {
        self.followed += 1;
        if self.followed > LINKS_MAX {
            let link = self.link_of(step).to_string();
            return Err(ResolveError::LinkLoop { path: self.given.to_owned(), link });
        }
        Ok(())
    }

    /// Returns the link of the given path that led to `step`: an earlier one, or the step itself.
    fn link_of(&self, step: &Step) -> Rc<str> {
        step.via
            .clone()
            .unwrap_or_else(|| Rc::from(self.place(&String::from_utf8_lossy(&step.name)).as_str()))
    }

    /// Returns the name of a step as text, which fails only for a link target that is not UTF-8.
    fn name_of(&self, step: &Step) -> Result<String, ResolveError> {
        match std::str::from_utf8(&step.name) {
            Ok(name) => Ok(name.to_owned()),
            Err(_) => Err(ResolveError::NotUnicode {
                path: self.given.to_owned(),
                link: self.link_of(step).to_string(),
            }),
        }
    }

    /// Returns the path of an entry of where the walk stands, as paths in its root are written.
    fn place(&self, name: &str) -> String {
        let mut place = self.resolved.clone();
        push_name(&mut place, name);
        let root = self.root.path.as_str();
        if self.root.path.is_absolute() { format!("{}/{place}", root.trim_end_matches('/')) } else { place }
    }

    fn outside(&self, via: Option<&Rc<str>>) -> ResolveError {
        let path = self.given.to_owned();
        match via {
            Some(link) => ResolveError::LinkOutside { path, link: link.to_string() },
            None => ResolveError::Outside { path },
        }
    }

    fn lookup(&self, errno: Errno) -> ResolveError {
        let path = self.given.to_owned();
        match errno {
            Errno::NAMETOOLONG => ResolveError::TooLong { path },
            other => ResolveError::Lookup { path, source: other.into() },
        }
    }
}
