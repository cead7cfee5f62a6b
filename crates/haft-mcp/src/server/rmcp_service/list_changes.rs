use super::serving::Shared;
use haft_tools_core::Changes;
use std::future::pending;
use tokio::sync::watch;

/// Looks out for what clients are told of.
pub(super) struct ListChanges {
    tools: Option<Changes>,
    prompts: Option<Changes>,
    resources: Option<watch::Receiver<Option<String>>>,
}

/// Says what became another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum News {
    Tools,
    Prompts,
    Resources,
    /// One document.
    Resource(String),
}

impl ListChanges {
    pub(super) fn of(shared: &Shared) -> Self {
        let mut changes = Self {
            tools: shared.toolbox.changes(),
            prompts: shared.prompts.as_ref().and_then(|prompts| prompts.changes()),
            resources: shared.resources.as_ref().map(|resources| resources.changes()),
        };
        // Only what happens from now on is news.
        [&mut changes.tools, &mut changes.prompts].into_iter().flatten().for_each(Changes::catch_up);
        changes.resources.iter_mut().for_each(watch::Receiver::mark_unchanged);
        changes
    }

    /// Waits for the next news; several of one kind are one.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub(super) async fn next(&mut self) -> News {
        tokio::select! {
            () = changed(self.tools.as_mut()) => News::Tools,
            () = changed(self.prompts.as_mut()) => News::Prompts,
            uri = changed_resource(self.resources.as_mut()) => uri.map_or(News::Resources, News::Resource),
        }
    }
}

/// Waits for a change; without end where nothing tells of any, or whoever told is gone.
async fn changed(changes: Option<&mut Changes>) {
    let is_told = match changes {
        Some(changes) => changes.changed().await,
        None => false,
    };
    if !is_told {
        pending::<()>().await;
    }
}

/// As [`changed`]; gives the document that became another, or none where the list did.
async fn changed_resource(changes: Option<&mut watch::Receiver<Option<String>>>) -> Option<String> {
    if let Some(changes) = changes
        && changes.changed().await.is_ok()
    {
        return changes.borrow_and_update().clone();
    }
    pending().await
}
