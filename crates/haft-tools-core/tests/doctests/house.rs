// What examples of the documentation begin with, hidden in them: a tool that greets, a call of it, and one that waits.

use haft_core::{ToolCall, ToolError};
use haft_tools_core::{
    Accesses, Approval, Batch, CallContext, CallOutcome, CallScope, LocalExecutor, PendingCall,
    ToolExecutor as _, ToolRegistry, approver_fn, tool_fn,
};
use std::error::Error;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// Makes a registry with the tool `greet`.
pub fn registry() -> Result<ToolRegistry, Box<dyn Error>> {
    let greet = tool_fn("greet", "Greets.", Accesses::none(), |_: Nothing, _: CallContext| async {
        Ok::<_, ToolError>("Good morning.")
    })?;
    Ok(ToolRegistry::new().with(greet)?)
}

/// Calls `greet` once, in the run `run-1`.
pub fn batch() -> Result<Batch, Box<dyn Error>> {
    let call = ToolCall::new("c1".parse()?, "greet", serde_json::json!({}));
    Ok(Batch::new(CallScope::new("run-1".parse()?), vec![call]))
}

/// Makes that call where nobody answers yet, so that it waits.
pub async fn waiting() -> Result<(LocalExecutor, Box<PendingCall>), Box<dyn Error>> {
    let later = approver_fn(|_: &PendingCall| Approval::Later);
    let executor = LocalExecutor::builder(registry()?).approver(later).build();
    match executor.execute_batch(batch()?).await.into_outcomes().pop() {
        Some(CallOutcome::Pending(pending)) => Ok((executor, pending)),
        _ => Err("a call that is asked about waits".into()),
    }
}
