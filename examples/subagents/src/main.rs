//! Has a lead delegate: to two readers at once, to one that answers with JSON, and to one that may write, if a person lets it.
//!
//! `cargo run -p subagents`
#![expect(clippy::print_stdout, reason = "an example that speaks on the terminal")]

mod notes;

use haft::agent::{Agent, Budget};
use haft::core::Schema;
use haft::model::{ScriptedModel, Session};
use haft::subagents::{AgentRunner, AgentSpec, Supervisor};
use haft::tools_core::{Approval, CollisionPolicy, approver_fn};
use haft::{AccessMode, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme};
use notes::{NOTE, Notes};
use std::error::Error;
use std::sync::Arc;

const AGENT: Scheme = Scheme::new("agent");

/// What the models say; with a provider, nothing else of this program changes.
const SESSION: &str = include_str!("../session.jsonl");

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let notes = Notes::default();
    for (name, text) in [("rain", "Take an umbrella."), ("sun", "Take a hat.")] {
        notes.lock().map_err(|_| "a writer broke")?.insert(name.to_owned(), text.to_owned());
    }

    // Agents are written in Markdown, or in code.
    let reader = AgentSpec::from_markdown(include_str!("../agents/reader.md"), "agents/reader.md")?;
    let count =
        serde_json::json!({ "properties": { "count": { "type": "integer" } }, "required": ["count"] });
    let counter = AgentSpec::new("counter".parse()?, "Counts things.")
        .tools("report".parse()?)
        .output(Schema::new(count)?);
    let writer = AgentSpec::new("writer".parse()?, "Writes notes.").tools("*_note".parse()?);
    let supervisor = Supervisor::builder().agents([reader, counter, writer]).build();

    // All may be delegated to, and all may read; who writes is asked about, wherever in the tree that comes up.
    let policy = Policy::new()
        .allow(Rule::access(AccessMode::Call, Resource::subtree(AGENT, "")))
        .allow(Rule::access(AccessMode::Read, Resource::subtree(NOTE, "")))
        .allow(Supervisor::looking_after());
    let person = approver_fn(|call| {
        let who = call.agent.as_deref().unwrap_or("the lead");
        println!("  a person is asked: may {who} call {} {}? Yes.", call.call.name, call.call.input);
        Approval::Approve
    });
    let executor =
        LocalExecutor::builder(notes::tools(&notes)?.merge(&supervisor.tools()?, CollisionPolicy::Refuse)?)
            .policy(policy)
            .approver(Arc::new(person))
            .build();

    let session = Session::parse(SESSION, "session.jsonl")?;
    let below = session.clone();
    let runner = AgentRunner::new(ScriptedModel::new(session.clone()), executor.clone())
        .choosing_model(move |child| Some(Arc::new(ScriptedModel::new(below.of_run(&child.path)?))));
    supervisor.drive_with(runner);

    // The lead has no tool for notes: what it may not do itself it has done by those that may.
    let lead = Agent::new(ScriptedModel::new(session), executor.clone())
        .budget(Budget::default().turns(20))
        .made_again(Supervisor::MADE_AGAIN)
        .may_repeat(Supervisor::MAY_REPEAT)
        .news(Arc::new(supervisor.clone()));
    let scope = CallScope::new("walk".parse()?);
    let state = lead.run(scope.clone(), "What do I take for a walk? Write it down.").await;
    supervisor.cancel_below(scope.run()).await?;

    for child in supervisor.children(scope.run()).await? {
        let said = child.result().map(|result| result.text.as_str()).unwrap_or_default();
        println!(
            "{} ({}, {}, {} turns): {said}",
            child.path,
            child.agent,
            child.status.name(),
            child.spent.turns
        );
    }
    println!("lead ({} turns of its own and below): {}", state.spent().turns, state.last_text());
    println!("notes: {:?}", notes.lock().map_err(|_| "a writer broke")?);
    Ok(())
}
