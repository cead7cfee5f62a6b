use crate::blocking::blocking;
use crate::commit::{undo_note, with_left};
use crate::failure::failure;
use crate::origin::origin_of;
use async_trait::async_trait;
use haft_core::{Content, ToolError, ToolOutput};
use haft_tools_core::{Action, CallContext, Preview};
use haft_workdir::{Finished, OpenChangeSet, Workdir};
use tokio_util::sync::CancellationToken;

type Work = Box<dyn FnOnce(&CallContext, &CancellationToken) -> Result<ToolOutput, ToolError> + Send + Sync>;

/// What a call does, with a line for whoever is asked about it.
pub(super) struct Doing {
    shown: String,
    work: Work,
}

impl Doing {
    pub(super) fn new(
        shown: String,
        work: impl FnOnce(&CallContext, &CancellationToken) -> Result<ToolOutput, ToolError>
        + Send
        + Sync
        + 'static,
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
        let caller = cx.clone();
        blocking(&cx, move |stop| work(&caller, stop)).await
    }
}

/// Makes changes of a tree, all of them or none, and adds to the reply what the model is to know of undoing them.
pub(super) fn changing(
    workdir: &Workdir,
    cx: &CallContext,
    make: impl FnOnce(&mut OpenChangeSet<'_>) -> Result<String, ToolError>,
) -> Result<ToolOutput, ToolError> {
    let mut set = workdir.change(origin_of(cx));
    let text = match make(&mut set) {
        Ok(text) => text,
        Err(error) => return Err(with_left(error, &set.roll_back())),
    };
    let finished: Finished = set.finish().map_err(failure)?;
    let mut output = ToolOutput::text(text);
    output.content.extend(undo_note(&finished).map(Content::text));
    Ok(output)
}
