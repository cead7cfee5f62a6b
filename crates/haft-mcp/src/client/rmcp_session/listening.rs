use crate::client::link::Ending;
use crate::client::retry_pause::RetryPause;
use crate::client::session::{Counterpart, News, ServerInfo};
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, SubscriptionFilter, SubscriptionsListenRequest, SubscriptionsListenRequestParams,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::Value;
use std::sync::Arc;
use tokio::time::{Instant, sleep};

/// What a server of the modern era can be listened to for; `None` if it has nothing to tell.
pub(super) fn filter(server: &ServerInfo) -> Option<SubscriptionFilter> {
    let tells = |what| {
        let tells =
            server.capabilities.get(what).and_then(|one| one.get("listChanged")).and_then(Value::as_bool);
        tells.unwrap_or(false).then_some(true)
    };
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = tells("tools");
    filter.prompts_list_changed = tells("prompts");
    filter.resources_list_changed = tells("resources");
    (filter != SubscriptionFilter::new()).then_some(filter)
}

/// Listens to a server, again and again, until it refuses or the connection has ended. What it tells is heard where all
/// notifications are.
pub(super) async fn listen(
    peer: Peer<RoleClient>,
    filter: SubscriptionFilter,
    ending: Arc<Ending>,
    counterpart: Arc<dyn Counterpart>,
) {
    let mut pause = RetryPause::default();
    loop {
        let began = Instant::now();
        let params = SubscriptionsListenRequestParams::new(filter.clone());
        let request = ClientRequest::SubscriptionsListenRequest(SubscriptionsListenRequest::new(params));
        let listening = async {
            let options = PeerRequestOptions::no_options();
            let handle = peer.send_request_with_option(request, options).await.ok()?;
            // An error means that there is nothing to listen to; a result or a cancellation, that it is over for now.
            match handle.rx.await.ok()? {
                Ok(_) | Err(ServiceError::Cancelled { .. }) => Some(()),
                Err(_) => None,
            }
        };
        tokio::select! {
            ended = listening => if ended.is_none() { return },
            () = ending.over().cancelled() => return,
        }
        tokio::select! {
            () = sleep(pause.after(began.elapsed())) => {}
            () = ending.over().cancelled() => return,
        }
        // What has changed meanwhile was told to nobody.
        for (is_listened_for, news) in [
            (filter.tools_list_changed, News::ToolsChanged),
            (filter.prompts_list_changed, News::PromptsChanged),
            (filter.resources_list_changed, News::ResourcesChanged),
        ] {
            if is_listened_for == Some(true) {
                counterpart.hear(news);
            }
        }
    }
}
