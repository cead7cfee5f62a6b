//! Trees to attack: a root, and beside it an outside that nothing may reach.

use std::fmt::Debug;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use haft_workdir::{Workdir, WorkdirPath};
use tempfile::TempDir;

/// The content of every file outside.
pub(crate) const SECRET: &str = "secret";

/// A temporary directory with `root`, and `outside` holding `secret` and `sub/secret`.
pub(crate) struct Fixture {
    scratch: TempDir,
}

impl Fixture {
    /// Builds the root from one entry per line:
    ///
    /// ```text
    /// dir/             a directory
    /// dir/file = text  a file, `\n` in the text is a line break
    /// link -> target   a symbolic link
    /// pipe |           a named pipe
    /// ```
    ///
    /// `{root}` and `{outside}` stand for the absolute paths.
    pub(crate) fn new(tree: &str) -> Self {
        let fixture = Self { scratch: TempDir::new().unwrap() };
        fs::create_dir(fixture.root()).unwrap();
        fs::create_dir_all(fixture.outside().join("sub")).unwrap();
        fs::write(fixture.outside().join("secret"), SECRET).unwrap();
        fs::write(fixture.outside().join("sub/secret"), SECRET).unwrap();
        for line in tree.lines().map(str::trim).filter(|line| !line.is_empty()) {
            fixture.add(line);
        }
        fixture
    }

    fn add(&self, line: &str) {
        let parent = |name: &str| {
            let path = self.root().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        };
        if let Some((name, target)) = line.split_once(" -> ") {
            symlink(self.fill(target), parent(name)).unwrap();
        } else if let Some((name, text)) = line.split_once(" =") {
            fs::write(parent(name), text.trim_start().replace("\\n", "\n")).unwrap();
        } else if let Some(name) = line.strip_suffix(" |") {
            assert!(Command::new("mkfifo").arg(parent(name)).status().unwrap().success());
        } else {
            fs::create_dir_all(parent(line)).unwrap();
        }
    }

    /// The directory that holds both.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.scratch.path().join("root")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.scratch.path().join("outside")
    }

    /// Puts the absolute paths in the place of `{root}` and `{outside}`.
    pub(crate) fn fill(&self, text: &str) -> String {
        text.replace("{root}", self.root().to_str().unwrap())
            .replace("{outside}", self.outside().to_str().unwrap())
    }

    /// The reverse of [`Self::fill`], so that what is compared does not depend on where the test ran.
    pub(crate) fn hide(&self, text: &str) -> String {
        text.replace(self.root().to_str().unwrap(), "{root}")
            .replace(self.outside().to_str().unwrap(), "{outside}")
    }

    pub(crate) fn workdir(&self) -> Workdir {
        Workdir::open(self.root()).unwrap()
    }

    /// The same root with both ways to look paths up.
    pub(crate) fn workdirs(&self) -> [Workdir; 2] {
        [self.workdir(), Workdir::open_by_components(self.root()).unwrap()]
    }

    /// Fails if anything outside was added, removed or changed.
    pub(crate) fn assert_outside_untouched(&self) {
        assert_eq!(
            tree_of(&self.outside()),
            [("secret".to_owned(), SECRET.to_owned()), ("sub/secret".to_owned(), SECRET.to_owned())]
        );
    }

    /// Everything in the root that is a file, with its content.
    pub(crate) fn files(&self) -> Vec<(String, String)> {
        tree_of(&self.root())
    }
}

/// Lists the files below a host directory with their content, without following links.
fn tree_of(directory: &Path) -> Vec<(String, String)> {
    fn collect(base: &Path, directory: &Path, files: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                collect(base, &entry.path(), files);
            } else if kind.is_file() {
                let name = entry.path().strip_prefix(base).unwrap().to_str().unwrap().to_owned();
                files.push((name, fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    let mut files = Vec::new();
    collect(directory, directory, &mut files);
    files.sort();
    files
}

/// Resolves a path that must resolve.
pub(crate) fn path(workdir: &Workdir, text: &str) -> WorkdirPath {
    workdir.resolve(text).unwrap()
}

/// Runs `attempt` with both ways to look paths up, each on a tree of its own, and returns the answer both must give.
pub(crate) fn on_both<T: PartialEq + Debug>(tree: &str, attempt: impl Fn(&Fixture, &Workdir) -> T) -> T {
    let fixtures = [Fixture::new(tree), Fixture::new(tree)];
    let [by_kernel, by_components] = [0, 1].map(|which| {
        let fixture = &fixtures[which];
        let answer = attempt(fixture, &fixture.workdirs()[which]);
        fixture.assert_outside_untouched();
        answer
    });
    assert_eq!(by_kernel, by_components, "the two lookups disagree");
    by_kernel
}
