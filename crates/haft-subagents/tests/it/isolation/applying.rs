use super::fixture::id;
use expect_test::{Expect, expect};
use haft_core::ToolCall;
use haft_subagents::{ApplyChanges, FileChange, KeptChanges, LeftOut, Patch, PatchFile, ShowChanges};
use haft_testkit::Tree;
use haft_tool_fs::ApplyPatch;
use haft_tools_core::{
    Approval, Batch, CallOutcome, CallScope, LocalExecutor, PendingCall, Policy, Resumption, Rule,
    ToolExecutor as _, ToolRegistry, approver_fn,
};
use serde_json::json;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// A project, and the changes that the child `lead/editor` made for the run `lead`.
struct Lead {
    project: Tree,
    kept: KeptChanges,
    _state: TempDir,
}

fn patch(text: &str) -> Patch {
    Patch::new(text, vec![PatchFile::new("a", FileChange::Changed), PatchFile::new("b", FileChange::Added)])
}

const CHANGES: &str = "\
diff --git a/a b/a
--- a/a
+++ b/a
@@ -1,2 +1,2 @@
 one
-two
+2
diff --git a/b b/b
new file mode 100644
--- /dev/null
+++ b/b
@@ -0,0 +1 @@
+b
";

impl Lead {
    fn new(project: Tree) -> Self {
        let state = tempfile::tempdir().unwrap();
        let kept = KeptChanges::new(state.path());
        kept.keep(&id("lead"), &id("lead/editor"), &patch(CHANGES)).unwrap();
        Self { project, kept, _state: state }
    }

    fn tools(&self) -> ToolRegistry {
        let apply_patch = ApplyPatch::new(self.project.workdir());
        let tools = ToolRegistry::new().with(ShowChanges::new(self.kept.clone())).unwrap();
        tools.with(ApplyChanges::new(apply_patch, self.kept.clone())).unwrap()
    }

    /// Calls a tool by a run that may do everything.
    async fn call(&self, by: &str, tool: &str, run: &str) -> String {
        let everything = Policy::new().allow(Rule::tools("*".parse().unwrap()));
        let executor = LocalExecutor::builder(self.tools()).policy(everything).build();
        let call = ToolCall::new("c1".parse().unwrap(), tool, json!({ "run": run }));
        let outcome = executor.execute_batch(Batch::new(CallScope::new(id(by)), vec![call])).await;
        let reply = &outcome.into_replies().unwrap()[0];
        format!("{:?}: {}", reply.status, reply.output.to_text())
    }

    async fn check(&self, by: &str, tool: &str, run: &str, expected: &Expect) {
        expected.assert_eq(&self.call(by, tool, run).await);
    }
}

fn project() -> Tree {
    Tree::new().file("a", "one\ntwo\n")
}

#[tokio::test]
async fn changes_are_shown_and_applied_once() {
    let lead = Lead::new(project());
    lead.check(
        "lead",
        "show_changes",
        "lead/editor",
        &expect![[r"
        Ok: changed `a`
        added `b`

        diff --git a/a b/a
        --- a/a
        +++ b/a
        @@ -1,2 +1,2 @@
         one
        -two
        +2
        diff --git a/b b/b
        new file mode 100644
        --- /dev/null
        +++ b/b
        @@ -0,0 +1 @@
        +b"]],
    )
    .await;
    lead.check(
        "lead",
        "apply_changes",
        "lead/editor",
        &expect![[r"
        Ok: applied to 2 files:
        changed `a`, 1 hunk, sha256:b8c083898d90
        added `b`, 1 line, sha256:0263829989b6"]],
    )
    .await;
    assert_eq!((lead.project.read("a"), lead.project.read("b")), ("one\n2\n".into(), "b\n".into()));
    lead.check("lead", "apply_changes", "lead/editor", &expect!["Error(InvalidInput): these changes were applied already, and nothing was done now; go on without this call"]).await;
    assert_eq!(lead.project.read("a"), "one\n2\n");
}

#[tokio::test]
async fn only_children_of_the_run_that_calls_can_be_named() {
    let lead = Lead::new(project());
    lead.check("other", "apply_changes", "lead/editor", &expect!["Error(NotFound): no agent that you delegated to by this run has changes that wait to be applied; take the run from what `delegate` answered"]).await;
    lead.check("lead/editor", "apply_changes", "lead/editor", &expect!["Error(NotFound): no agent that you delegated to by this run has changes that wait to be applied; take the run from what `delegate` answered"]).await;
    for run in ["lead", "../lead/editor", "", "\n", "lead/editor "] {
        for tool in ["apply_changes", "show_changes"] {
            let told = lead.call("lead", tool, run).await;
            assert!(told.contains("those that have: `lead/editor`"), "{run}: {told}");
        }
    }
    assert_eq!(lead.project.list(), ["a"]);
}

#[tokio::test]
async fn what_does_not_fit_is_said_with_its_place_and_nothing_is_applied() {
    let lead = Lead::new(Tree::new().file("a", "one\nchanged\n"));
    lead.check("lead", "apply_changes", "lead/editor", &expect![[r"
        Error(InvalidInput): nothing of the patch was applied, since 1 of 2 files cannot be changed
        a: hunk 1 (line 4 of the patch): its old text does not occur in it; the nearest is lines 1–2 (shown as → tab, · blank, ⍽ other blank, ␍ carriage return):
        1	one
        2	changed
        write the old text as it is there, with blanks for ·, or read the file around it, then call `apply_patch` again"]]).await;
    assert_eq!(
        (lead.project.list(), lead.project.read("a")),
        (vec!["a".to_owned()], "one\nchanged\n".to_owned())
    );
    // Once it fits, it can be applied still.
    let lead = Lead { project: project(), ..lead };
    assert!(lead.call("lead", "apply_changes", "lead/editor").await.starts_with("Ok"));
}

#[tokio::test]
async fn what_is_not_carried_is_said_again() {
    let lead = Lead::new(project());
    let left_out = vec![LeftOut::new("logo.png", "since it is not text")];
    lead.kept.keep(&id("lead"), &id("lead/editor"), &patch(CHANGES).left_out(left_out)).unwrap();
    lead.check(
        "lead",
        "apply_changes",
        "lead/editor",
        &expect![[r"
        Ok: applied to 2 files:
        changed `a`, 1 hunk, sha256:b8c083898d90
        added `b`, 1 line, sha256:0263829989b6
        not in the patch: `logo.png`, since it is not text"]],
    )
    .await;
}

#[tokio::test]
async fn a_person_is_shown_the_diff_and_asked_about_the_files() {
    let lead = Lead::new(project());
    let asked: Arc<Mutex<Vec<PendingCall>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let executor = LocalExecutor::builder(lead.tools())
        .approver(approver_fn(move |pending: &PendingCall| {
            noted.lock().unwrap().push(pending.clone());
            Approval::Deny { reason: "not now".into() }
        }))
        .build();
    let call = ToolCall::new("c1".parse().unwrap(), "apply_changes", json!({ "run": "lead/editor" }));
    let outcome = executor.execute_batch(Batch::new(CallScope::new(id("lead")), vec![call])).await;
    expect![
        "this call was not approved: not now; do not repeat it, find another way or say what you would need"
    ]
    .assert_eq(&outcome.into_replies().unwrap()[0].output.to_text());
    let asked = asked.lock().unwrap().remove(0);
    let accesses: Vec<String> = asked.accesses.iter().map(ToString::to_string).collect();
    expect![[r"
        read file:a
        write file:a
        write file:b
        --- a/a
        +++ b/a
        @@ -1,2 +1,2 @@
         one
        -two
        +2
        --- /dev/null
        +++ b/b
        @@ -0,0 +1 @@
        +b
    "]]
    .assert_eq(&format!("{}\n{}", accesses.join("\n"), asked.preview.as_text()));
    assert_eq!(lead.project.list(), ["a"]);
    assert!(lead.call("lead", "apply_changes", "lead/editor").await.starts_with("Ok"));
}

#[tokio::test]
async fn an_approval_is_one_of_the_very_changes_that_were_shown() {
    for is_replaced in [false, true] {
        let lead = Lead::new(project());
        let executor = LocalExecutor::builder(lead.tools())
            .approver(approver_fn(|_: &PendingCall| Approval::Later))
            .build();
        let call = ToolCall::new("c1".parse().unwrap(), "apply_changes", json!({ "run": "lead/editor" }));
        let scope = CallScope::new(id("lead"));
        let outcome = executor.execute_batch(Batch::new(scope.clone(), vec![call])).await;
        let Some(CallOutcome::Pending(pending)) = outcome.into_outcomes().pop() else { panic!("it waits") };
        if is_replaced {
            lead.kept.keep(&id("lead"), &id("lead/editor"), &patch(&CHANGES.replace("+2", "+3"))).unwrap();
        }
        let resumed = executor.resume(Resumption::new(scope, *pending, Approval::Approve)).await.unwrap();
        let is_done = matches!(resumed, CallOutcome::Replied(_));
        assert_eq!(
            (is_done, lead.project.read("a") == "one\n2\n"),
            (!is_replaced, !is_replaced),
            "{resumed:?}"
        );
    }
}
