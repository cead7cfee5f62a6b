//! Runs whose tools come and go.

use crate::driver::{scope, transcript};
use async_trait::async_trait;
use expect_test::expect;
use haft_agent::{Agent, CompactError, Compaction, CompactionContext, Told};
use haft_core::{StopReason, ToolError};
use haft_model::{Delta, DeltaStream, Model, ModelCapabilities, ModelError, ModelRequest};
use haft_tools_core::{Accesses, AllowAll, CallContext, LocalExecutor, RunTools, ToolRegistry, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Calls one tool in each turn, and keeps which tools it was told of.
struct Calls {
    capabilities: ModelCapabilities,
    names: Vec<&'static str>,
    told: Mutex<Vec<String>>,
    /// What happens while it is at work.
    meanwhile: Box<dyn Fn() + Send + Sync>,
}

impl Calls {
    fn new(names: &[&'static str], meanwhile: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        let capabilities = ModelCapabilities::new("calls").context_window(1_000);
        let meanwhile = Box::new(meanwhile);
        Arc::new(Self { capabilities, names: names.to_vec(), told: Mutex::default(), meanwhile })
    }
}

#[async_trait]
impl Model for Calls {
    fn capabilities(&self) -> &ModelCapabilities {
        &self.capabilities
    }

    async fn stream(&self, request: ModelRequest, _: CancellationToken) -> Result<DeltaStream, ModelError> {
        let mut told = self.told.lock().unwrap();
        let names: Vec<&str> = request.tools.iter().map(|spec| spec.name().as_str()).collect();
        told.push(names.join(" "));
        (self.meanwhile)();
        Ok(DeltaStream::from_deltas(match self.names.get(told.len() - 1) {
            Some(name) => vec![
                Delta::ToolCallStart {
                    index: 0,
                    id: format!("c{}", told.len()).parse().unwrap(),
                    name: (*name).to_owned(),
                },
                Delta::ToolCallArguments { index: 0, fragment: "{}".to_owned() },
                Delta::Stop(StopReason::ToolCalls),
            ],
            None => vec![Delta::Text("Done.".to_owned()), Delta::Stop(StopReason::EndTurn)],
        }))
    }
}

/// The tools there are, which change.
type Tools = Arc<Mutex<ToolRegistry>>;

fn tool(name: &str) -> ToolRegistry {
    let tool = tool_fn(name, "Does it.", Accesses::none(), |_: Nothing, _: CallContext| async {
        Ok::<_, ToolError>("done")
    });
    ToolRegistry::new().with(tool.unwrap()).unwrap()
}

/// An agent whose tools are those that there are when a turn begins; counts how often they are asked for.
fn agent(model: &Arc<Calls>, tools: &Tools) -> (Agent, Arc<Mutex<u32>>) {
    let executor = LocalExecutor::builder(ToolRegistry::new()).approver(AllowAll).build();
    let list = RunTools::builder(tools.lock().unwrap().clone()).start();
    let (tools, asked) = (Arc::clone(tools), Arc::<Mutex<u32>>::default());
    let counter = Arc::clone(&asked);
    let agent = Agent::new(Arc::clone(model), executor).run_tools(move |scope| {
        assert_eq!(scope.run().as_str(), "run-1");
        *counter.lock().unwrap() += 1;
        list.update(tools.lock().unwrap().clone());
        list.clone()
    });
    (agent, asked)
}

#[tokio::test]
async fn the_tools_of_a_turn_are_those_that_there_are_when_it_begins() {
    let tools: Tools = Arc::new(Mutex::new(tool("first")));
    let turns = Arc::new(Mutex::new(0));
    let (change, turn) = (Arc::clone(&tools), Arc::clone(&turns));
    let model = Calls::new(&["first", "second", "first"], move || {
        let mut turn = turn.lock().unwrap();
        *turn += 1;
        *change.lock().unwrap() = match *turn {
            // The call of this turn is made all the same.
            1 => tool("second"),
            _ => tool("third"),
        };
    });
    let (agent, asked) = agent(&model, &tools);
    let state = agent.run(scope(), "go").await;
    expect![[r"
        person
        model: 
        c1 ok: done
        model: 
        c2 ok: done
        model: 
        c3 error: unknown tool: there is no tool `first`; the only tool is `third`
        model: Done.
        Some(Completed)"]]
    .assert_eq(&transcript(&state));
    expect![[r"
        first
        first second
        first second third
        first second third"]]
    .assert_eq(&model.told.lock().unwrap().join("\n"));
    assert_eq!(*asked.lock().unwrap(), 4);
}

/// Notes how much a request takes up.
struct Notes(Arc<Mutex<Vec<u64>>>);

#[async_trait]
impl Compaction for Notes {
    async fn compact(&self, context: CompactionContext<'_>) -> Result<Vec<Told>, CompactError> {
        self.0.lock().unwrap().push(context.tokens);
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn what_the_tools_of_the_turn_take_up_is_counted() {
    let tools: Tools = Arc::new(Mutex::new(tool("first")));
    let change = Arc::clone(&tools);
    let model = Calls::new(&["first", "first"], move || {
        let many = (0..40).fold(tool("first"), |all, number| {
            let all = all.merge(&tool(&format!("tool_{number}")), haft_tools_core::CollisionPolicy::Refuse);
            all.unwrap()
        });
        *change.lock().unwrap() = many;
    });
    let noted: Arc<Mutex<Vec<u64>>> = Arc::default();
    let (agent, _) = agent(&model, &tools);
    agent.compacted_by(Notes(Arc::clone(&noted))).run(scope(), "go").await;
    let noted = noted.lock().unwrap();
    // Not in the first turn; then once, since nothing more came that could be made less.
    assert_eq!(noted.len(), 1, "{noted:?}");
    assert!(noted[0] > 1_000, "{noted:?}");
}
