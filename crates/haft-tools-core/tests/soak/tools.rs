//! A thousand tools that do what their input says, well or badly.

use crate::world::{AtWork, World};
use async_trait::async_trait;
use haft_core::{Schema, ToolCall, ToolError, ToolOutput, ToolSpec};
use haft_tools_core::{
    Access, Accesses, Action, Before, CallContext, CallScope, Layer, LayerAnswer, LayerCall, Limits,
    Prepared, Resource, Scheme, Tool, ToolRegistry,
};
use serde_json::{Value, json};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::sleep;

const FILE: Scheme = Scheme::new("file");

/// The kinds of tools, of which there are a hundred each.
pub(crate) const KINDS: [&str; 10] =
    ["free", "plain", "open", "again", "short", "capped", "asked", "barred", "calm", "wide"];

pub(crate) const OF_EACH: u64 = 100;

pub(crate) fn limits() -> Limits {
    Limits {
        timeout: Duration::from_secs(30),
        idle_timeout: Some(Duration::from_secs(10)),
        grace: Duration::from_secs(2),
        nesting: 3,
        // What nobody answers is kept no longer; a clock on the wall counts it, and not tokio's.
        approval_lifetime: Some(Duration::from_secs(10)),
        ..Limits::default()
    }
}

pub(crate) fn registry(world: &Arc<World>) -> ToolRegistry {
    let schema = Schema::new(json!({
        "type": "object",
        "properties": {
            "access": { "enum": ["none", "read", "write", "execute", "connect", "opaque"] },
            "path": { "type": "string" },
            "act": { "type": "string" },
            "ms": { "type": "integer", "minimum": 0 },
            "calls": { "type": "array" },
        },
        "required": ["access", "path", "act", "ms"],
        // Has it compiled when the tool is registered: else what is live would grow with the tools that were called.
        "x-own": true,
    }))
    .unwrap();
    let tools = KINDS.iter().flat_map(|kind| (0..OF_EACH).map(move |number| format!("{kind}_{number}")));
    ToolRegistry::of(tools.map(|name| {
        let spec = ToolSpec::new(name.parse().unwrap(), "Does as it is told.", schema.clone());
        Arc::new(Obedient { spec, world: Arc::clone(world) }) as Arc<dyn Tool>
    }))
    .unwrap()
}

struct Obedient {
    spec: ToolSpec,
    world: Arc<World>,
}

fn accesses(input: &Value) -> Accesses {
    let path = input["path"].as_str().unwrap_or_default();
    let resource = match path.strip_suffix("/**") {
        Some(folder) => Resource::subtree(FILE, folder),
        None => Resource::exact(FILE, path),
    };
    match input["access"].as_str() {
        Some("read") => Access::read(resource).into(),
        Some("write") => Access::write(resource).into(),
        Some("execute") => Access::execute(resource).into(),
        Some("connect") => Access::connect(resource).into(),
        Some("opaque") => Access::opaque("who knows").into(),
        _ => Accesses::none(),
    }
}

impl Tool for Obedient {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        match input["act"].as_str() {
            Some("break while preparing") => resume_unwind(Box::new("broke while preparing")),
            Some("refuse") => return Err(ToolError::not_found("there is no such thing")),
            _ => {}
        }
        let action = Obeying { input: input.clone(), world: Arc::clone(&self.world) };
        let prepared = Prepared::new(accesses(input), action);
        let name = self.spec.name().as_str();
        Ok(if name.starts_with("again_") {
            prepared.repeatable()
        } else if name.starts_with("short_") {
            prepared.with_timeout(Duration::from_millis(20))
        } else {
            prepared
        })
    }
}

struct Obeying {
    input: Value,
    world: Arc<World>,
}

#[async_trait]
impl Action for Obeying {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { input, world } = *self;
        let caller = input["caller"].as_u64();
        let ordered = caller.is_some() || input["ordered"] == true;
        let at_work = world.runs(&cx, accesses(&input), ordered, caller, &input);
        let pause = Duration::from_millis(input["ms"].as_u64().unwrap_or_default());
        match input["act"].as_str().unwrap_or_default() {
            "sleep" => sleep(pause).await,
            "show" => {
                for step in 0..5_u8 {
                    cx.progress(f64::from(step) / 5.0);
                    cx.update(|| ToolOutput::text("a part of it"));
                    sleep(pause).await;
                }
            }
            "fail" => return Err(ToolError::failed("it does not work")),
            "falter" => {
                // It works now and then, which those that try again are about.
                static TRIES: AtomicU32 = AtomicU32::new(0);
                sleep(pause).await;
                if !TRIES.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) {
                    return Err(ToolError::unavailable("try it again"));
                }
            }
            "break" => resume_unwind(Box::new("broke")),
            "break late" => {
                sleep(pause).await;
                resume_unwind(Box::new("broke late"));
            }
            "ignore" => std::future::pending::<()>().await,
            "ignore, getting on" => loop {
                sleep(Duration::from_secs(5)).await;
                cx.progress("still there");
            },
            "stop slowly" => {
                cx.cancellation().cancelled().await;
                sleep(Duration::from_millis(1500)).await;
                return Err(ToolError::cancelled("stopped, and cleaned up"));
            }
            "say much" => return Ok(ToolOutput::text("much\n".repeat(20_000))),
            "speak late" => {
                let cx = cx.clone();
                tokio::spawn(async move {
                    sleep(pause).await;
                    cx.update(|| ToolOutput::text("too late"));
                    cx.progress("too late");
                });
            }
            "call" => return call_in_order(&input, &cx, &world, &at_work).await,
            "call at once" => return call_at_once(&input, &cx, &world, &at_work).await,
            "call and leave" => {
                let work = call_in_order(&input, &cx, &world, &at_work);
                return tokio::time::timeout(pause, work).await.unwrap_or(Ok("left".into()));
            }
            _ => {}
        }
        Ok(ToolOutput::text("done"))
    }
}

/// Makes the calls that an input holds, with the number of who makes them.
fn calls(input: &Value, cx: &CallContext, world: &World, at_work: &AtWork) -> Vec<ToolCall> {
    let wished = input["calls"].as_array().cloned().unwrap_or_default();
    let called = wished.into_iter().zip(0..).map(|(mut wish, place)| {
        wish["input"]["caller"] = json!(at_work.number);
        let id = format!("{}.{}.{place}", cx.call_id(), at_work.number);
        world.makes((cx.scope().run().to_string(), id.clone()));
        let tool = wish["tool"].as_str().unwrap().to_owned();
        ToolCall::new(id.parse().unwrap(), tool, wish["input"].take())
    });
    called.collect()
}

async fn call_in_order(
    input: &Value,
    cx: &CallContext,
    world: &World,
    at_work: &AtWork,
) -> Result<ToolOutput, ToolError> {
    for call in calls(input, cx, world, at_work) {
        let id = call.id.clone();
        let away = at_work.away();
        let reply = cx.call(call).await;
        drop(away);
        if reply.call_id != id {
            world.violated(format_args!("the nested call {id} was answered as {}", reply.call_id));
        }
    }
    Ok("called".into())
}

async fn call_at_once(
    input: &Value,
    cx: &CallContext,
    world: &World,
    at_work: &AtWork,
) -> Result<ToolOutput, ToolError> {
    let away = at_work.away();
    let calls = calls(input, cx, world, at_work).into_iter().map(|call| cx.call(call));
    futures_util::future::join_all(calls).await;
    drop(away);
    Ok("called".into())
}

/// Does to a call what its input says.
pub(crate) struct Meddling;

#[async_trait]
impl Layer for Meddling {
    async fn before(&self, call: &LayerCall<'_>) -> Before {
        let mut input = call.call.input.clone();
        match input["before"].take().as_str() {
            Some("replace") => {
                input["ms"] = json!(1);
                Before::replace_input(input)
            }
            Some("replace badly") => Before::replace_input(json!({ "access": 5 })),
            Some("elsewhere") => {
                input["path"] = json!("z/elsewhere");
                Before::replace_input(input).with_context("it was done elsewhere")
            }
            Some("skip") => Before::skip(ToolOutput::text("known already")),
            Some("break") => resume_unwind(Box::new("the layer broke")),
            Some("hang") => std::future::pending().await,
            _ => Before::proceed(),
        }
    }

    async fn after(&self, call: &LayerCall<'_>, mut answer: LayerAnswer) -> LayerAnswer {
        match call.call.input["after"].as_str() {
            Some("replace") => answer.output = ToolOutput::text("something else"),
            Some("break") => resume_unwind(Box::new("the layer broke")),
            Some("hang") => std::future::pending().await,
            _ => {}
        }
        answer
    }

    fn before_update(&self, cx: &CallContext, update: ToolOutput) -> Option<ToolOutput> {
        match cx.call_id().as_str().len() % 4 {
            0 => None,
            1 => resume_unwind(Box::new("the layer broke")),
            _ => Some(update),
        }
    }
}
