//! Tools that touch files as far as they say, and batches of their calls.

use crate::Fault;
use haft_core::{ToolCall, ToolError};
use haft_tools_core::{
    Access, Accesses, Batch, CallContext, CallScope, LocalExecutor, Policy, Resource, Rule, Scheme, Selector,
    Tool, ToolRegistry, Widths, tool_fn,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

const FILE: Scheme = Scheme::new("file");

/// Says how many calls of a class run at once.
#[derive(Clone, Copy)]
pub(crate) enum Width {
    /// As many as when nothing is said.
    Default,
    /// So many reads, and so many writes.
    Of(usize),
}

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file that is touched.
    path: String,
}

fn tool(
    name: &str,
    access: fn(Resource) -> Access,
    takes: Duration,
) -> Result<impl Tool, haft_core::NameError> {
    let accesses =
        move |input: &Input| Ok(Accesses::from(access(Resource::exact(FILE, input.path.as_str()))));
    tool_fn(name, "Touches a file.", accesses, move |_: Input, _: CallContext| async move {
        if takes.is_zero() {
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(takes).await;
        }
        Ok::<_, ToolError>("")
    })
}

/// Makes an executor of `read` and `write`, whose calls take so long, and at least let others go first once.
pub(crate) fn executor(takes: Duration, width: Width) -> Result<LocalExecutor, Fault> {
    let registry = ToolRegistry::new().with(tool("read", Access::read, takes)?)?.with(tool(
        "write",
        Access::write,
        takes,
    )?)?;
    let widths = match width {
        Width::Default => Widths::default(),
        Width::Of(width) => Widths { read: width, write: width, ..Widths::default() },
    };
    Ok(LocalExecutor::builder(registry)
        .policy(Policy::new().allow(Rule::tools(Selector::all())))
        .widths(&widths)
        .build())
}

/// Makes a batch of so many calls, each of a tool and a path.
pub(crate) fn batch<P: Into<String>>(
    calls: usize,
    call: impl Fn(usize) -> (&'static str, P),
) -> Result<Batch, String> {
    let calls = (0..calls)
        .map(|place| {
            let (tool, path) = call(place);
            let id = format!("c{place}").parse().map_err(|error| format!("{error}"))?;
            Ok(ToolCall::new(id, tool, json!({ "path": path.into() })))
        })
        .collect::<Result<_, String>>()?;
    let run = "bench".parse().map_err(|error| format!("{error}"))?;
    Ok(Batch::new(CallScope::new(run), calls))
}
