use haft_core::{ToolCall, ToolReply};
use haft_tools_core::{AllowAll, Batch, CallScope, LocalExecutor, ToolExecutor as _, ToolRegistry};
use serde_json::Value;

/// Runs one call through every stage of the executor, with everything permitted.
///
/// No policy speaks of the call, so it is asked about and approved; its preview is made on the way.
///
/// ```
/// use haft_core::ToolError;
/// use haft_testkit::call;
/// use haft_tools_core::{Accesses, CallContext, ToolRegistry, tool_fn};
/// use serde_json::json;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Input {
///     name: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let greet = tool_fn("greet", "Greets.", Accesses::none(), |input: Input, _: CallContext| async move {
///     Ok::<_, ToolError>(format!("Hello, {}!", input.name))
/// })?;
/// let registry = ToolRegistry::new().with(greet)?;
///
/// let reply = call(&registry, "greet", json!({ "name": "Ada" })).await;
/// assert!(reply.status.is_ok());
/// assert_eq!(reply.output.to_text(), "Hello, Ada!");
/// # Ok(())
/// # }
/// ```
///
/// # Panics
///
/// When the executor breaks its promise of one reply for each call.
///
/// # Cancel safety
///
/// Dropping the future cancels the call.
pub async fn call(registry: &ToolRegistry, name: &str, input: Value) -> ToolReply {
    let mut replies = call_batch(registry, [(name, input)]).await;
    replies.pop().expect("a call gets a reply")
}

/// Runs calls as one batch, like those of one model message, with everything permitted; replies are in their order.
///
/// The calls have the ids `call-1`, `call-2` and so on and belong to the run `test`.
///
/// ```
/// use haft_core::ToolError;
/// use haft_testkit::call_batch;
/// use haft_tools_core::{Accesses, CallContext, ToolRegistry, tool_fn};
/// use serde_json::json;
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # struct Input {
/// #     name: String,
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let greet = tool_fn("greet", "Greets.", Accesses::none(), |input: Input, _: CallContext| async move {
/// #     Ok::<_, ToolError>(format!("Hello, {}!", input.name))
/// # })?;
/// let registry = ToolRegistry::new().with(greet)?;
/// let calls = [("greet", json!({ "name": "Ada" })), ("greet", json!({ "nobody": 1 }))];
/// let replies = call_batch(&registry, calls).await;
/// assert!(replies[0].status.is_ok() && !replies[1].status.is_ok());
/// # Ok(())
/// # }
/// ```
///
/// # Panics
///
/// When the executor breaks its promise of one reply for each call.
///
/// # Cancel safety
///
/// Dropping the future cancels the calls.
pub async fn call_batch<'a>(
    registry: &ToolRegistry,
    calls: impl IntoIterator<Item = (&'a str, Value)>,
) -> Vec<ToolReply> {
    let calls: Vec<ToolCall> = (1..)
        .zip(calls)
        .map(|(number, (name, input))| {
            let id = format!("call-{number}").parse().expect("a valid call id");
            ToolCall::new(id, name, input)
        })
        .collect();
    let expected = calls.len();
    let scope = CallScope::new("test".parse().expect("a valid run id"));
    let executor = LocalExecutor::builder(registry.clone()).approver(AllowAll).build();
    let outcome = executor.execute_batch(Batch::new(scope, calls)).await;
    let replies = outcome.into_replies().expect("an approver that always answers leaves nothing pending");
    assert_eq!(replies.len(), expected, "each call gets exactly one reply");
    replies
}
