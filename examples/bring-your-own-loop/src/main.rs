//! Has agents driven by a loop of the host's own: the supervisor bounds what runs do, whoever drives them.
//!
//! `cargo run -p bring-your-own-loop`
#![expect(clippy::print_stdout, reason = "an example that speaks on the terminal")]

mod plain_loop;

use haft::agent::Budget;
use haft::model::{Model, ScriptedModel, Session};
use haft::subagents::{AgentSpec, Supervisor};
use haft::tools_core::CollisionPolicy;
use haft::{
    Access, AccessMode, Batch, CallContext, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme,
    ToolCall, ToolError, ToolExecutor as _, ToolRegistry, tool_fn,
};
use plain_loop::PlainLoop;
use schemars::JsonSchema;
use serde::Deserialize;
use std::error::Error;
use std::sync::Arc;

const AGENT: Scheme = Scheme::new("agent");
const BELL: Scheme = Scheme::new("bell");

/// What the models say, by the runs they work in; with a provider, nothing else of this program changes.
const SESSIONS: [(&str, &str); 2] = [
    (
        "all/0",
        r#"{"calls":[{"id":"r1","name":"ring","input":{"bell":"small"}},{"id":"r2","name":"ring","input":{"bell":"great"}}]}
{"text":"I rang what I may.","after":{"r1":"ok","r2":"denied"}}"#,
    ),
    (
        "all/1",
        r#"{"calls":[{"id":"r1","name":"ring","input":{"bell":"small"}}]}
{"calls":[{"id":"r2","name":"ring","input":{"bell":"small"}}],"after":{"r1":"ok"}}
{"calls":[{"id":"r3","name":"ring","input":{"bell":"small"}}],"after":{"r2":"ok"}}
{"text":"Never said."}"#,
    ),
];

#[derive(Deserialize, JsonSchema)]
struct Ring {
    /// Which bell.
    bell: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let ring = tool_fn(
        "ring",
        "Rings a bell.",
        |input: &Ring| Ok(Access::write(Resource::exact(BELL, input.bell.as_str())).into()),
        |input: Ring, _: CallContext| async move { Ok::<_, ToolError>(format!("the {} bell rings", input.bell)) },
    )?;
    let ringer = AgentSpec::new("ringer".parse()?, "Rings bells.").tools("ring".parse()?);
    let eager = AgentSpec::new("eager".parse()?, "Rings bells again and again.")
        .tools("ring".parse()?)
        .budget(Budget::default().turns(3));
    let supervisor = Supervisor::builder().agents([ringer, eager]).build();
    // Nobody may ring the great bell, whatever loop asks for it.
    let policy = Policy::new()
        .allow(Rule::access(AccessMode::Call, Resource::subtree(AGENT, "")))
        .allow(Rule::access(AccessMode::Write, Resource::subtree(BELL, "")))
        .deny(Rule::access(AccessMode::Write, Resource::exact(BELL, "great")));
    let tools = ToolRegistry::new().with(ring)?.merge(&supervisor.tools()?, CollisionPolicy::Refuse)?;
    let executor = LocalExecutor::builder(tools).policy(policy).build();

    supervisor.drive_with(PlainLoop {
        executor: executor.clone(),
        model: Box::new(|path| {
            let (name, session) = SESSIONS.into_iter().find(|(run, _)| *run == path)?;
            let model: Arc<dyn Model> = Arc::new(ScriptedModel::new(Session::parse(session, name).ok()?));
            Some(model)
        }),
    });

    // The run at the top needs no loop at all: any program can delegate.
    let tasks = serde_json::json!({ "tasks": [
        { "agent": "ringer", "task": "Ring all bells." },
        { "agent": "eager", "task": "Ring the small bell." },
    ] });
    let scope = CallScope::new("tower".parse()?);
    let call = ToolCall::new("all".parse()?, "delegate", tasks);
    let outcome = executor.execute_batch(Batch::new(scope.clone(), vec![call])).await;
    println!("delegate: {}", outcome.into_replies()?[0].status);
    for child in supervisor.children(scope.run()).await? {
        let Some(result) = child.result() else { continue };
        let detail = result.detail.as_ref().map(|detail| format!(" [{detail}]")).unwrap_or_default();
        println!(
            "{} {}, {} turns, {} calls: {}{detail}",
            child.agent,
            result.end.name(),
            child.spent.turns,
            child.spent.calls,
            result.text
        );
    }
    Ok(())
}
