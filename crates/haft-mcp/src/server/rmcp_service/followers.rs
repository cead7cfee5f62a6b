use super::list_changes::{ListChanges, News};
use super::session::Session;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::Peer;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The least time between two things of which all are told.
pub(super) const PAUSE: Duration = Duration::from_millis(250);

/// For how long a client is waited for that does not read.
const PATIENCE: Duration = Duration::from_secs(5);

/// Holds the clients of the older era, which are told of what changes without asking for it.
#[derive(Debug, Default)]
pub(super) struct Followers {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    peers: Vec<(Peer<RoleServer>, Weak<Session>)>,
    /// How many there are when those that are gone are looked for.
    full: usize,
}

impl Followers {
    pub(super) fn add(&self, peer: Peer<RoleServer>, session: &Arc<Session>) {
        let mut known = self.known();
        if known.peers.len() >= known.full {
            known.peers.retain(|(_, session)| session.strong_count() > 0);
            known.full = (known.peers.len() * 2).max(16);
        }
        known.peers.push((peer, Arc::downgrade(session)));
    }

    /// Tells them for as long as it is awaited.
    pub(super) async fn tell(&self, mut changes: ListChanges) {
        let mut telling = JoinSet::new();
        loop {
            let news = changes.next().await;
            let peers = self.known().peers.clone();
            for (peer, session) in peers {
                let Some(session) = session.upgrade() else { continue };
                let news = news.clone();
                telling.spawn(async move {
                    // Whoever is not told is gone, or does not listen.
                    let _ = timeout(PATIENCE, tell(&peer, &session, news)).await;
                });
            }
            while telling.try_join_next().is_some() {}
            sleep(PAUSE).await;
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn tell(peer: &Peer<RoleServer>, session: &Session, news: News) {
    // What cannot be sent is for a connection that is over.
    let _ = match news {
        News::Tools => peer.notify_tool_list_changed().await,
        News::Prompts => peer.notify_prompt_list_changed().await,
        News::Resources => peer.notify_resource_list_changed().await,
        News::Resource(uri) if session.is_subscribed(&uri) => {
            peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await
        }
        News::Resource(_) => Ok(()),
    };
}
