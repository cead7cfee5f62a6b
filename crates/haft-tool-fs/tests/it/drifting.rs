//! What other programs write to a file while a call is at work on it, after it was read and before it is changed.

use crate::fixture::shown;
use expect_test::{Expect, expect};
use haft_core::RunId;
use haft_testkit::{Tree, call};
use haft_tools_core::ToolRegistry;
use haft_workdir::{
    ChangeJournal, ChangeJournalError, ChangeLimits, ChangeSet, ChangeSetId, ChangeStep, ChangedRun,
    ContentDigest, MemoryChanges, RecoveryLock, SetEnd, SetStart, Workdir,
};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// When another program writes: a call has read everything by then, and has changed nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum When {
    /// When a set of changes is begun.
    Begun,
    /// When the step is recorded that changes the file, right before it is made.
    Recorded,
}

/// Is a journal beside which another program writes to files, each time to the next.
struct Beside {
    kept: MemoryChanges,
    when: When,
    writes: Mutex<VecDeque<(PathBuf, String)>>,
}

impl Beside {
    /// Writes to the next file, if that is to be done now.
    fn write(&self, is_now: impl FnOnce(&Path) -> bool) {
        let next = self.writes.lock().unwrap().pop_front_if(|(path, _)| is_now(path));
        if let Some((path, content)) = next {
            fs::write(path, content).unwrap();
        }
    }
}

impl fmt::Debug for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beside").finish_non_exhaustive()
    }
}

impl ChangeJournal for Beside {
    fn limits(&self) -> ChangeLimits {
        self.kept.limits()
    }

    fn begin(&self, start: &SetStart<'_>) -> Result<ChangeSetId, ChangeJournalError> {
        self.write(|_| self.when == When::Begun);
        self.kept.begin(start)
    }

    fn record(
        &self,
        set: ChangeSetId,
        step: &ChangeStep,
        contents: &[(ContentDigest, &[&[u8]])],
    ) -> Result<(), ChangeJournalError> {
        let is_of = |changed: &Path| match step {
            ChangeStep::Set { path, .. } | ChangeStep::Move { from: path, .. } => changed.ends_with(path),
            _ => false,
        };
        self.write(|path| self.when == When::Recorded && is_of(path));
        self.kept.record(set, step, contents)
    }

    fn retract(&self, set: ChangeSetId) -> Result<(), ChangeJournalError> {
        self.kept.retract(set)
    }

    fn end(&self, set: ChangeSetId, end: SetEnd) -> Result<Vec<String>, ChangeJournalError> {
        self.kept.end(set, end)
    }

    fn unfinished(&self, root: &Path) -> Result<Vec<ChangeSet>, ChangeJournalError> {
        self.kept.unfinished(root)
    }

    fn lock_recovery(&self) -> Result<RecoveryLock, ChangeJournalError> {
        self.kept.lock_recovery()
    }

    fn sets(&self, run: &RunId) -> Result<Vec<ChangeSet>, ChangeJournalError> {
        self.kept.sets(run)
    }

    fn runs(&self, most: usize) -> Result<Vec<ChangedRun>, ChangeJournalError> {
        self.kept.runs(most)
    }

    fn keeps(&self, digest: ContentDigest) -> Result<bool, ChangeJournalError> {
        self.kept.keeps(digest)
    }

    fn content(&self, digest: ContentDigest) -> Result<Option<Vec<u8>>, ChangeJournalError> {
        self.kept.content(digest)
    }
}

/// Runs a call during which another program writes; whenever it does, the reply and what is there then are the same.
fn check(
    files: &[(&str, &str)],
    tool: &str,
    input: &Value,
    writes: &[(&str, &str)],
    expected: &Expect,
    after: &[(&str, &str)],
) {
    let replies = [When::Begun, When::Recorded].map(|when| {
        let tree = files.iter().fold(Tree::new(), |tree, (path, content)| tree.file(path, content));
        let writes = writes.iter().map(|(path, content)| (tree.path().join(path), (*content).to_owned()));
        let writes = Mutex::new(writes.collect());
        let journal = Arc::new(Beside { kept: MemoryChanges::default(), when, writes });
        let workdir = Workdir::open(tree.path()).unwrap().journalled(Arc::clone(&journal) as _);
        let tools = ToolRegistry::of(haft_tool_fs::tools(&workdir)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let reply = runtime.block_on(call(&tools, tool, input.clone()));
        assert_eq!(journal.writes.lock().unwrap().len(), 0, "{when:?}: not all was written");
        let there: Vec<_> = tree.list().into_iter().filter(|path| !path.ends_with('/')).collect();
        let there: Vec<_> = there.iter().map(|path| (path.as_str(), tree.read(path))).collect();
        let after: Vec<_> = after.iter().map(|(path, content)| (*path, (*content).to_owned())).collect();
        assert_eq!(there, after, "{when:?}");
        shown(&reply)
    });
    assert_eq!(replies[0], replies[1]);
    expected.assert_eq(&replies[0]);
}

fn edit() -> Value {
    json!({ "path": "a", "edits": [{ "old": "two", "new": "2" }] })
}

#[test]
fn edits_are_looked_up_in_what_a_file_has_become() {
    check(
        &[("a", "one\ntwo\n")],
        "edit_file",
        &edit(),
        &[("a", "zero\none\ntwo\n")],
        &expect![[r"
            ok
            edited `a`: 1 replacement, sha256:f76073b88a74
            @@ -1,3 +1,3 @@
             zero
             one
            -two
            +2
            [something else wrote to the file during this call; the edits were looked up in what it is now]
        "]],
        &[("a", "zero\none\n2\n")],
    );
}

#[test]
fn edits_of_what_a_file_has_lost_are_refused() {
    check(
        &[("a", "one\ntwo\n")],
        "edit_file",
        &edit(),
        &[("a", "one\nthree\n")],
        &expect![[r"
            error: invalid input
            `a` was not changed: `old` does not occur in it, nor anything like it; read the file, then copy the old text from it
        "]],
        &[("a", "one\nthree\n")],
    );
}

#[test]
fn edits_of_a_file_that_changes_again_are_refused() {
    check(
        &[("a", "one\ntwo\n")],
        "edit_file",
        &edit(),
        &[("a", "1\ntwo\n"), ("a", "I\ntwo\n")],
        &expect![[r"
            error: failed
            `a` was not changed: something else wrote to it during this call; read it again, then repeat the edit
        "]],
        &[("a", "I\ntwo\n")],
    );
}

#[test]
fn a_file_that_changes_while_it_is_written_over_is_not() {
    check(
        &[("a", "one\n")],
        "write_file",
        &json!({ "path": "a", "content": "mine\n" }),
        &[("a", "theirs\n")],
        &expect![[r"
            error: failed
            `a` was not changed: something else wrote to it during this call; read it again, then repeat the edit
        "]],
        &[("a", "theirs\n")],
    );
}

#[test]
fn a_file_that_comes_to_be_while_it_is_made_is_not_written_over() {
    for create_only in [false, true] {
        check(
            &[],
            "write_file",
            &json!({ "path": "a", "content": "mine\n", "create_only": create_only }),
            &[("a", "theirs\n")],
            &expect![[r"
                error: failed
                `a` was not changed: something else wrote to it during this call; read it again, then repeat the edit
            "]],
            &[("a", "theirs\n")],
        );
    }
}

/// Changes `a` and `b`, makes `c`, removes `d` and renames `e`.
fn patch() -> Value {
    json!({ "patch": "\
*** Begin Patch
*** Update File: a
@@
-one
+1
*** Update File: b
@@
-two
+2
*** Add File: c
+3
*** Delete File: d
*** Update File: e
*** Move to: f
@@
-five
+5
*** End Patch
" })
}

const PATCHED: [(&str, &str); 4] = [("a", "one\n"), ("b", "two\n"), ("d", "four\n"), ("e", "five\n")];

#[test]
fn hunks_are_looked_up_in_what_files_have_become() {
    check(
        &PATCHED,
        "apply_patch",
        &patch(),
        &[("b", "zero\ntwo\n")],
        &expect![[r"
            ok
            applied to 5 files:
            changed `a`, 1 hunk, sha256:4355a46b19d3
            changed `b`, 1 hunk, sha256:a29b2a263151
            added `c`, 1 line, sha256:1121cfccd591
            removed `d`
            renamed `e` to `f`, 1 hunk, sha256:f0b5c2c2211c
            [something else wrote to files of the patch during this call; the hunks were looked up in what they are now]
        "]],
        &[("a", "1\n"), ("b", "zero\n2\n"), ("c", "3\n"), ("f", "5\n")],
    );
}

#[test]
fn hunks_of_what_a_file_has_lost_are_refused() {
    for (path, content, expected) in [
        (
            "a",
            "I\n",
            &expect![[r"
            error: invalid input
            nothing of the patch was applied, since 1 of 5 files cannot be changed
            a: hunk 1 (line 3 of the patch): its old text does not occur in it, nor anything like it; read the file, then copy the old text from it
        "]],
        ),
        (
            "b",
            "II\n",
            &expect![[r"
            error: invalid input
            nothing of the patch was applied, since 1 of 5 files cannot be changed
            b: hunk 1 (line 7 of the patch): its old text does not occur in it, nor anything like it; read the file, then copy the old text from it
        "]],
        ),
        (
            "e",
            "V\n",
            &expect![[r"
            error: invalid input
            nothing of the patch was applied, since 1 of 5 files cannot be changed
            e: hunk 1 (line 15 of the patch): its old text does not occur in it, nor anything like it; read the file, then copy the old text from it
        "]],
        ),
    ] {
        check(&PATCHED, "apply_patch", &patch(), &[(path, content)], expected, &drifted(path, content));
    }
}

#[test]
fn a_patch_of_files_that_change_again_is_refused() {
    check(
        &PATCHED,
        "apply_patch",
        &patch(),
        &[("b", "II\ntwo\n"), ("a", "one\nI\n")],
        &expect![[r"
            error: failed
            `a` was not changed: something else wrote to it during this call; read it again, then repeat the edit
        "]],
        &[("a", "one\nI\n"), ("b", "II\ntwo\n"), PATCHED[2], PATCHED[3]],
    );
}

#[test]
fn a_file_that_comes_to_be_while_a_patch_makes_it_is_kept() {
    let after = [PATCHED[0], PATCHED[1], ("c", "theirs\n"), PATCHED[2], PATCHED[3]];
    check(
        &PATCHED,
        "apply_patch",
        &patch(),
        &[("c", "theirs\n")],
        &expect![[r"
        error: invalid input
        nothing of the patch was applied, since 1 of 5 files cannot be changed
        `c` already exists as a file; change it with a hunk, or choose another path
    "]],
        &after,
    );
}

#[test]
fn a_file_that_changes_while_a_patch_removes_it_is_kept() {
    let after = drifted("d", "theirs\n");
    check(
        &PATCHED,
        "apply_patch",
        &patch(),
        &[("d", "theirs\n")],
        &expect![[r"
        error: failed
        `d` was not changed: something else wrote to it during this call; read it again, then repeat the edit
    "]],
        &after,
    );
}

#[test]
fn a_file_that_changes_while_a_patch_renames_it_takes_that_along() {
    check(
        &PATCHED,
        "apply_patch",
        &patch(),
        &[("e", "zero\nfive\n")],
        &expect![[r"
            ok
            applied to 5 files:
            changed `a`, 1 hunk, sha256:4355a46b19d3
            changed `b`, 1 hunk, sha256:53c234e5e847
            added `c`, 1 line, sha256:1121cfccd591
            removed `d`
            renamed `e` to `f`, 1 hunk, sha256:57350462bd00
            [something else wrote to files of the patch during this call; the hunks were looked up in what they are now]
        "]],
        &[("a", "1\n"), ("b", "2\n"), ("c", "3\n"), ("f", "zero\n5\n")],
    );
}

/// What is there if a patch was refused that another program came in between of.
fn drifted(path: &str, content: &'static str) -> [(&'static str, &'static str); 4] {
    PATCHED.map(|(name, old)| (name, if name == path { content } else { old }))
}
