//! Which entries a walk leaves out because of `.gitignore`, `.ignore` and `.git/info/exclude`.
//!
//! The files are read through the root's handle and matched by the `ignore` crate, with the precedence it uses itself:
//! deeper before higher, and `.ignore` of any depth before `.gitignore` of any depth before `exclude`.

use std::io::Read;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::listing::RawEntry;
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
#[derive(Debug, Default)]
pub(crate) struct IgnoreRules {
    levels: Vec<Level>,
}

/// The rules of one directory.
#[derive(Debug)]
struct Level {
    /// How many bytes of a path below it name the directory, with the `/`.
    prefix: usize,
    ignore: Option<Gitignore>,
    gitignore: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// Git rules of the directories above a repository do not reach into it.
    is_repository: bool,
}

impl IgnoreRules {
    /// Adds the rules of every directory above `start`, which a walk does not list.
    pub(crate) fn enter_above(&mut self, workdir: &Workdir, start: &WorkdirPath) {
        let mut above = start.own_root();
        for name in start.segments() {
            let next = above.child(name);
            self.enter(workdir, &above, None);
            above = next;
        }
    }

    /// Adds the rules of a directory. With its sorted `entries` at hand, only files that exist are opened.
    pub(crate) fn enter(&mut self, workdir: &Workdir, directory: &WorkdirPath, entries: Option<&[RawEntry]>) {
        let may_exist = |name: &str| {
            entries.is_none_or(|entries| {
                entries.binary_search_by(|entry| entry.name.as_slice().cmp(name.as_bytes())).is_ok()
            })
        };
        let rules = |name| may_exist(name).then(|| read_rules(workdir, &directory.child(name))).flatten();
        let git = directory.child(".git");
        let is_repository = may_exist(".git") && workdir.kind(&git).is_ok();
        let exclude = || read_rules(workdir, &git.child("info").child("exclude"));
        self.levels.push(Level {
            prefix: directory.prefix_length(),
            ignore: rules(".ignore"),
            gitignore: rules(".gitignore"),
            exclude: is_repository.then(exclude).flatten(),
            is_repository,
        });
    }

    /// Takes away the rules of the directory entered last.
    pub(crate) fn leave(&mut self) {
        self.levels.pop();
    }

    /// Tells what the rules say of an entry of the directory entered last.
    pub(crate) fn verdict(&self, path: &WorkdirPath, kind: EntryKind) -> Verdict {
        let is_directory = kind == EntryKind::Directory;
        let matched = |rules: Option<&Gitignore>, level: &Level| {
            let below = path.as_str().get(level.prefix..)?;
            match rules?.matched(below, is_directory) {
                ignore::Match::Ignore(_) => Some(Verdict::Ignored),
                ignore::Match::Whitelist(_) => Some(Verdict::Kept),
                ignore::Match::None => None,
            }
        };
        let upwards = || self.levels.iter().rev();
        let repository = self.levels.iter().rposition(|level| level.is_repository).unwrap_or(0);
        let in_repository = || self.levels.iter().skip(repository).rev();
        upwards()
            .find_map(|level| matched(level.ignore.as_ref(), level))
            .or_else(|| in_repository().find_map(|level| matched(level.gitignore.as_ref(), level)))
            .or_else(|| in_repository().find_map(|level| matched(level.exclude.as_ref(), level)))
            .unwrap_or(Verdict::Unmentioned)
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
