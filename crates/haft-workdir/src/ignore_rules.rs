//! Which entries a walk leaves out because of `.gitignore`, `.ignore` and `.git/info/exclude`.
//!
//! The files are read through the root's handle and matched by the `ignore` crate, with the precedence it uses itself:
//! deeper before higher, and `.ignore` of any depth before `.gitignore` of any depth before `exclude`.

use std::io::Read;
use std::iter;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::listing::RawListing;
use crate::metadata::EntryKind;
use crate::path::WorkdirPath;
use crate::workdir::Workdir;

/// How much of one ignore file is read, in bytes. No rules that people wrote come near it.
const RULES_MAX: u64 = 1 << 20;

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
    ignore: Option<Gitignore>,
    gitignore: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// Git rules of the directories above a repository do not reach into it.
    is_repository: bool,
}

impl IgnoreRules {
    /// Returns the rules that hold where `start` is, which are those of every directory above it.
    pub(crate) fn above(workdir: &Workdir, start: &WorkdirPath) -> Self {
        let mut rules = Self::default();
        let mut above = start.own_root();
        for name in start.segments() {
            let next = above.child(name);
            rules = rules.below(workdir, &above, None);
            above = next;
        }
        rules
    }

    /// Adds the rules of a directory. With its `entries` at hand, only files that exist are opened.
    pub(crate) fn below(
        &self,
        workdir: &Workdir,
        directory: &WorkdirPath,
        entries: Option<&RawListing>,
    ) -> Self {
        let may_exist = |name: &str| entries.is_none_or(|entries| entries.has(name));
        let rules = |name| may_exist(name).then(|| read_rules(workdir, &directory.child(name))).flatten();
        let is_repository = may_exist(".git") && workdir.kind(&directory.child(".git")).is_ok();
        let exclude = || read_rules(workdir, &directory.child(".git").child("info").child("exclude"));
        let (ignore, gitignore) = (rules(".ignore"), rules(".gitignore"));
        let exclude = is_repository.then(exclude).flatten();
        if !is_repository && ignore.is_none() && gitignore.is_none() {
            return self.clone();
        }
        let prefix = directory.prefix_length();
        let above = self.clone();
        Self(Some(Arc::new(Level { above, prefix, ignore, gitignore, exclude, is_repository })))
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
            .find_map(|level| matched(level.ignore.as_ref(), level))
            .or_else(|| self.in_repository().find_map(|level| matched(level.gitignore.as_ref(), level)))
            .or_else(|| self.in_repository().find_map(|level| matched(level.exclude.as_ref(), level)))
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

/// Reads an ignore file. What cannot be read or understood holds no rules, as for git.
fn read_rules(workdir: &Workdir, path: &WorkdirPath) -> Option<Gitignore> {
    let mut bytes = Vec::new();
    workdir.open_file(path).ok()?.take(RULES_MAX).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut builder = GitignoreBuilder::new(".");
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A pattern that does not parse is skipped; the others still hold.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
