//! What a walk leaves out because it is hidden or ignored, for telling a model what it may have missed.

use crate::watch::Watch;
use haft_workdir::{EntryKind, PassedOver, UnreadRules, WalkListing, WalkOptions, Workdir, WorkdirPath};

/// How many of the entries that a walk passed over are remembered.
const REMEMBERED: usize = 200;

/// How many entries are looked at, so that an ignored tree of any size costs little.
const MOST_ENTRIES: usize = 2_000;

/// An entry that a walk leaves out, and what would include it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) path: WorkdirPath,
    pub(crate) kind: EntryKind,
    /// The arguments of the tool that have to be true for it to be included.
    pub(crate) needs: &'static str,
}

/// The first entries that a walk passed over, in the order of their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PassedBy(Vec<(WorkdirPath, EntryKind, PassedOver)>);

impl PassedBy {
    /// Adds what a directory has of them.
    pub(crate) fn add(&mut self, listing: &WalkListing) {
        let room = REMEMBERED.saturating_sub(self.0.len());
        let passed = listing.entries().iter().filter_map(|entry| {
            let reason = entry.passed_over()?;
            Some((listing.path_of(entry), entry.kind(), reason))
        });
        self.0.extend(passed.take(room));
    }

    /// Adds what comes behind.
    pub(crate) fn append(&mut self, mut other: Self) {
        other.0.truncate(REMEMBERED.saturating_sub(self.0.len()));
        self.0.append(&mut other.0);
    }

    /// Lists what was left out, with what is in it, up to a bound; `hidden` says whether hidden entries were not.
    pub(crate) fn left_out(
        self,
        workdir: &Workdir,
        hidden: bool,
        watch: &dyn Watch,
    ) -> impl Iterator<Item = LeftOut> {
        let all = self.0.into_iter().flat_map(move |(path, kind, reason)| {
            let unread = watch.unread(&path);
            below(workdir, (path, kind), reason, hidden, unread)
        });
        all.take(MOST_ENTRIES)
    }
}

/// Lists an entry and what is below it, as far as the same arguments include it.
fn below(
    workdir: &Workdir,
    (path, kind): (WorkdirPath, EntryKind),
    reason: PassedOver,
    hidden: bool,
    unread: UnreadRules,
) -> impl Iterator<Item = LeftOut> + use<> {
    let is_ignored = reason == PassedOver::Ignored;
    let options = WalkOptions::default().hidden(true).ignored(is_ignored);
    let walk =
        (kind == EntryKind::Directory).then(|| workdir.walk_without(&path, options, unread).ok()).flatten();
    let start = path.clone();
    let own = path.file_name().is_some_and(|name| name.starts_with('.'));
    let inner = walk.into_iter().flatten().flatten().map(move |entry| {
        let below = entry.path().relative_to(&start).unwrap_or_default();
        let is_hidden = own || below.split('/').any(|name| name.starts_with('.'));
        (entry.kind(), entry.into_path(), is_hidden)
    });
    [(kind, path, own)].into_iter().chain(inner).map(move |(kind, path, is_hidden)| {
        let needs = match (is_ignored, is_hidden && !hidden) {
            (true, true) => "`hidden` and `no_ignore`",
            (true, false) => "`no_ignore`",
            (false, _) => "`hidden`",
        };
        LeftOut { path, kind, needs }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_testkit::Tree;

    struct Unwatched;

    impl Watch for Unwatched {
        fn is_cancelled(&self) -> bool {
            false
        }

        fn is_out_of_time(&self) -> bool {
            false
        }

        fn looked_at(&self, _files: u64) {}
    }

    fn check(hidden: bool, no_ignore: bool, expected: &[(&str, &str)]) {
        let tree = Tree::new()
            .file(".gitignore", "target/\n*.log\n.cache\n")
            .file(".cache", "")
            .file(".github/ci.yml", "")
            .file(".github/old.log", "")
            .file("a.log", "")
            .file("src/main.rs", "")
            .file("target/.lock", "")
            .file("target/out", "");
        let workdir = tree.workdir();
        let options = WalkOptions::default().hidden(hidden).ignored(no_ignore);
        let mut passed = PassedBy::default();
        let mut next = vec![workdir.walk_directory(&WorkdirPath::root(), options)];
        while let Some(directory) = next.pop() {
            let listing = directory.list().unwrap();
            passed.add(&listing);
            next.extend(listing.entries().iter().filter_map(|entry| listing.enter(entry)));
        }
        let found = passed.left_out(&workdir, hidden, &Unwatched);
        let mut found: Vec<_> = found.map(|entry| (entry.path.to_string(), entry.needs)).collect();
        found.sort();
        let expected: Vec<_> = expected.iter().map(|(path, needs)| ((*path).to_owned(), *needs)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn tells_what_would_include_each_entry() {
        check(
            false,
            false,
            &[
                (".cache", "`hidden` and `no_ignore`"),
                (".github", "`hidden`"),
                (".github/ci.yml", "`hidden`"),
                (".gitignore", "`hidden`"),
                ("a.log", "`no_ignore`"),
                ("target", "`no_ignore`"),
                ("target/.lock", "`hidden` and `no_ignore`"),
                ("target/out", "`no_ignore`"),
            ],
        );
        check(
            true,
            false,
            &[
                (".cache", "`no_ignore`"),
                (".github/old.log", "`no_ignore`"),
                ("a.log", "`no_ignore`"),
                ("target", "`no_ignore`"),
                ("target/.lock", "`no_ignore`"),
                ("target/out", "`no_ignore`"),
            ],
        );
        check(true, true, &[]);
    }
}
