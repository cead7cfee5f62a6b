//! Where protected places are.

use std::fs;
use std::path::{Path, PathBuf};

/// How deep, and in how many directories, places are looked for whose pattern says that they are somewhere below.
const MOST_DEPTH: usize = 8;
const MOST_DIRECTORIES: usize = 512;

/// A place that is protected in each root, as names below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Where it begins, and what lies anywhere below that.
    beginning: Box<str>,
    below: Option<Box<str>>,
}

/// What was found of a pattern; all of it is to be protected.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) places: Vec<PathBuf>,
    /// Where more lies below than was looked at.
    pub(super) more_below: Option<PathBuf>,
}

impl Found {
    /// The places, and where there are too many of them the part in which they lie.
    pub(super) fn all(self) -> impl Iterator<Item = PathBuf> {
        self.places.into_iter().chain(self.more_below)
    }
}

impl Pattern {
    pub(super) fn new(pattern: &str) -> Self {
        match pattern.split_once("/**/") {
            Some((beginning, below)) => Self { beginning: beginning.into(), below: Some(below.into()) },
            None => Self { beginning: pattern.into(), below: None },
        }
    }

    /// Finds the places in a directory, those that are there and those that could be made.
    pub(super) fn places(&self, directory: &Path) -> Found {
        let beginning = directory.join(&*self.beginning);
        let Some(below) = &self.below else { return Found { places: vec![beginning], more_below: None } };
        let mut found = Found::default();
        let mut directories = vec![(beginning.clone(), 0)];
        let mut looked_in = 0;
        while let Some((directory, depth)) = directories.pop() {
            looked_in += 1;
            if looked_in > MOST_DIRECTORIES || depth > MOST_DEPTH {
                found.more_below = Some(beginning);
                break;
            }
            if depth > 0 {
                found.places.push(directory.join(&**below));
            }
            let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
            let inner = entries.filter(|entry| {
                // What git keeps there are its objects, thousands of directories without any settings.
                entry.file_type().is_ok_and(|kind| kind.is_dir())
                    && !matches!(
                        entry.file_name().to_str(),
                        Some("objects" | "refs" | "logs" | "hooks" | "info")
                    )
            });
            directories.extend(inner.map(|entry| (entry.path(), depth + 1)));
        }
        found
    }

    /// Tells whether the places are anywhere below a part, so that others come to be with what is made there.
    pub(super) fn is_below(&self) -> bool {
        self.below.is_some()
    }

    /// The pattern for a directory that takes the place of one that the pattern begins with: that of a repository whose
    /// files are elsewhere.
    pub(super) fn inside(&self, name: &str) -> Option<Self> {
        let beginning = self.beginning.strip_prefix(name)?.strip_prefix('/')?;
        Some(Self { beginning: beginning.into(), below: self.below.clone() })
    }
}

/// Lists the directories that the files of a repository are in, where they are not in the `.git` of a root: its own ones
/// of a linked worktree or a submodule, and the common ones.
///
/// A file that says where they are is believed only if the place says the same, which is what git itself keeps there: or
/// such a file would open any directory.
pub(super) fn git_directories(root: &Path) -> Vec<PathBuf> {
    let found = || {
        let link = root.join(".git");
        if !link.symlink_metadata().ok()?.is_file() {
            return None;
        }
        let own = named_in(&link, "gitdir: ", root)?;
        let says_so = || {
            let back = named_in(&own.join("gitdir"), "", &own)?;
            (back == link.canonicalize().ok()?).then_some(())
        };
        says_so()?;
        let common = named_in(&own.join("commondir"), "", &own)?;
        // A worktree's directory lies in the common one.
        own.starts_with(&common).then(|| vec![common])
    };
    found().unwrap_or_default()
}

/// Reads the path that a small file holds.
fn named_in(file: &Path, before: &str, from: &Path) -> Option<PathBuf> {
    let is_small = file.metadata().is_ok_and(|found| found.is_file() && found.len() <= 4096);
    let text = if is_small { fs::read_to_string(file).ok()? } else { return None };
    from.join(text.strip_prefix(before)?.trim_end_matches('\n')).canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_testkit::Tree;

    fn places(pattern: &str, tree: &Tree) -> Vec<String> {
        let found = Pattern::new(pattern).places(tree.path());
        assert_eq!(found.more_below, None);
        let mut found: Vec<String> = found
            .places
            .iter()
            .filter_map(|path| Some(path.strip_prefix(tree.path()).ok()?.to_str()?.to_owned()))
            .collect();
        found.sort();
        found
    }

    #[test]
    fn a_name_is_looked_for_at_the_top() {
        assert_eq!(places(".git/hooks", &Tree::new()), [".git/hooks"]);
    }

    #[test]
    fn what_lies_anywhere_below_is_found_in_each_directory() {
        let tree = Tree::new().directory(".git/modules/a/objects/00").directory(".git/modules/b/modules/c");
        let expected =
            ["a", "b", "b/modules/c", "b/modules"].map(|name| format!(".git/modules/{name}/hooks"));
        assert_eq!(places(".git/modules/**/hooks", &tree), expected);
    }

    #[test]
    fn where_too_much_lies_below_that_is_told() {
        for path in ["a/b/c/d/e/f/g/h/i", "a/b/c/d/e/f/g/h"] {
            let tree = Tree::new().directory(&format!(".git/modules/{path}"));
            let found = Pattern::new(".git/modules/**/hooks").places(tree.path());
            let too_deep = path.ends_with('i').then(|| tree.path().join(".git/modules"));
            assert_eq!(found.more_below, too_deep, "{path}");
        }
    }

    #[test]
    fn a_worktree_is_believed_when_its_repository_says_the_same() {
        let tree = Tree::new().directory("main/.git/worktrees/w").directory("w").directory("forged/private");
        let path = tree.path().canonicalize().unwrap();
        let write = |file: &str, text: String| fs::write(path.join(file), text).unwrap();
        write("w/.git", format!("gitdir: {}/main/.git/worktrees/w\n", path.display()));
        write("main/.git/worktrees/w/commondir", "../..\n".to_owned());
        assert_eq!(git_directories(&path.join("w")), [] as [PathBuf; 0]);
        write("main/.git/worktrees/w/gitdir", format!("{}/w/.git\n", path.display()));
        assert_eq!(git_directories(&path.join("w")), [path.join("main/.git")]);
        write("forged/.git", format!("gitdir: {}/forged/private\n", path.display()));
        assert_eq!(git_directories(&path.join("forged")), [] as [PathBuf; 0]);
    }
}
