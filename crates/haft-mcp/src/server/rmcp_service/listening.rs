use super::followers::PAUSE;
use super::list_changes::{ListChanges, News};
use rmcp::model::SubscriptionFilter;
use rmcp::service::{SubscriptionContext, SubscriptionSendError};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How many documents one subscription follows, and how long their addresses are at most.
const MOST_FOLLOWED: usize = 1000;
const MOST_URI: usize = 4096;

/// Takes of what a client wants to be told as much as is told.
pub(super) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = requested.clone();
    if let Some(uris) = &mut accepted.resource_subscriptions {
        uris.retain(|uri| uri.len() <= MOST_URI);
        uris.truncate(MOST_FOLLOWED);
    }
    accepted
}

/// Tells a client of the newer era of what changes, until it has heard enough or the server is to stop.
pub(super) async fn listen(
    context: &SubscriptionContext,
    mut changes: ListChanges,
    stopping: &CancellationToken,
) {
    let tell = async {
        loop {
            let news = changes.next().await;
            if !is_wanted(context.accepted(), &news) {
                continue;
            }
            if send(context, news).await.is_err() {
                // The connection is over.
                return;
            }
            sleep(PAUSE).await;
        }
    };
    tokio::select! {
        biased;
        () = context.cancelled() => {}
        () = stopping.cancelled() => {}
        () = tell => {}
    }
}

fn is_wanted(accepted: &SubscriptionFilter, news: &News) -> bool {
    match news {
        News::Tools => accepted.tools_list_changed == Some(true),
        News::Prompts => accepted.prompts_list_changed == Some(true),
        News::Resources => accepted.resources_list_changed == Some(true),
        News::Resource(uri) => {
            accepted.resource_subscriptions.as_ref().is_some_and(|uris| uris.contains(uri))
        }
    }
}

async fn send(context: &SubscriptionContext, news: News) -> Result<(), SubscriptionSendError> {
    let sink = context.sink();
    match news {
        News::Tools => sink.notify_tool_list_changed().await,
        News::Prompts => sink.notify_prompt_list_changed().await,
        News::Resources => sink.notify_resource_list_changed().await,
        News::Resource(uri) => sink.notify_resource_updated(uri).await,
    }
}
