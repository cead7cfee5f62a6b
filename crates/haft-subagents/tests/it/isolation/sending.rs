//! A child with a place of its own that is asked for more when it has ended.

use super::fixture::{House, committed, has_git, id, scope};
use async_trait::async_trait;
use expect_test::{Expect, expect};
use haft_core::ToolCall;
use haft_subagents::{
    AgentSpec, ApplyChanges, ChildOutcome, ChildResult, ChildRun, Isolation, KeptChanges, Placed, Runner,
    Supervisor,
};
use haft_testkit::Tree;
use haft_tool_fs::ApplyPatch;
use haft_tools_core::{Batch, CollisionPolicy, LocalExecutor, Policy, Rule, ToolExecutor as _, ToolRegistry};
use serde_json::{Value, json};
use std::fs;

/// Writes a file for each thing that it is told, called so.
struct Writer;

#[async_trait]
impl Runner for Writer {
    async fn run(&self, child: ChildRun) -> ChildOutcome {
        let root = Placed::of(&child.scope).and_then(|place| place.path()).unwrap();
        for name in child.said.last().into_iter().chain((child.said.is_empty()).then_some(&child.task)) {
            fs::write(root.join(name), "x\n").unwrap();
        }
        ChildOutcome::Ended(ChildResult::done("Written."))
    }

    fn keeps_all(&self) -> bool {
        true
    }
}

/// The run that delegates.
struct Lead {
    house: House,
    kept: KeptChanges,
    supervisor: Supervisor,
    executor: LocalExecutor,
}

impl Lead {
    fn new(project: Tree) -> Self {
        let house = House::of(committed(project));
        let kept = KeptChanges::new(house.state.path().join("changes"));
        let mut agent = AgentSpec::new("editor".parse().unwrap(), "Writes files.");
        agent.isolation = Isolation::Worktree;
        let supervisor =
            Supervisor::builder().agent(agent).workplaces(house.places.clone(), kept.clone()).build();
        let apply = ApplyChanges::new(ApplyPatch::new(house.project.workdir()), kept.clone());
        let tools = ToolRegistry::new().with(apply).unwrap();
        let tools = tools.merge(&supervisor.tools().unwrap(), CollisionPolicy::Refuse).unwrap();
        let everything = Policy::new().allow(Rule::tools("*".parse().unwrap()));
        let executor = LocalExecutor::builder(tools).policy(everything).build();
        assert!(supervisor.drive_with(Writer));
        Self { house, kept, supervisor, executor }
    }

    async fn call(&self, tool: &str, input: Value) -> (String, Value) {
        let call = ToolCall::new("c1".parse().unwrap(), tool, input);
        let outcome = self.executor.execute_batch(Batch::new(scope("lead"), vec![call])).await;
        let reply = outcome.into_replies().unwrap().remove(0);
        (reply.output.to_text(), reply.output.structured.unwrap_or_default())
    }

    /// Delegates a task, and gives the name of the run.
    async fn delegate(&self, task: &str) -> String {
        let tasks = json!([{ "agent": "editor", "task": task }]);
        let (text, told) = self.call("delegate", json!({ "tasks": tasks })).await;
        told["agents"][0]["run"].as_str().unwrap_or_else(|| panic!("{text}")).to_owned()
    }

    /// Says more to a run that has ended, and what is told of it when it has ended again.
    async fn send(&self, run: &str, message: &str, expected: &Expect) {
        self.call("send_agent", json!({ "agent": run, "message": message })).await;
        self.supervisor.idle(&id("lead")).await.unwrap();
        let tree = self.supervisor.children(&id("lead")).await.unwrap();
        let result = tree[0].result().unwrap();
        expected.assert_eq(&format!("{:?}: {}", result.end, result.text.replace(run, "RUN")));
    }
}

#[tokio::test]
async fn what_it_has_done_before_is_in_its_next_changes() {
    if !has_git() {
        return;
    }
    let lead = Lead::new(Tree::new().file("a", "1\n"));
    let run = lead.delegate("one").await;
    lead.send(
        &run,
        "two",
        &expect![[r#"
            Done: Written.

            it changed 2 files (+2 -0) in a place of its own, not yet here:
            added `one` (+1 -0)
            added `two` (+1 -0)
            look at them with `show_changes`, then apply them with `apply_changes`, both with run "RUN""#]],
    )
    .await;
    lead.call("apply_changes", json!({ "run": run })).await;
    assert_eq!(lead.house.project.read("one") + &lead.house.project.read("two"), "x\nx\n");
    // What was applied is no change any more.
    lead.send(
        &run,
        "three",
        &expect![[r#"
            Done: Written.

            it changed 1 file (+1 -0) in a place of its own, not yet here:
            added `three` (+1 -0)
            look at them with `show_changes`, then apply them with `apply_changes`, both with run "RUN""#]],
    )
    .await;
}

#[tokio::test]
async fn what_it_has_done_before_and_does_not_fit_any_more_stays_kept() {
    if !has_git() {
        return;
    }
    let lead = Lead::new(Tree::new().file("a", "1\n"));
    let run = lead.delegate("one").await;
    fs::write(lead.house.project.path().join("one"), "by another\n").unwrap();
    lead.send(
        &run,
        "two",
        &expect![[r#"
            Failed { reason: "what the agent changed before was not applied, and does not fit what is here by now; look at it with `show_changes`, make those changes yourself, and delegate the rest anew" }: "#]],
    )
    .await;
    assert_eq!(lead.kept.waiting(&id("lead")).unwrap(), [id(&run)]);
}
