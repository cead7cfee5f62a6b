//! One call among more and more tools, and the list that a model is shown.

use crate::{Bench, least, point};
use haft::{Accesses, CallContext, Tool, ToolError, ToolRegistry, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

const TOOLS: [usize; 6] = [1, 10, 100, 1_000, 10_000, 100_000];

const CALLS: u32 = 2_000;

const ROUNDS: usize = 60;

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "the field is parsed and not used: the tool does nothing")]
struct Input {
    /// A file.
    path: String,
}

fn registry(tools: usize) -> ToolRegistry {
    let tool = |number| {
        let name = format!("tool_{number}");
        let made = tool_fn(&name, "Does nothing.", Accesses::none(), |_: Input, _: CallContext| async {
            Ok::<_, ToolError>("")
        });
        Arc::new(made.unwrap()) as Arc<dyn Tool>
    };
    ToolRegistry::of((0..tools).map(tool)).unwrap()
}

pub(crate) fn sweep() {
    let registries = TOOLS.map(registry);
    let benches = registries.clone().map(Bench::new);
    let (mut lists, mut calls) = ([Duration::MAX; TOOLS.len()], [Duration::MAX; TOOLS.len()]);
    // By turns, so that all of them meet the same noise.
    for _ in 0..ROUNDS {
        for (place, tools) in TOOLS.into_iter().enumerate() {
            let name = format!("tool_{}", tools / 2);
            let list = least(1, || {
                for _ in 0..CALLS {
                    black_box(registries[place].direct_specs());
                }
            });
            let call = least(1, || {
                for _ in 0..CALLS {
                    benches[place].call(&name, vec![json!({ "path": "src/lib.rs" })]);
                }
            });
            (lists[place], calls[place]) = (lists[place].min(list), calls[place].min(call));
        }
    }
    let each = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(CALLS);
    for (place, tools) in TOOLS.into_iter().enumerate() {
        point("tools", "a call", tools, each(calls[place]));
        point("tools", "the list for a model", tools, each(lists[place]));
    }
}
