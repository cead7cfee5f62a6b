//! Which entries a walk leaves out because of `.gitignore`, `.ignore` and `.git/info/exclude`.
//!
//! The files are read through the root's handle and matched by the `ignore` crate, with the precedence it uses itself:
//! deeper before higher, and `.ignore` of any depth before `.gitignore` of any depth before `exclude`.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::iter;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::handle::open_child_file;
use crate::listing::RawListing;
use crate::metadata::EntryKind;
use crate::path::WorkdirPath;
use crate::unread_rules::UnreadRules;
use crate::workdir::Workdir;

/// How much of one ignore file is read, in bytes. No rules that people wrote come near it.
const RULES_MAX: u64 = 1 << 20;

/// The largest ignore file whose rules are kept, in bytes.
const KNOWN_FILE_MAX: usize = 4 << 10;

/// How many bytes of ignore files have their rules kept, and in how many files; compiled they can take a hundred times as much.
const KNOWN_MAX: usize = 64 << 10;
const KNOWN_FILES_MAX: usize = 256;

/// What the rules say of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A pattern matches.
    Ignored,
    /// A pattern that starts with `!` matches.
    Kept,
    /// Nothing matches.
    Unmentioned,
}

/// The rules in force at one place of a walk: those of its directory and of every one above it.
///
/// A directory without rules of its own shares those above it.
#[derive(Clone, Debug, Default)]
pub(crate) struct IgnoreRules(Option<Arc<Level>>);

/// The rules of one directory.
#[derive(Debug)]
struct Level {
    above: IgnoreRules,
    /// How many bytes of a path below it name the directory, with the `/`.
    prefix: usize,
    ignore: Option<Arc<Gitignore>>,
    gitignore: Option<Arc<Gitignore>>,
    exclude: Option<Arc<Gitignore>>,
    /// Git rules of the directories above a repository do not reach into it.
    is_repository: bool,
}

impl IgnoreRules {
    /// Returns the rules that hold where `start` is, which are those of every directory above it.
    pub(crate) fn above(workdir: &Workdir, start: &WorkdirPath, unread: &UnreadRules) -> Self {
        let mut rules = Self::default();
        let mut above = start.own_root();
        for name in start.segments() {
            let next = above.child(name);
            rules = rules.below(workdir, &above, unread);
            above = next;
        }
        rules
    }

    /// Adds the rules of a directory whose entries are not at hand.
    fn below(&self, workdir: &Workdir, directory: &WorkdirPath, unread: &UnreadRules) -> Self {
        let open = |name: &str| workdir.open_file(&directory.child(name)).ok();
        let git = workdir.kind(&directory.child(".git")).ok();
        self.with(workdir, (directory, unread), git, open)
    }

    /// Adds the rules of a directory that was listed and is still open. Only files that are there are opened.
    pub(crate) fn below_listed(
        &self,
        workdir: &Workdir,
        (directory, unread): (&WorkdirPath, &UnreadRules),
        entries: &RawListing,
        handle: BorrowedFd<'_>,
    ) -> Self {
        let open = |name: &str| {
            let is_file = entries.kind(name) == Some(EntryKind::File);
            is_file.then(|| open_child_file(handle, name).ok()).flatten().map(|(file, _)| file)
        };
        let git = entries.kind(".git").filter(|kind| *kind != EntryKind::Symlink);
        self.with(workdir, (directory, unread), git, open)
    }

    fn with(
        &self,
        workdir: &Workdir,
        (directory, unread): (&WorkdirPath, &UnreadRules),
        git: Option<EntryKind>,
        open: impl Fn(&str) -> Option<File>,
    ) -> Self {
        let known = &workdir.roots.known_rules;
        let rules = |name| {
            let file = open(name)?;
            if unread.holds(&directory.child(name)) { None } else { known.rules(&read(file)?) }
        };
        let (ignore, gitignore) = (rules(".ignore"), rules(".gitignore"));
        let exclude = || {
            let path = directory.child(".git").child("info").child("exclude");
            let file = workdir.open_file(&path).ok()?;
            if unread.holds(&path) { None } else { known.rules(&read(file)?) }
        };
        let exclude = (git == Some(EntryKind::Directory)).then(exclude).flatten();
        let is_repository = git.is_some();
        if !is_repository && ignore.is_none() && gitignore.is_none() {
            return self.clone();
        }
        let prefix = directory.prefix_length();
        let above = self.clone();
        Self(Some(Arc::new(Level { above, prefix, ignore, gitignore, exclude, is_repository })))
    }

    /// Tells whether nothing is left out or kept by them, whatever its name.
    pub(crate) fn are_none(&self) -> bool {
        self.0.is_none()
    }

    /// Tells what the rules say of an entry of the directory that they are the rules of.
    pub(crate) fn verdict(&self, path: &str, kind: EntryKind) -> Verdict {
        if self.0.is_none() {
            return Verdict::Unmentioned;
        }
        let is_directory = kind == EntryKind::Directory;
        let matched = |rules: Option<&Gitignore>, level: &Level| {
            let below = path.get(level.prefix..)?;
            match rules?.matched(below, is_directory) {
                ignore::Match::Ignore(_) => Some(Verdict::Ignored),
                ignore::Match::Whitelist(_) => Some(Verdict::Kept),
                ignore::Match::None => None,
            }
        };
        self.upwards()
            .find_map(|level| matched(level.ignore.as_deref(), level))
            .or_else(|| self.in_repository().find_map(|level| matched(level.gitignore.as_deref(), level)))
            .or_else(|| self.in_repository().find_map(|level| matched(level.exclude.as_deref(), level)))
            .unwrap_or(Verdict::Unmentioned)
    }

    fn upwards(&self) -> impl Iterator<Item = &Level> {
        iter::successors(self.0.as_deref(), |level| level.above.0.as_deref())
    }

    /// The levels up to the innermost repository, whose own is the last.
    fn in_repository(&self) -> impl Iterator<Item = &Level> {
        let mut left = false;
        self.upwards().take_while(move |level| {
            let is_above = left;
            left |= level.is_repository;
            !is_above
        })
    }
}

impl Drop for Level {
    /// Takes the levels above apart one by one: in a tree that is very deep, one in the other would need too much stack.
    fn drop(&mut self) {
        let mut above = self.above.0.take();
        while let Some(mut level) = above.and_then(Arc::into_inner) {
            above = level.above.0.take();
        }
    }
}

/// Reads an ignore file; nothing where it cannot be read.
fn read(file: File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(RULES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The rules of ignore files that were read before, by what is in them.
///
/// To compile the rules of a file takes many times as long as to read it, and most projects have the same few files in many
/// directories. A file is read each time, so what holds is what is there.
#[derive(Debug, Default)]
pub(crate) struct KnownRules(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    rules: HashMap<Box<[u8]>, Option<Arc<Gitignore>>>,
    /// How many bytes the files have together.
    bytes: usize,
}

impl KnownRules {
    /// Compiles the rules of an ignore file, or finds them; nothing where there are none.
    fn rules(&self, file: &[u8]) -> Option<Arc<Gitignore>> {
        if file.len() > KNOWN_FILE_MAX {
            return compile(file);
        }
        if let Some(known) = self.known().rules.get(file) {
            return known.clone();
        }
        let rules = compile(file);
        let mut known = self.known();
        if known.bytes + file.len() > KNOWN_MAX || known.rules.len() >= KNOWN_FILES_MAX {
            *known = Known::default();
        }
        if known.rules.insert(file.into(), rules.clone()).is_none() {
            known.bytes += file.len();
        }
        rules
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compiles the rules of an ignore file. What cannot be understood holds no rules, as for git.
fn compile(file: &[u8]) -> Option<Arc<Gitignore>> {
    let text = String::from_utf8_lossy(file);
    let mut builder = GitignoreBuilder::new(".");
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A pattern that does not parse is skipped; the others still hold.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty()).map(Arc::new)
}

#[cfg(test)]
mod tests;
