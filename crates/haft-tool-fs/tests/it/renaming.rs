//! What files keep that a patch renames.

use crate::fixture::{registry, run, shown};
use expect_test::expect;
use haft_core::RunId;
use haft_testkit::{Tree, call};
use haft_tools_core::ToolRegistry;
use haft_workdir::{ChangeJournal as _, ChangeOrigin, MemoryChanges, RootAccess, UndoPlan};
use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
use serde_json::{Value, json};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;
use std::sync::Arc;

/// Renames `a` to `b`, in the two ways in which a patch says it.
const RENAMED: [&str; 2] = [
    "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch\n",
    "diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n",
];

/// Renames it and changes it, too.
const CHANGED: [&str; 2] = [
    "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-one\n+1\n*** End Patch\n",
    "diff --git a/a b/b\nrename from a\nrename to b\n--- a/a\n+++ b/b\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n",
];

fn patch(tree: &Tree, patch: &str) {
    let reply = run(tree, "apply_patch", json!({ "patch": patch }));
    assert!(reply.status.is_ok(), "{}", shown(&reply));
}

/// What a file has beside its content: its permissions, owner and group, and an extended attribute.
fn kept(path: &Path) -> (u32, u32, u32, Option<Vec<u8>>) {
    let metadata = fs::metadata(path).unwrap();
    let mut value = vec![0; 100];
    let note = fgetxattr(File::open(path).unwrap(), "user.note", value.as_mut_slice()).ok();
    let note = note.map(|size| value[..size].to_vec());
    (metadata.mode() & 0o7777, metadata.uid(), metadata.gid(), note)
}

#[test]
fn a_renamed_file_keeps_what_it_has_beside_its_content() {
    for (text, content) in
        RENAMED.map(|text| (text, "one\ntwo\n")).into_iter().chain(CHANGED.map(|text| (text, "1\ntwo\n")))
    {
        let tree = Tree::new().file("a", "one\ntwo\n");
        let path = tree.path().join("a");
        // Only the superuser may give a file away, and not every file system has extended attributes.
        let _ = chown(&path, Some(1234), Some(2345));
        let _ = fsetxattr(File::open(&path).unwrap(), "user.note", b"kept", XattrFlags::empty());
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let before = kept(&path);
        patch(&tree, text);
        assert_eq!(kept(&tree.path().join("b")), before, "{text}");
        assert_eq!((tree.list(), tree.read("b").as_str()), (vec!["b".to_owned()], content), "{text}");
    }
}

#[test]
fn a_file_that_is_only_renamed_is_the_same_file() {
    for text in RENAMED {
        let tree = Tree::new().bytes("a", b"\x7fELF\0\xff not text\r");
        let before = fs::metadata(tree.path().join("a")).unwrap();
        patch(&tree, text);
        let after = fs::metadata(tree.path().join("b")).unwrap();
        assert_eq!((after.ino(), after.mtime_nsec()), (before.ino(), before.mtime_nsec()), "{text}");
    }
}

#[test]
fn a_file_that_is_too_large_to_be_changed_can_be_renamed() {
    let tree = Tree::new().file("a", "");
    File::options().write(true).open(tree.path().join("a")).unwrap().set_len(100 << 20).unwrap();
    patch(&tree, RENAMED[0]);
    assert_eq!(fs::metadata(tree.path().join("b")).unwrap().len(), 100 << 20);
}

#[test]
fn the_other_names_of_a_renamed_file_stay_its_names() {
    for (text, content) in [(RENAMED[0], "one\ntwo\n"), (CHANGED[0], "1\ntwo\n"), (CHANGED[1], "1\ntwo\n")] {
        let tree = Tree::new().file("a", "one\ntwo\n");
        fs::hard_link(tree.path().join("a"), tree.path().join("other")).unwrap();
        patch(&tree, text);
        let inode = |name: &str| fs::metadata(tree.path().join(name)).unwrap().ino();
        assert_eq!(inode("b"), inode("other"), "{text}");
        assert_eq!((tree.read("other"), tree.read("b")), (content.to_owned(), content.to_owned()), "{text}");
    }
}

#[test]
fn a_renamed_file_becomes_executable_with_what_it_has() {
    let tree = Tree::new().file("a", "one\n");
    fs::hard_link(tree.path().join("a"), tree.path().join("other")).unwrap();
    patch(&tree, "diff --git a/a b/b\nold mode 100644\nnew mode 100755\nrename from a\nrename to b\n");
    let (one, other) = (tree.path().join("b"), tree.path().join("other"));
    assert_eq!(kept(&one).0 & 0o111, 0o111);
    assert_eq!(kept(&one), kept(&other));
}

#[tokio::test]
async fn a_rename_is_undone_with_the_change() {
    for text in [RENAMED[0], CHANGED[0]] {
        let tree = Tree::new().file("a", "one\ntwo\n");
        let path = tree.path().join("a");
        let _ = fsetxattr(File::open(&path).unwrap(), "user.note", b"kept", XattrFlags::empty());
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let before = kept(&path);
        let journal = Arc::new(MemoryChanges::default());
        let workdir = tree.workdir().journalled(Arc::clone(&journal) as _);
        let tools = ToolRegistry::of(haft_tool_fs::tools(&workdir)).unwrap();
        let reply = call(&tools, "apply_patch", json!({ "patch": text })).await;
        assert!(reply.status.is_ok(), "{}", shown(&reply));
        let runs = journal.runs(10).unwrap();
        let run: &RunId = &runs[0].run;
        let plan = UndoPlan::new(&workdir, &journal.sets(run).unwrap()).unwrap();
        plan.apply(&workdir, ChangeOrigin::new("undo".parse().unwrap(), "c".parse().unwrap())).unwrap();
        assert_eq!((tree.list(), tree.read("a").as_str()), (vec!["a".to_owned()], "one\ntwo\n"), "{text}");
        assert_eq!(kept(&path), before, "{text}");
    }
}

/// Tries a patch whose last file cannot be changed once the others were.
#[tokio::test]
async fn a_rename_is_taken_back_if_a_later_file_cannot_be_changed() {
    let tree = Tree::new().file("a", "one\ntwo\n").file("file", "");
    let path = tree.path().join("a");
    let before = (kept(&path), fs::metadata(&path).unwrap().ino());
    let tools = registry(&tree);
    let broken: Value = json!({
        "patch": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** Add File: file/below\n+x\n*** End Patch\n"
    });
    let reply = call(&tools, "apply_patch", broken).await;
    assert!(!reply.status.is_ok(), "{}", shown(&reply));
    assert_eq!((kept(&path), fs::metadata(&path).unwrap().ino()), before);
    assert_eq!((tree.list(), tree.read("a").as_str()), (vec!["a".into(), "file".into()], "one\ntwo\n"));
}

#[test]
fn a_rename_to_another_file_system_is_refused() {
    let elsewhere = Path::new("/dev/shm");
    let is_other = |path: &Path| {
        fs::metadata(path).is_ok_and(|other| fs::metadata(std::env::temp_dir()).unwrap().dev() != other.dev())
    };
    if !is_other(elsewhere) {
        return;
    }
    let Ok(other) = tempfile::tempdir_in(elsewhere) else { return };
    let tree = Tree::new().file("a", "one\ntwo\n");
    let workdir = tree.workdir().with_root(other.path(), RootAccess::ReadWrite).unwrap();
    let tools = ToolRegistry::of(haft_tool_fs::tools(&workdir)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let there = other.path().join("b");
    let text = RENAMED[0].replace("Move to: b", &format!("Move to: {}", there.display()));
    let reply = runtime.block_on(call(&tools, "apply_patch", json!({ "patch": text })));
    let told = shown(&reply).replace(&*other.path().to_string_lossy(), "{other}");
    expect![[r"
        error: failed
        `{other}/b` lies on another file system, so that nothing can be renamed to it; add it as a new file and remove the old one
    "]].assert_eq(&told);
    assert_eq!((tree.list(), tree.read("a").as_str()), (vec!["a".to_owned()], "one\ntwo\n"));
}
