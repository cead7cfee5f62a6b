use super::operation_tool::Inner;
use super::preview::preview;
use super::send::send;
use crate::RequestParts;
use crate::auth::Grant;
use crate::reply;
use async_trait::async_trait;
use haft_core::{ToolError, ToolOutput};
use haft_tools_core::{Action, CallContext, Preview};
use std::sync::Arc;
use url::Url;

/// Is a request that is ready to be sent.
pub(super) struct Call {
    pub(super) tool: Arc<Inner>,
    pub(super) parts: RequestParts,
    /// The address of the request.
    pub(super) url: Url,
    pub(super) grant: Grant,
}

impl Call {
    pub(super) fn new(tool: Arc<Inner>, parts: RequestParts, url: Url, grant: Grant) -> Self {
        Self { tool, parts, url, grant }
    }

    async fn make(&self, cx: &CallContext) -> Result<ToolOutput, ToolError> {
        let answer = send(self).await?;
        let asked = reply::Asked { tool: &self.tool, url: &self.url, cx };
        let mut output = reply::reply(&asked, answer).await?;
        if self.tool.shared.redacts_itself {
            self.tool.shared.redactor.redact_output(&mut output);
        }
        Ok(output)
    }
}

#[async_trait]
impl Action for Call {
    async fn preview(&self) -> Preview {
        Preview::Request(preview(self))
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let token = cx.cancellation().clone();
        // What is dropped here ends its connection.
        tokio::select! {
            biased;
            () = token.cancelled() => Err(ToolError::cancelled(format!(
                "the call of `{}` was cancelled{}",
                self.tool.name,
                if self.tool.operation.hints().read_only {
                    ""
                } else {
                    ", and may have been done all the same; see what has been done before you repeat it"
                },
            ))),
            result = self.make(&cx) => result,
        }
    }
}
