use rmcp::RoleServer;
use rmcp::model::ServerNotification;
use rmcp::service::Peer;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// How many messages wait for a client that reads slowly; of more the oldest go that can be spared.
const MOST: usize = 256;

/// Holds what is told to a client beside the answer to its request, so that whoever tells it never waits.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Mutex<VecDeque<ServerNotification>>,
    posted: Notify,
    is_done: AtomicBool,
}

impl Outbox {
    /// Puts a message behind those that wait; once the request is answered nothing is told any more.
    pub(super) fn post(&self, message: ServerNotification) {
        if self.is_done.load(Ordering::Acquire) {
            return;
        }
        let mut waiting = self.waiting();
        if waiting.len() >= MOST
            && let Some(spared) = waiting.iter().position(can_be_spared)
        {
            waiting.remove(spared);
        }
        if waiting.len() < MOST {
            waiting.push_back(message);
        }
        drop(waiting);
        self.posted.notify_one();
    }

    /// Does some work while messages are sent, and ends when it is done and all were sent.
    pub(super) async fn during<T>(&self, peer: &Peer<RoleServer>, work: impl Future<Output = T>) -> T {
        let mut sending = pin!(self.send(peer));
        let mut work = pin!(work);
        let done = tokio::select! {
            biased;
            done = &mut work => Some(done),
            () = &mut sending => None,
        };
        let Some(done) = done else {
            // The connection is over, and the work may want to know by other means.
            self.is_done.store(true, Ordering::Release);
            return work.await;
        };
        self.is_done.store(true, Ordering::Release);
        self.posted.notify_one();
        sending.await;
        done
    }

    async fn send(&self, peer: &Peer<RoleServer>) {
        loop {
            let next = self.waiting().pop_front();
            if let Some(message) = next {
                if peer.send_notification(message).await.is_err() {
                    return;
                }
            } else if self.is_done.load(Ordering::Acquire) {
                return;
            } else {
                self.posted.notified().await;
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<ServerNotification>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a client does without a message: not one that withdraws a question.
fn can_be_spared(message: &ServerNotification) -> bool {
    !matches!(message, ServerNotification::CancelledNotification(_))
}
