//! What a walk leaves out because it is hidden or ignored, for telling a model what it may have missed.

use haft_workdir::{EntryKind, Walk, WalkOptions, Workdir, WorkdirPath};
use std::iter::{Flatten, Peekable};

/// How many entries are looked at, so that an ignored tree of any size costs little.
const MOST_ENTRIES: usize = 20_000;

/// An entry that a walk leaves out, and what would include it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) path: WorkdirPath,
    pub(crate) kind: EntryKind,
    /// The arguments of the tool that have to be true for it to be included.
    pub(crate) needs: &'static str,
}

/// Lists what a walk with these options leaves out, in the order of the paths, up to a bound.
pub(crate) fn left_out(
    workdir: &Workdir,
    start: &WorkdirPath,
    hidden: bool,
    no_ignore: bool,
) -> Result<impl Iterator<Item = LeftOut> + use<>, haft_workdir::Error> {
    let walk = |hidden, ignored| workdir.walk(start, WalkOptions::default().hidden(hidden).ignored(ignored));
    let everything = walk(true, true)?;
    let mut included = Members::of(walk(hidden, no_ignore)?);
    let mut with_hidden = Members::of(walk(true, no_ignore)?);
    let mut with_ignored = Members::of(walk(hidden, true)?);
    Ok(everything.take(MOST_ENTRIES).flatten().filter_map(move |entry| {
        if included.has(entry.path()) {
            return None;
        }
        let needs = if with_hidden.has(entry.path()) {
            "`hidden`"
        } else if with_ignored.has(entry.path()) {
            "`no_ignore`"
        } else {
            "`hidden` and `no_ignore`"
        };
        Some(LeftOut { kind: entry.kind(), path: entry.into_path(), needs })
    }))
}

/// The entries of a walk, asked for in their order, so that none has to be kept.
struct Members(Peekable<Flatten<Walk>>);

impl Members {
    fn of(walk: Walk) -> Self {
        Self(walk.flatten().peekable())
    }

    fn has(&mut self, path: &WorkdirPath) -> bool {
        while self.0.next_if(|entry| entry.path() < path).is_some() {}
        self.0.next_if(|entry| entry.path() == path).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_testkit::Tree;

    fn check(hidden: bool, no_ignore: bool, expected: &[(&str, &str)]) {
        let tree = Tree::new()
            .file(".gitignore", "target/\n*.log\n")
            .file("a.log", "")
            .file("src/.env", "")
            .file("src/main.rs", "")
            .file("target/.lock", "")
            .file("target/out", "");
        let workdir = tree.workdir();
        let found = left_out(&workdir, &WorkdirPath::root(), hidden, no_ignore).unwrap();
        let found: Vec<_> = found.map(|entry| (entry.path.to_string(), entry.needs)).collect();
        let expected: Vec<_> = expected.iter().map(|(path, needs)| ((*path).to_owned(), *needs)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn tells_what_would_include_each_entry() {
        check(
            false,
            false,
            &[
                (".gitignore", "`hidden`"),
                ("a.log", "`no_ignore`"),
                ("src/.env", "`hidden`"),
                ("target", "`no_ignore`"),
                ("target/.lock", "`hidden` and `no_ignore`"),
                ("target/out", "`no_ignore`"),
            ],
        );
        check(
            true,
            false,
            &[
                ("a.log", "`no_ignore`"),
                ("target", "`no_ignore`"),
                ("target/.lock", "`no_ignore`"),
                ("target/out", "`no_ignore`"),
            ],
        );
        check(
            false,
            true,
            &[(".gitignore", "`hidden`"), ("src/.env", "`hidden`"), ("target/.lock", "`hidden`")],
        );
        check(true, true, &[]);
    }
}
