//! Repositories that would have git run programs: none of them is run.

use super::fixture::{House, committed, git, has_git, id};
use haft_subagents::{Isolation, Workplaces as _};
use haft_testkit::Tree;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The hooks that git knows (githooks(5)).
const HOOKS: [&str; 12] = [
    "applypatch-msg",
    "fsmonitor-watchman",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-auto-gc",
    "pre-commit",
    "prepare-commit-msg",
    "reference-transaction",
    "update",
];

/// Writes a program that leaves a mark, and gives its path and that of the mark.
fn program(tree: &Tree) -> (PathBuf, PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let (program, mark) = (tree.path().join("program"), tree.path().join("mark"));
    fs::write(&program, format!("#!/bin/sh\necho \"$0 $@\" >> '{}'\nexit 1\n", mark.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program, mark)
}

/// Has a repository run a program wherever git can be told to.
fn arm(git_dir: &Path, program: &Path) {
    let program = program.display();
    let mut config = OpenOptions::new().append(true).open(git_dir.join("config")).unwrap();
    let included = git_dir.join("included");
    write!(
        config,
        "[core]\n\tfsmonitor = {program}\n\tpager = {program}\n\teditor = {program}\n\tsshCommand = {program}\n\
         \tattributesFile = {0}/attributes\n\thooksPath = {0}/hooks\n\talternateRefsCommand = {program}\n\
         \tgitProxy = {program}\n\tuntrackedCache = true\n\tautocrlf = true\n\
         [filter \"evil\"]\n\tclean = {program}\n\tsmudge = {program}\n\tprocess = {program}\n\trequired = true\n\
         [diff]\n\texternal = {program}\n\tsubmodule = diff\n\
         [diff \"evil\"]\n\tcommand = {program}\n\ttextconv = {program}\n\
         [merge \"evil\"]\n\tdriver = {program}\n\
         [gpg]\n\tprogram = {program}\n[commit]\n\tgpgSign = true\n[credential]\n\thelper = !{program}\n\
         [submodule]\n\trecurse = true\n[pager]\n\tls-files = {program}\n\trev-parse = {program}\n\tdiff-tree = {program}\n\
         [alias]\n\tls-files = !{program}\n\trev-parse = !{program}\n\tadd = !{program}\n\
         [remote \"origin\"]\n\turl = ext::{program}\n\tuploadpack = {program}\n\tpromisor = true\n\tfetch = +refs/*:refs/*\n\
         [extensions]\n\tpartialClone = origin\n[protocol \"ext\"]\n\tallow = always\n[include]\n\tpath = {1}\n\
         [trace2]\n\teventTarget = af_unix:{program}\n",
        git_dir.display(),
        included.display(),
    )
    .unwrap();
    fs::write(
        &included,
        format!("[core]\n\tfsmonitor = {program}\n[gc]\n\tauto = 1\n\trecentObjectsHook = {program}\n"),
    )
    .unwrap();
    let attributes = "* filter=evil diff=evil merge=evil\n";
    fs::write(git_dir.join("attributes"), attributes).unwrap();
    fs::create_dir_all(git_dir.join("info")).unwrap();
    fs::write(git_dir.join("info/attributes"), attributes).unwrap();
    fs::create_dir_all(git_dir.join("hooks")).unwrap();
    for hook in HOOKS {
        symlink(format!("{program}"), git_dir.join("hooks").join(hook)).unwrap();
    }
}

fn armed(program: &Path) -> Tree {
    let attributes = "* filter=evil diff=evil\n";
    let project =
        committed(Tree::new().file("a", "1\n").file("sub/b", "1\n").file(".gitattributes", attributes));
    let project = project.file("a", "2\n").file("untracked", "x\n");
    arm(&project.path().join(".git"), program);
    project
}

#[tokio::test]
async fn nothing_that_a_repository_says_is_run() {
    if !has_git() {
        return;
    }
    let tree = Tree::new();
    let (program, mark) = program(&tree);
    let project = armed(&program);
    // The repository does what it should, for whoever is not careful.
    let _ = Command::new("git").arg("status").current_dir(project.path()).output();
    assert!(mark.exists(), "the repository is not armed");
    fs::remove_file(&mark).unwrap();

    let house = House::of(project);
    for isolation in [Isolation::Worktree, Isolation::Copy] {
        let run = format!("{isolation:?}");
        let child = house.try_place(&run, isolation).await.expect("the place is made");
        assert!(child.read("a") == "2\n" && child.has("untracked"));
        // The child arms its own as well, and changes the attributes.
        arm(&child.root.join(".git"), &program);
        child
            .write(".gitattributes", "* filter=evil diff=evil merge=evil text=auto\n")
            .write("a", "3\n")
            .write("c", "x\n");
        let within = child.root.join("within");
        fs::create_dir(&within).unwrap();
        git(&within, ["init", "--quiet"]);
        git(&within, ["commit", "--quiet", "--allow-empty", "-m", "x"]);
        arm(&within.join(".git"), &program);
        let patch = child.changes().await;
        assert!(patch.files.len() >= 3, "{patch:?}");
        let below = house
            .try_place_below(&child.scope(&run), &format!("{run}/below"), Isolation::Worktree)
            .await
            .expect("the place is made");
        assert_eq!(below.read("a"), "3\n");
        below.write("a", "4\n");
        below.changes().await;
        below.place.remove().await.unwrap();
        child.place.remove().await.unwrap();
    }
    house.places.prune(Duration::ZERO, &|_| false).await.unwrap();
    assert!(!mark.exists(), "something was run: {}", fs::read_to_string(&mark).unwrap());
}

#[tokio::test]
async fn a_repository_of_the_child_that_stayed_in_the_index_is_not_looked_into() {
    if !has_git() {
        return;
    }
    let tree = Tree::new();
    let (program, mark) = program(&tree);
    let house = House::of(committed(Tree::new().file("a", "1\n")));
    let child = house.place("child").await;
    let within = child.root.join("within");
    fs::create_dir(&within).unwrap();
    git(&within, ["init", "--quiet"]);
    fs::write(within.join("b"), "1\n").unwrap();
    git(&within, ["add", "--all"]);
    git(&within, ["commit", "--quiet", "-m", "x"]);
    let commit = git(&within, ["rev-parse", "HEAD"]);
    fs::write(within.join("b"), "2\n").unwrap();
    arm(&within.join(".git"), &program);
    child.write("a", "2\n");
    // The process ended between taking in the files and leaving out the repositories.
    let ours = child.root.parent().unwrap().join("git");
    let entry = format!("160000,{},within", commit.trim());
    let options = [format!("--git-dir={}", ours.display()), format!("--work-tree={}", child.root.display())];
    let options = options.iter().map(String::as_str);
    git(&child.root, options.chain(["update-index", "--add", "--cacheinfo", entry.as_str()]));
    for _ in 0..2 {
        let told = super::fixture::told(&child.changes().await);
        assert_eq!(told, "changed `a` (+1 -1)\nnot within, since it is a git repository of its own\n");
        assert!(!mark.exists(), "something was run: {}", fs::read_to_string(&mark).unwrap());
    }
}

#[tokio::test]
async fn a_repository_of_another_user_is_passed_over() {
    if !has_git() {
        return;
    }
    for of_another in [".git", ".git/objects"] {
        let project = committed(Tree::new().file("secret", "hunter2\n").file("dir/a", "1\n"));
        // Root alone can give a file away.
        if std::os::unix::fs::lchown(project.path().join(of_another), Some(65534), None).is_err() {
            return;
        }
        let workdir = haft_workdir::Workdir::open(project.path().join("dir")).unwrap();
        let house = House::at(project, workdir);
        let child = house.place("child").await;
        assert!(child.has("a") && !child.has("../secret") && !child.has("../dir"), "{of_another}");
    }
}

#[tokio::test]
async fn submodules_do_not_run_anything_either() {
    if !has_git() {
        return;
    }
    let tree = Tree::new();
    let (program, mark) = program(&tree);
    let library = committed(Tree::new().file("lib", "1\n"));
    let project = committed(Tree::new().file("a", "1\n"));
    git(project.path(), ["submodule", "--quiet", "add", library.path().to_str().unwrap(), "library"]);
    git(project.path(), ["commit", "--quiet", "-m", "library"]);
    arm(&project.path().join(".git/modules/library"), &program);
    arm(&project.path().join(".git"), &program);
    let project = project.file("library/lib", "2\n");
    let house = House::of(project);
    let child = house.place("child").await;
    child.write("a", "2\n").write("library/lib", "x\n");
    child.changes().await;
    assert!(!mark.exists(), "something was run: {}", fs::read_to_string(&mark).unwrap());
}

#[tokio::test]
async fn a_repository_cannot_name_another_directory_as_its_own() {
    if !has_git() {
        return;
    }
    let secret = Tree::new().file("secret", "hunter2\n");
    let project = committed(Tree::new().file("a", "1\n"));
    git(project.path(), ["config", "core.worktree", secret.path().to_str().unwrap()]);
    let house = House::of(project);
    let child = house.place("child").await;
    assert_eq!(child.list(), ["a"]);
}

#[tokio::test]
async fn what_a_link_in_the_repository_leads_to_is_not_handed_on() {
    if !has_git() {
        return;
    }
    let secret = Tree::new().file("secret", "hunter2\n");
    let project = committed(Tree::new().file("a", "1\n"));
    for name in ["info/exclude", "shallow"] {
        let link = project.path().join(".git").join(name);
        let _ = fs::remove_file(&link);
        symlink(secret.path().join("secret"), link).unwrap();
    }
    let house = House::of(project);
    // Whether git takes such a repository or not, nothing of the secret may be in the place.
    if let Ok(child) = house.try_place("child", Isolation::Worktree).await {
        for name in ["info/exclude", "shallow"] {
            let found = fs::read_to_string(child.root.join(".git").join(name)).unwrap_or_default();
            assert!(!found.contains("hunter2"), "{name}");
        }
    }
}

#[tokio::test]
async fn a_directory_that_looks_like_a_place_is_not_touched() {
    if !has_git() {
        return;
    }
    let house = House::of(committed(Tree::new().file("a", "1\n")));
    let child = house.place("child").await;
    let place = child.root.parent().unwrap().to_owned();
    child.place.remove().await.unwrap();
    drop(child);
    fs::create_dir(&place).unwrap();
    fs::write(place.join("precious"), "mine").unwrap();
    let refused = house.try_place("child", Isolation::Worktree).await.err();
    assert!(matches!(refused, Some(haft_subagents::WorkplaceError::Foreign { .. })), "{refused:?}");
    // Nor if it claims to be another's place.
    fs::write(place.join("haft-place.json"), r#"{"version":1,"run":"other"}"#).unwrap();
    assert_eq!(house.places.prune(Duration::ZERO, &|_| false).await.unwrap(), 0);
    let elsewhere = Tree::new().file("precious", "mine");
    fs::write(elsewhere.path().join("haft-place.json"), r#"{"version":1,"run":"linked"}"#).unwrap();
    let link = place.parent().unwrap().join("0123456789abcdef01234567");
    symlink(elsewhere.path(), &link).unwrap();
    assert_eq!(house.places.prune(Duration::ZERO, &|_| false).await.unwrap(), 0);
    assert_eq!(fs::read_to_string(place.join("precious")).unwrap(), "mine");
    assert_eq!(elsewhere.read("precious"), "mine");
}

#[tokio::test]
async fn a_run_cannot_name_its_place_into_another_directory() {
    if !has_git() {
        return;
    }
    let house = House::of(committed(Tree::new().file("a", "1\n")));
    for run in ["../../escape", "/etc", ".", "a/b"] {
        let child = house.try_place(run, Isolation::Worktree).await.unwrap();
        let places = house.state.path().join("places").canonicalize().unwrap();
        assert_eq!(child.root.parent().unwrap().parent(), Some(places.as_path()), "{run}");
        assert_eq!(child.place.run(), &id(run));
    }
}
