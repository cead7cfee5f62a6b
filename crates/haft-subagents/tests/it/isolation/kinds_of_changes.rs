use super::fixture::{Child, House, committed, has_git, told};
use expect_test::{Expect, expect};
use haft_subagents::{Isolation, PlaceLimits, WorkplaceError};
use haft_testkit::{Tree, call};
use haft_tools_core::ToolRegistry;
use serde_json::json;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

fn project() -> Tree {
    let lines: String =
        (1..=20).flat_map(|line| ["line ".to_owned(), line.to_string(), "\n".to_owned()]).collect();
    Tree::new()
        .file("long", &lines)
        .file("a", "one\ntwo\n")
        .file("open", "one\ntwo")
        .file("dos", "one\r\ntwo\r\n")
        .executable("run.sh", "echo run\n")
        .bytes("picture", b"\0\x01\x02")
        .bytes("latin", b"caf\xe9\n")
}

/// Changes something in a place, in a working tree and in a copy, says what the patch is, and that applying it to the project
/// makes of it what the child has, as far as it is carried.
async fn check(change: impl Fn(&Child), expected: &Expect) {
    if !has_git() {
        return;
    }
    let mut before = None;
    for isolation in [Isolation::Worktree, Isolation::Copy] {
        let house = House::of(committed(project()));
        let child = house.try_place("child", isolation).await.expect("the place is made");
        change(&child);
        let patch = child.changes().await;
        assert_eq!(child.changes().await, patch, "telling changes changes nothing");
        let told = told(&patch);
        match &before {
            None => expected.assert_eq(&told),
            Some(before) => assert_eq!(before, &told, "{isolation:?}"),
        }
        before = Some(told);
        if patch.text.is_empty() {
            continue;
        }
        let tools = ToolRegistry::of(haft_tool_fs::tools(&house.project.workdir())).unwrap();
        let reply = call(&tools, "apply_patch", json!({ "patch": patch.text })).await;
        assert_eq!(reply.status, haft_core::ReplyStatus::Ok, "{}\n{}", reply.output.to_text(), patch.text);
        for file in &patch.files {
            let ours = fs::read(house.project.path().join(&file.path)).ok();
            let theirs = fs::read(child.root.join(&file.path)).ok();
            assert_eq!(ours, theirs, "{}", file.path);
        }
    }
}

#[tokio::test]
async fn files_are_changed_added_removed_and_renamed() {
    check(
        |child| {
            child.write("a", "one\n2\n").write("new/dir/b", "b\n").write("empty", "").remove("run.sh");
            child.rename("long", "longer");
        },
        &expect![[r"
            changed `a` (+1 -1)
            added `empty`
            renamed `long` to `longer`
            added `new/dir/b` (+1 -0)
            removed `run.sh` (+0 -1)
        "]],
    )
    .await;
}

#[tokio::test]
async fn nothing_is_changed() {
    check(|_| {}, &expect![""]).await;
}

#[tokio::test]
async fn a_renamed_file_is_changed_too() {
    check(
        |child| {
            let text = child.read("long").replace("line 7\n", "line seven\n");
            child.rename("long", "moved").write("moved", text);
        },
        &expect![[r"
            renamed `long` to `moved` (+1 -1)
        "]],
    )
    .await;
}

#[tokio::test]
async fn modes_are_changed() {
    check(
        |child| {
            let mode = |path: &str, mode| {
                fs::set_permissions(child.root.join(path), Permissions::from_mode(mode)).unwrap();
            };
            mode("a", 0o755);
            mode("run.sh", 0o644);
            child.write("new.sh", "echo\n");
            mode("new.sh", 0o755);
        },
        &expect![[r"
            changed `a`, executable
            added `new.sh` (+1 -0), executable
            changed `run.sh`, no longer executable
        "]],
    )
    .await;
}

#[tokio::test]
async fn final_newlines_come_and_go() {
    check(
        |child| {
            child.write("open", "one\ntwo\n").write("a", "one\ntwo").write("new", "one");
        },
        &expect![[r"
            changed `a` (+1 -1)
            added `new` (+1 -0)
            changed `open` (+1 -1)
        "]],
    )
    .await;
}

#[tokio::test]
async fn line_ends_stay_or_the_change_is_not_carried() {
    check(
        |child| {
            child.write("dos", "one\r\n2\r\n").write("a", "one\r\ntwo\r\n").write("new", "one\r\n");
        },
        &expect![[r"
            changed `dos` (+1 -1)
            not a, since a patch cannot say exactly this, as with line ends and odd names
            not new, since a patch cannot say exactly this, as with line ends and odd names
        "]],
    )
    .await;
}

#[tokio::test]
async fn what_is_no_text_is_told_and_not_carried() {
    check(
        |child| {
            child
                .write("picture", b"\0\x01")
                .write("other", b"\0")
                .write("latin", b"th\xe9\n")
                .write("a", "1\n");
        },
        &expect![[r"
            changed `a` (+1 -2)
            not latin, since it is not text
            not other, since it is not text
            not picture, since it is not text
        "]],
    )
    .await;
}

#[tokio::test]
async fn links_are_told_and_not_carried() {
    check(
        |child| {
            symlink("/etc/passwd", child.root.join("out")).unwrap();
            child.remove("a");
            symlink("open", child.root.join("a")).unwrap();
            child.write("long", "short\n");
        },
        &expect![[r"
            changed `long` (+1 -20)
            not a, since it is a symbolic link
            not out, since it is a symbolic link
        "]],
    )
    .await;
}

#[tokio::test]
async fn names_are_taken_as_they_are() {
    check(
        |child| {
            for name in [
                "-n",
                "--help",
                "a\nb",
                "say \"hi\"",
                "back\\slash",
                "tab\there",
                ":(top)x",
                "*",
                "grün",
                "a b",
                "#x",
            ] {
                child.write(name, "x\n");
            }
            child.write("a\rb", "").write("dir with \"\n/x", "");
            fs::write(child.root.join(OsStr::from_bytes(b"\xff")), "").unwrap();
            child.rename("long", "lo\nng");
        },
        &expect![[r#"
            added `#x` (+1 -0)
            added `*` (+1 -0)
            added `--help` (+1 -0)
            added `-n` (+1 -0)
            added `:(top)x` (+1 -0)
            added `a\nb` (+1 -0)
            added `a b` (+1 -0)
            added `back\slash` (+1 -0)
            added `grün` (+1 -0)
            added `say "hi"` (+1 -0)
            added `tab\there` (+1 -0)
            not �, since its name is not UTF-8
            not a\rb, since a patch cannot say exactly this, as with line ends and odd names
            not dir with "\n/x, since a patch cannot say exactly this, as with line ends and odd names
            not lo\nng, since a patch cannot say exactly this, as with line ends and odd names
        "#]],
    )
    .await;
}

#[tokio::test]
async fn names_that_a_patch_cannot_say_are_told() {
    check(
        |child| {
            child.write("blank ", "x\n").write(" blank", "x\n").write("ok", "x\n");
        },
        &expect![[r"
            added ` blank` (+1 -0)
            added `ok` (+1 -0)
            not blank , since a patch cannot say exactly this, as with line ends and odd names
        "]],
    )
    .await;
}

#[tokio::test]
async fn a_file_becomes_a_directory() {
    check(
        |child| {
            child.remove("a").write("a/b", "b\n").write("open", "1\n");
        },
        &expect![[r"
            removed `a` (+0 -2)
            changed `open` (+1 -2)
            not a/b, since the changes cannot be made in one step
        "]],
    )
    .await;
}

#[tokio::test]
async fn of_many_changes_those_that_do_not_fit_are_left_out_alone() {
    if !has_git() {
        return;
    }
    let house = House::of(committed(project()));
    let child = house.place("child").await;
    for file in 0..100 {
        child.write(&format!("many/{file:03}"), "x\n");
    }
    child.remove("a").write("a/b", "b\n").write("dos", "one\n2\r\n");
    let patch = child.changes().await;
    assert_eq!(patch.files.len(), 101);
    let left_out: Vec<&str> = patch.left_out.iter().map(|out| out.path.as_str()).collect();
    assert_eq!(left_out, ["a/b", "dos"]);
}

#[tokio::test]
async fn files_that_are_too_large_together_are_left_out() {
    if !has_git() {
        return;
    }
    let names = ["1", "2", "3", "4", "5"];
    let large = "line\n".repeat(500);
    let project = names.into_iter().fold(Tree::new(), |tree, name| tree.file(name, &large));
    let limits = PlaceLimits { patch_bytes: 1_000, ..PlaceLimits::default() };
    let house = House::of(committed(project)).limited(limits);
    let child = house.place("child").await;
    for name in names {
        child.write(name, format!("{large}and one\n"));
    }
    // Each has 2,500 bytes before and 2,508 afterwards; those of 16 patches are looked at.
    expect![[r"
        changed `1` (+1 -0)
        changed `2` (+1 -0)
        changed `3` (+1 -0)
        not 4, since the files that were changed are too large together
        not 5, since the files that were changed are too large together
    "]]
    .assert_eq(&told(&child.changes().await));
}

#[tokio::test]
async fn a_repository_within_is_told() {
    check(
        |child| {
            let within = child.root.join("within");
            fs::create_dir(&within).unwrap();
            super::fixture::git(&within, ["init", "--quiet"]);
            fs::write(within.join("x"), "").unwrap();
            super::fixture::git(&within, ["add", "x"]);
            super::fixture::git(&within, ["commit", "--quiet", "-m", "x"]);
            child.write("a", "1\n");
        },
        &expect![[r"
            changed `a` (+1 -2)
            not within, since it is a git repository of its own
        "]],
    )
    .await;
}

#[tokio::test]
async fn what_the_child_ignores_or_commits_is_its_own_matter() {
    check(
        |child| {
            child.write(".haft-trash/run/open", "").write(".haft-00000000000000ff.tmp", "");
            child.write(".gitignore", "built\n").write("built", "").write("a", "1\n");
            super::fixture::git(&child.root, ["commit", "--quiet", "--all", "--message", "mine"]);
            super::fixture::git(&child.root, ["checkout", "--quiet", "-b", "mine"]);
        },
        &expect![[r"
            added `.gitignore` (+1 -0)
            changed `a` (+1 -2)
        "]],
    )
    .await;
}

#[tokio::test]
async fn what_is_too_much_is_refused_or_left_out() {
    if !has_git() {
        return;
    }
    let limits = PlaceLimits { files: 12, bytes: 4000, patch_bytes: 2000, text_bytes: 500, places: 3 };
    let house = House::of(committed(project())).limited(limits);
    let child = house.place("child").await;
    child.write("large", "x\n".repeat(300));
    expect![[r"
        not large, since it is not text
    "]]
    .assert_eq(&told(&child.changes().await));
    for part in 0..4 {
        child.write(&format!("part{part}"), "x\n".repeat(240));
    }
    let refused = child.place.changes().await;
    assert!(matches!(refused, Err(WorkplaceError::TooMuch { what: "bytes of a patch", .. })), "{refused:?}");
    child.write("large", "x\n".repeat(3000));
    let refused = child.place.changes().await;
    assert!(matches!(refused, Err(WorkplaceError::TooMuch { what: "bytes of files", .. })), "{refused:?}");
    child.write("large", "");
    for part in 0..9 {
        child.write(&format!("part{part}"), "");
    }
    let refused = child.place.changes().await;
    assert!(matches!(refused, Err(WorkplaceError::TooMuch { what: "files", .. })), "{refused:?}");
}
