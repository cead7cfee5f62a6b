use super::CallContext;
use crate::PendingCall;
use crate::permission::WaitsFor;
use haft_core::ToolError;

impl CallContext {
    /// Ends the call, until calls that it has made below it, and that wait for a later answer, are answered.
    ///
    /// The tool gives the error back as it is. Its call then waits, too, without anybody being asked about it; what people are
    /// asked about is [`PendingCall::leaves`]. Meanwhile nothing of it runs, and it holds back only the later calls of its
    /// batch that conflict with it. Once the calls below are answered, the host [resumes](crate::ToolExecutor::resume) it
    /// with [`Approval::Approve`](crate::Approval::Approve), and the tool runs again from the start: it has to find what it
    /// keeps by what stays the same, its run and the call's id, and may wait again. If it is denied, the tool
    /// [is told](crate::Tool::given_up).
    ///
    /// Where a call cannot wait, since a tool made it with [`call`](Self::call), it is answered as denied, and the tool is told
    /// so, too. Of no calls the error says that the tool failed, and likewise of more than 256, at any depth, or 16 MiB.
    ///
    /// ```
    /// # use haft_core::{RunId, ToolCall, ToolError, ToolOutput};
    /// use haft_tools_core::{Batch, CallContext, CallOutcome, LocalExecutor, ToolExecutor as _};
    ///
    /// /// Makes a call in a run of its own, and waits with it; how the answer gets to the call is left out.
    /// async fn ask_agent(
    ///     house: LocalExecutor,
    ///     agent: RunId,
    ///     call: ToolCall,
    ///     cx: CallContext,
    /// ) -> Result<ToolOutput, ToolError> {
    ///     let batch = Batch::new(cx.scope().child(agent), vec![call]).made_by(&cx);
    ///     match house.execute_batch(batch).await.into_outcomes().remove(0) {
    ///         CallOutcome::Replied(reply) => Ok(reply.output),
    ///         CallOutcome::Pending(pending) => Err(cx.wait_for(vec![*pending])),
    ///         CallOutcome::Held(_) => Err(ToolError::failed("the call is held back by no other")),
    ///     }
    /// }
    /// ```
    pub fn wait_for(&self, calls: Vec<PendingCall>) -> ToolError {
        WaitsFor::error(self.tool_name(), calls)
    }
}
