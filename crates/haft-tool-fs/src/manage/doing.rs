use crate::blocking::blocking;
use async_trait::async_trait;
use haft_core::{ToolError, ToolOutput};
use haft_tools_core::{Action, CallContext, Preview};
use tokio_util::sync::CancellationToken;

type Work = Box<dyn FnOnce(&CancellationToken) -> Result<ToolOutput, ToolError> + Send + Sync>;

/// What a call does, with a line for whoever is asked about it.
pub(super) struct Doing {
    shown: String,
    work: Work,
}

impl Doing {
    pub(super) fn new(
        shown: String,
        work: impl FnOnce(&CancellationToken) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self { shown, work: Box::new(work) }
    }
}

#[async_trait]
impl Action for Doing {
    async fn preview(&self) -> Preview {
        Preview::Text(self.shown.clone())
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { work, .. } = *self;
        blocking(&cx, work).await
    }
}
