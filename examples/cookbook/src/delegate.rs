//! Delegate to a sub-agent that only reads and may spend little
//!
//! An agent is a name, a text, a choice of tools, a mode and a budget. The lead gets the tool `delegate`; the run below can never do more
//! than the policy lets the whole chain do, and what it spends is taken from the budget of the run above. The models here play a script;
//! with a provider nothing else changes.

use crate::Done;
use haft::agent::{Agent, Budget};
use haft::model::{ScriptedModel, Session};
use haft::subagents::{AgentRunner, AgentSpec, Supervisor};
use haft::tools_core::{CollisionPolicy, Mode};
use haft::{AccessMode, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme, Workdir};
use std::sync::Arc;

/// What the models say: the lead, and below its call `c1` the explorer.
const SESSION: &str = r#"
{"calls": [{"id": "c1", "name": "delegate", "input": {"tasks": [{"agent": "explorer", "task": "What do the notes say?"}]}}]}
{"run": "c1/0", "calls": [{"id": "r1", "name": "read_file", "input": {"path": "notes.md"}}, {"id": "r2", "name": "write_file", "input": {"path": "notes.md", "content": ""}}]}
{"run": "c1/0", "text": "Sow and reap. I was not let write.", "after": {"r1": "ok"}}
{"text": "They say to sow and to reap.", "after": {"c1": "ok"}}
"#;

pub(crate) async fn run() -> Done {
    let project = tempfile::tempdir()?;
    std::fs::write(project.path().join("notes.md"), "sow, reap\n")?;
    let workdir = Workdir::open(project.path())?;
    let session = Session::parse(SESSION, "notes.jsonl")?;
    let below = session.of_run("c1/0").ok_or("the session has no run below")?;

    let explorer = AgentSpec::new("explorer".parse()?, "Finds things out, and changes nothing.")
        .tools("read_file grep glob list_files".parse()?)
        .mode(Mode::Plan)
        .budget(Budget::default().turns(4).calls(10));
    let supervisor = Supervisor::builder().agent(explorer).build();
    let tools = haft::default_tools(&workdir)?.merge(&supervisor.tools()?, CollisionPolicy::Refuse)?;
    let everything = |mode| Rule::access(mode, Resource::subtree(haft::FILE, ""));
    let policy = Policy::new()
        .allow(everything(AccessMode::Read))
        .allow(everything(AccessMode::Write))
        .allow(Rule::access(AccessMode::Call, Resource::exact(Scheme::new("agent"), "explorer")))
        .allow(Supervisor::looking_after());
    let executor = LocalExecutor::builder(tools).policy(policy).build();
    supervisor.drive_with(AgentRunner::new(ScriptedModel::new(below), executor.clone()));

    let lead = Agent::new(ScriptedModel::new(session), executor)
        .made_again(Supervisor::MADE_AGAIN)
        .may_repeat(Supervisor::MAY_REPEAT)
        .news(Arc::new(supervisor.clone()));
    let scope = CallScope::new("run-1".parse()?);
    let state = lead.run(scope.clone(), "What do the notes say?").await;
    for child in supervisor.children(scope.run()).await? {
        let said = child.result().map(|result| result.text.as_str()).unwrap_or_default();
        println!("{} ({} turns, {} calls): {said}", child.agent, child.spent.turns, child.spent.calls);
    }
    println!("lead: {}", state.last_text());
    Ok(())
}
