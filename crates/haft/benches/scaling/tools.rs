//! One call among more and more tools, and the list that a model is shown.

use crate::{Bench, least, point};
use haft::{Accesses, CallContext, Tool, ToolError, ToolRegistry, tool_fn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::hint::black_box;
use std::sync::Arc;

const CALLS: u32 = 2_000;

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
    for tools in [1, 10, 100, 1_000, 10_000, 100_000] {
        let registry = registry(tools);
        let name = format!("tool_{}", tools / 2);
        let list = least(20, || {
            for _ in 0..CALLS {
                black_box(registry.direct_specs());
            }
        });
        let bench = Bench::new(registry);
        let call = least(20, || {
            for _ in 0..CALLS {
                bench.call(&name, vec![json!({ "path": "src/lib.rs" })]);
            }
        });
        let each = |time: std::time::Duration| time.as_secs_f64() * 1e9 / f64::from(CALLS);
        point("tools", "a call", tools, each(call));
        point("tools", "the list for a model", tools, each(list));
    }
}
