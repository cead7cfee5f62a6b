use haft_core::{RunId, Visible};
use haft_process::Environment;
use haft_subagents::{
    Isolation, Patch, PlaceLimits, Placed, Workplace, WorkplaceError, Workplaces as _, Worktrees,
};
use haft_testkit::Tree;
use haft_tools_core::{CallScope, ToolRegistry};
use haft_workdir::Workdir;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Says whether git is installed; where it is not, a test has nothing to work on, which CI does not let pass.
#[expect(clippy::print_stderr, reason = "whoever reads the tests has to see that one was skipped")]
pub(super) fn has_git() -> bool {
    let found = Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("CI").is_none(), "git is not installed, and CI tests with it");
    if !found {
        eprintln!("skipped: git is not installed");
    }
    found
}

/// Runs git as a person would, in a directory, without the settings of the machine.
pub(super) fn git<S: AsRef<OsStr>>(directory: &Path, arguments: impl IntoIterator<Item = S>) -> String {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=ann@example.org",
        "-c",
        "protocol.file.allow=always",
    ]);
    command.args(arguments).current_dir(directory);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            command.env_remove(name);
        }
    }
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", directory);
    let output = command.output().expect("git runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git failed in {}: {stderr}", directory.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Makes a repository of a tree, with everything that is there committed.
pub(super) fn committed(tree: Tree) -> Tree {
    git(tree.path(), ["init", "--quiet", "--initial-branch=main"]);
    git(tree.path(), ["add", "--all"]);
    git(tree.path(), ["commit", "--quiet", "--allow-empty", "--message", "first"]);
    tree
}

/// A project, and places for children that work on it.
pub(super) struct House {
    pub(super) project: Tree,
    pub(super) state: TempDir,
    pub(super) places: Worktrees,
    roots: Arc<Mutex<Vec<PathBuf>>>,
}

/// A place, and where it is.
pub(super) struct Child {
    pub(super) place: Arc<dyn Workplace>,
    pub(super) root: PathBuf,
}

impl House {
    pub(super) fn of(project: Tree) -> Self {
        let workdir = project.workdir();
        Self::at(project, workdir)
    }

    /// A house whose runs work in some directory of a project.
    pub(super) fn at(project: Tree, workdir: Workdir) -> Self {
        let state = tempfile::tempdir().expect("there is room for one");
        let place = state.path().join("places");
        let (places, roots) = worktrees(workdir, &place);
        Self { project, state, places, roots }
    }

    pub(super) fn limited(self, limits: PlaceLimits) -> Self {
        Self { places: self.places.clone().limits(limits), ..self }
    }

    pub(super) async fn try_place(&self, run: &str, isolation: Isolation) -> Result<Child, WorkplaceError> {
        self.try_place_below(&scope("lead"), run, isolation).await
    }

    pub(super) async fn try_place_below(
        &self,
        parent: &CallScope,
        run: &str,
        isolation: Isolation,
    ) -> Result<Child, WorkplaceError> {
        let place = self.places.place(parent, &id(run), isolation).await?;
        let root = self.roots.lock().unwrap().last().cloned().expect("its tools were made");
        Ok(Child { place, root })
    }

    pub(super) async fn place(&self, run: &str) -> Child {
        self.try_place(run, Isolation::Worktree).await.expect("the place is made")
    }
}

/// Makes places, and notes where.
pub(super) fn worktrees(workdir: Workdir, state: &Path) -> (Worktrees, Arc<Mutex<Vec<PathBuf>>>) {
    let roots: Arc<Mutex<Vec<PathBuf>>> = Arc::default();
    let noted = Arc::clone(&roots);
    let places = Worktrees::new(workdir, state, move |workdir: &Workdir| {
        noted.lock().unwrap().push(workdir.root_path().to_owned());
        ToolRegistry::of(haft_tool_fs::tools(workdir)).expect("the tools fit together")
    });
    (places.environment(Environment::from_vars(std::env::vars_os())), roots)
}

impl Child {
    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("it is below the root")).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(super) fn remove(&self, path: &str) -> &Self {
        fs::remove_file(self.root.join(path)).unwrap();
        self
    }

    pub(super) fn rename(&self, from: &str, to: &str) -> &Self {
        fs::rename(self.root.join(from), self.root.join(to)).unwrap();
        self
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    pub(super) fn has(&self, path: &str) -> bool {
        fs::symlink_metadata(self.root.join(path)).is_ok()
    }

    pub(super) async fn changes(&self) -> Patch {
        self.place.changes().await.expect("the changes are told")
    }

    /// Everything below the root, without its repository.
    pub(super) fn list(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(&self.root, "", &mut found);
        found
    }

    pub(super) fn scope(&self, run: &str) -> CallScope {
        Placed::enter(scope("lead").child(id(run)), Arc::clone(&self.place))
    }
}

fn list(directory: &Path, prefix: &str, found: &mut Vec<String>) {
    let mut entries: Vec<_> = fs::read_dir(directory).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if path == ".git" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            list(&entry.path(), &format!("{path}/"), found);
        } else {
            found.push(path);
        }
    }
}

pub(super) fn id(run: &str) -> RunId {
    run.parse().expect("it is an id")
}

pub(super) fn scope(run: &str) -> CallScope {
    CallScope::new(id(run))
}

/// What a patch says, for comparing it as a whole.
pub(super) fn told(patch: &Patch) -> String {
    let files = patch.files.iter().map(ToString::to_string);
    let left_out = patch.left_out.iter();
    let left_out = left_out.map(|out| format!("not {}, {}", Visible::line(&out.path), out.reason));
    files.chain(left_out).flat_map(|line| [line, "\n".to_owned()]).collect()
}
