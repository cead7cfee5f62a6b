use super::serving::Shared;
use std::future::pending;
use tokio::sync::watch;

/// Looks out for what clients are told of.
pub(super) struct ListChanges {
    tools: watch::Receiver<u64>,
    prompts: Option<watch::Receiver<u64>>,
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
            prompts: shared.prompts.as_ref().map(|prompts| prompts.changes()),
            resources: shared.resources.as_ref().map(|resources| resources.changes()),
        };
        // Only what happens from now on is news.
        changes.tools.mark_unchanged();
        changes.prompts.iter_mut().for_each(watch::Receiver::mark_unchanged);
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
            () = changed(&mut self.tools) => News::Tools,
            () = maybe_changed(self.prompts.as_mut()) => News::Prompts,
            () = maybe_changed(self.resources.as_mut()) => {
                let uri = self.resources.as_mut().and_then(|resources| resources.borrow_and_update().clone());
                uri.map_or(News::Resources, News::Resource)
            }
        }
    }
}

async fn maybe_changed<T>(changes: Option<&mut watch::Receiver<T>>) {
    match changes {
        Some(changes) => changed(changes).await,
        None => pending().await,
    }
}

async fn changed<T>(changes: &mut watch::Receiver<T>) {
    if changes.changed().await.is_err() {
        // Whoever told is gone, and nothing changes any more.
        pending::<()>().await;
    }
}
