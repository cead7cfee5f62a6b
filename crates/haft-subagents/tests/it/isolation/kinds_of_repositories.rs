use super::fixture::{House, committed, git, has_git, scope, told};
use expect_test::{Expect, expect};
use haft_subagents::{Isolation, PlaceLimits, WorkplaceError, Workplaces as _};
use haft_testkit::{Tree, call};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Says what a child finds that works on a project, what is said to be missing, and what comes back when it adds a file.
async fn check(project: Tree, isolation: Isolation, expected: &Expect) {
    if has_git() {
        check_in(House::of(project), isolation, expected).await;
    }
}

async fn check_in(house: House, isolation: Isolation, expected: &Expect) {
    let before = house.project.list();
    let child = house.try_place("checked", isolation).await.expect("the place is made");
    let status = git(&child.root, ["status", "--porcelain"]);
    let found = child.list().join(" ");
    assert_eq!(told(&child.changes().await), "", "nothing is changed yet");
    child.write("new", "new\n");
    let (missing, changes) = (child.place.missing().join(", "), told(&child.changes().await));
    expected.assert_eq(&format!("has {found}\nmisses {missing}\nstatus {status}\n{changes}"));
    assert_eq!(house.project.list(), before, "what the parent has stays as it is");
}

#[tokio::test]
async fn what_is_not_committed_is_there_and_is_no_change() {
    let project = Tree::new()
        .file("a", "1\n")
        .file("gone", "")
        .file("staged", "1\n")
        .file(".gitignore", "built/\n*.log\n");
    let project = committed(project.file("kept.log", "1\n"));
    if !has_git() {
        return;
    }
    git(project.path(), ["add", "--force", "kept.log"]);
    let project = project
        .file("a", "2\n")
        .file("new", "x\n")
        .file("built/x", "")
        .file("x.log", "")
        .file("staged", "2\n");
    let project = project.file("dir/untracked", "x\n").file("removed", "x\n");
    git(project.path(), ["add", "staged", "removed"]);
    let project = project.file("staged", "3\n");
    fs::remove_file(project.path().join("gone")).unwrap();
    fs::remove_file(project.path().join("removed")).unwrap();
    fs::remove_file(project.path().join("new")).unwrap();
    let house = House::of(project);
    let child = house.place("child").await;
    assert_eq!((child.read("a"), child.read("staged")), ("2\n".to_owned(), "3\n".to_owned()));
    check_in(
        house,
        Isolation::Worktree,
        &expect![[r"
        has .gitignore a dir/untracked kept.log staged
        misses 
        status 
        added `new` (+1 -0)
    "]],
    )
    .await;
}

#[tokio::test]
async fn there_is_no_commit_yet() {
    if !has_git() {
        return;
    }
    let project = Tree::new().file("a", "1\n");
    git(project.path(), ["init", "--quiet"]);
    check(
        project,
        Isolation::Worktree,
        &expect![[r"
        has a
        misses 
        status 
        added `new` (+1 -0)
    "]],
    )
    .await;
    let empty = Tree::new();
    git(empty.path(), ["init", "--quiet"]);
    check(
        empty,
        Isolation::Worktree,
        &expect![[r"
        has 
        misses 
        status 
        added `new` (+1 -0)
    "]],
    )
    .await;
}

#[tokio::test]
async fn there_is_no_repository() {
    let project = Tree::new()
        .file("a/b", "1\n")
        .file(".gitignore", "built\n")
        .file("built", "")
        .file(".hidden", "")
        .link("l", "a");
    check(
        project,
        Isolation::Worktree,
        &expect![[r"
        has .gitignore .hidden a/b l
        misses 
        status 
        added `new` (+1 -0)
    "]],
    )
    .await;
}

#[tokio::test]
async fn a_copy_has_what_repositories_within_have() {
    if !has_git() {
        return;
    }
    let project = Tree::new().file("one/a", "1\n").file("two/b", "1\n").pipe("pipe");
    git(&project.path().join("one"), ["init", "--quiet"]);
    check(
        project,
        Isolation::Copy,
        &expect![[r"
        has one/a two/b
        misses pipe
        status 
        added `new` (+1 -0)
    "]],
    )
    .await;
}

#[tokio::test]
async fn a_bare_repository_is_a_directory_like_others() {
    if !has_git() {
        return;
    }
    let project = Tree::new();
    git(project.path(), ["init", "--quiet", "--bare", "--template="]);
    let house = House::of(project);
    let child = house.place("child").await;
    assert!(child.has("HEAD"));
    assert_eq!(told(&child.changes().await), "");
}

#[tokio::test]
async fn submodules_are_left_out() {
    if !has_git() {
        return;
    }
    let library = committed(Tree::new().file("lib", "1\n"));
    let project = committed(Tree::new().file("a", "1\n"));
    let from = library.path().to_str().unwrap();
    git(project.path(), ["submodule", "--quiet", "add", from, "library"]);
    check(
        project,
        Isolation::Worktree,
        &expect![[r"
        has .gitmodules a
        misses library
        status 
        added `new` (+1 -0)
    "]],
    )
    .await;
}

#[tokio::test]
async fn a_merge_is_in_progress() {
    if !has_git() {
        return;
    }
    let project = committed(Tree::new().file("a", "1\n"));
    git(project.path(), ["checkout", "--quiet", "-b", "other"]);
    let project = project.file("a", "2\n");
    git(project.path(), ["commit", "--quiet", "--all", "-m", "other"]);
    git(project.path(), ["checkout", "--quiet", "main"]);
    let project = project.file("a", "3\n");
    git(project.path(), ["commit", "--quiet", "--all", "-m", "main"]);
    let merge = std::process::Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "merge", "other"])
        .current_dir(project.path())
        .output()
        .unwrap();
    assert!(!merge.status.success(), "they conflict");
    let house = House::of(project);
    let child = house.place("child").await;
    assert!(child.read("a").contains("<<<<<<<"), "{}", child.read("a"));
    check_in(
        house,
        Isolation::Worktree,
        &expect![[r"
        has a
        misses 
        status 
        added `new` (+1 -0)
    "]],
    )
    .await;
}

#[tokio::test]
async fn the_parent_works_in_a_worktree_with_a_detached_head() {
    if !has_git() {
        return;
    }
    let project = committed(Tree::new().file("a", "1\n"));
    let outer = Tree::new();
    let worktree = outer.path().join("worktree");
    git(project.path(), ["worktree", "add", "--quiet", "--detach", worktree.to_str().unwrap()]);
    let workdir = haft_workdir::Workdir::open(&worktree).unwrap();
    let house = House::at(outer, workdir);
    let child = house.place("child").await;
    assert!(git(&child.root, ["log", "--format=%s"]).ends_with("first\n"));
    check_in(
        house,
        Isolation::Worktree,
        &expect![[r"
        has a
        misses 
        status 
        added `new` (+1 -0)
    "]],
    )
    .await;
    assert_eq!(git(project.path(), ["worktree", "list"]).lines().count(), 2, "none is registered");
}

#[tokio::test]
async fn the_parent_works_below_the_top() {
    if !has_git() {
        return;
    }
    let project = Tree::new().file("sub/dir/a", "1\n").file("top", "1\n").file(".gitignore", "built\n");
    let project = committed(project).file("sub/dir/built", "");
    let workdir = haft_workdir::Workdir::open(project.path().join("sub/dir")).unwrap();
    let house = House::at(project, workdir);
    let child = house.place("child").await;
    fs::write(child.root.join("../../top"), "2\n").unwrap();
    expect![[r"
        not ../../top, since it is outside of the working directory
    "]]
    .assert_eq(&told(&child.changes().await));
    fs::write(child.root.join("../../top"), "1\n").unwrap();
    check_in(
        house,
        Isolation::Worktree,
        &expect![[r"
        has a
        misses 
        status 
        added `new` (+1 -0)
    "]],
    )
    .await;
}

#[tokio::test]
async fn nothing_is_taken_from_beside_where_the_parent_works_but_what_was_added() {
    if !has_git() {
        return;
    }
    let project = committed(Tree::new().file("sub/a", "1\n").file("beside", "1\n").file("gone", "1\n"));
    let project = project.file("secret", "hunter2\n").file("beside", "2\n").file("sub/untracked", "x\n");
    fs::remove_file(project.path().join("gone")).unwrap();
    let workdir = haft_workdir::Workdir::open(project.path().join("sub")).unwrap();
    let house = House::at(project, workdir);
    let child = house.place("child").await;
    assert_eq!((child.read("untracked"), child.read("../beside")), ("x\n".to_owned(), "1\n".to_owned()));
    assert!(child.has("../gone") && !child.has("../secret"));
    check_in(
        house,
        Isolation::Worktree,
        &expect![[r"
            has a untracked
            misses 
            status 
            added `new` (+1 -0)
        "]],
    )
    .await;
}

#[tokio::test]
async fn the_parent_works_where_nothing_is() {
    if !has_git() {
        return;
    }
    let project = committed(Tree::new().file("a", "1\n")).directory("empty");
    let workdir = haft_workdir::Workdir::open(project.path().join("empty")).unwrap();
    check_in(
        House::at(project, workdir),
        Isolation::Worktree,
        &expect![[r"
            has 
            misses 
            status 
            added `new` (+1 -0)
        "]],
    )
    .await;
}

#[tokio::test]
async fn what_is_sparse_is_not_there() {
    if !has_git() {
        return;
    }
    let project = committed(Tree::new().file("in/a", "1\n").file("out/b", "1\n"));
    git(project.path(), ["sparse-checkout", "set", "in"]);
    let workdir = haft_workdir::Workdir::open(project.path().join("in")).unwrap();
    let house = House::at(project, workdir);
    let child = house.place("child").await;
    assert!(child.has("a") && !child.has("../out/b"));
}

#[tokio::test]
async fn objects_have_long_names() {
    if !has_git() {
        return;
    }
    let project = Tree::new().file("a", "1\n");
    git(project.path(), ["init", "--quiet", "--object-format=sha256"]);
    git(project.path(), ["add", "a"]);
    git(project.path(), ["commit", "--quiet", "-m", "first"]);
    let library = project.path().join("library");
    fs::create_dir(&library).unwrap();
    git(&library, ["init", "--quiet", "--object-format=sha256"]);
    git(&library, ["commit", "--quiet", "--allow-empty", "-m", "x"]);
    check(
        project,
        Isolation::Worktree,
        &expect![[r"
        has a
        misses library
        status 
        added `new` (+1 -0)
    "]],
    )
    .await;
}

#[tokio::test]
async fn attributes_change_nothing() {
    if !has_git() {
        return;
    }
    let attributes =
        "*.txt text eol=crlf\n*.u working-tree-encoding=UTF-16 text\n*.id ident\n*.ex export-ignore\n";
    let project =
        Tree::new().file(".gitattributes", attributes).file("a.txt", "1\r\n2\n").file("b.id", "$Id$\n");
    let project = committed(project).file("c.u", "x\n").file("d.ex", "x\n").file("b.id", "$Id: x$\n");
    let house = House::of(project);
    let child = house.place("child").await;
    assert_eq!((child.read("a.txt"), child.read("b.id")), ("1\r\n2\n".to_owned(), "$Id: x$\n".to_owned()));
    check_in(
        house,
        Isolation::Worktree,
        &expect![[r"
        has .gitattributes a.txt b.id c.u d.ex
        misses 
        status 
        added `new` (+1 -0)
    "]],
    )
    .await;
}

#[tokio::test]
async fn places_are_kept_inside_of_the_project() {
    if !has_git() {
        return;
    }
    for isolation in [Isolation::Worktree, Isolation::Copy] {
        let project = committed(Tree::new().file("a", "1\n"));
        let state = project.path().join(".state [x]/places");
        let (places, roots) = super::fixture::worktrees(project.workdir(), &state);
        for run in ["one", "two"] {
            let _place = places.place(&scope("lead"), &super::fixture::id(run), isolation).await.unwrap();
            let root = roots.lock().unwrap().last().unwrap().clone();
            assert!(root.starts_with(project.path()) && root.join("a").exists());
            assert!(!root.join(".state [x]/places").exists(), "no place is in a place");
            assert_eq!(git(&root, ["rev-parse", "--show-toplevel"]).trim(), root.to_str().unwrap());
        }
    }
}

#[tokio::test]
async fn a_child_of_a_child_begins_with_what_is_there() {
    if !has_git() {
        return;
    }
    let house = House::of(committed(Tree::new().file("a", "1\n")));
    let child = house.place("child").await;
    child.write("b", "by the child\n").write("a", "2\n");
    let below =
        house.try_place_below(&child.scope("child"), "grandchild", Isolation::Worktree).await.unwrap();
    assert_eq!((below.read("a"), below.read("b")), ("2\n".to_owned(), "by the child\n".to_owned()));
    below.write("c", "by its child\n");
    expect![[r"
        added `c` (+1 -0)
    "]]
    .assert_eq(&told(&below.changes().await));
}

#[tokio::test]
async fn links_that_lead_out_are_not_followed() {
    if !has_git() {
        return;
    }
    let secret = Tree::new().file("secret", "hunter2\n");
    for isolation in [Isolation::Worktree, Isolation::Copy] {
        let project = Tree::new().link("out", secret.path()).link("file", secret.path().join("secret"));
        let house = House::of(committed(project.file("a", "1\n")));
        let child = house.try_place("child", isolation).await.unwrap();
        assert!(fs::symlink_metadata(child.root.join("out")).unwrap().is_symlink());
        for path in ["out/secret", "file"] {
            let reply = call(child.place.tools(), "read_file", json!({ "path": path })).await;
            assert_eq!(reply.status, haft_core::ReplyStatus::Denied, "{}", reply.output.to_text());
        }
        // A directory becomes a link to the outside while the child works.
        fs::create_dir(child.root.join("dir")).unwrap();
        child.write("dir/x", "");
        child.changes().await;
        fs::remove_dir_all(child.root.join("dir")).unwrap();
        symlink(secret.path(), child.root.join("dir")).unwrap();
        let patch = child.changes().await;
        assert!(
            !patch.text.contains("hunter2") && told(&patch).contains("not dir, since it is a symbolic link"),
            "{patch:?}"
        );
    }
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_is_read() {
    if !has_git() {
        return;
    }
    for isolation in [Isolation::Worktree, Isolation::Copy] {
        let check = async |limits: PlaceLimits, what: &str| {
            let project = committed(Tree::new().file("a", "12345\n").file("b", "12345\n"));
            let house = House::of(project.file("c", "12345\n")).limited(limits);
            match house.try_place("child", isolation).await {
                Err(WorkplaceError::TooMuch { what: told, .. }) => assert_eq!(told, what),
                other => panic!("not refused: {:?}", other.err()),
            }
            let places = house.state.path().join("places");
            assert_eq!(fs::read_dir(places).unwrap().count(), 0, "nothing of it is left");
        };
        check(PlaceLimits { files: 2, ..PlaceLimits::default() }, "files").await;
        check(PlaceLimits { bytes: 17, ..PlaceLimits::default() }, "bytes of files").await;
    }
}

#[tokio::test]
async fn there_is_no_git() {
    let empty = Tree::new();
    let environment = haft_process::Environment::minimal().with("PATH", Path::new(empty.path())).unwrap();
    let mut house = House::of(Tree::new());
    house.places = house.places.clone().environment(environment);
    let refused = house.try_place("child", Isolation::Worktree).await.err();
    assert!(matches!(refused, Some(WorkplaceError::NoGit)), "{refused:?}");
}
