//! Tells runs, before each of their turns, what has become of those they have started.

use super::drive::{DrawsOn, Order};
use super::{Supervisor, WeakSupervisor};
use crate::ChildRecord;
use async_trait::async_trait;
use haft_agent::{News, RunHandle};
use haft_tools_core::CallScope;
use tokio_util::sync::CancellationToken;

/// Tells a run of those it has started in the background and that have ended since, and goes on with those that a process
/// which ended has left, and with those that waited for a person who has answered.
///
/// Give it to the agent that drives the run at the top, by [`Agent::news`](haft_agent::Agent::news); those that the supervisor
/// has driven have it.
#[async_trait]
impl News for Supervisor {
    async fn news(&self, scope: &CallScope) -> Vec<String> {
        let house = self.house();
        let handle = RunHandle::of(scope).cloned();
        if let Some(handle) = &handle {
            house.reach(handle);
        }
        // What cannot be read now is told the next time.
        let children = house.children_of(scope).await.unwrap_or_default();
        house.charge(scope, &children).await;
        let mut left: Vec<&ChildRecord> = Vec::new();
        for record in children.iter().filter(|record| record.background && !record.has_ended()) {
            if record.pending().is_empty() || house.is_answered(record.pending()).await {
                left.push(record);
            }
        }
        let sharers = left.len() as u64 + 1;
        for record in left {
            self.spawn(Order {
                record: record.clone(),
                above: scope.clone(),
                call: None,
                is_awaited: false,
                token: CancellationToken::new(),
                sharers,
                draws_on: DrawsOn::Above,
                handle: handle.clone(),
                drive: None,
                apart: None,
            });
        }
        let ended: Vec<ChildRecord> =
            children.into_iter().filter(|record| !house.live.is_driven(&record.run)).collect();
        let transcript = handle.and_then(|handle| handle.transcript().ok());
        house.news_of(&ended, transcript.as_deref()).await
    }
}

/// Is what the supervisor tells runs that it has driven itself, which it outlives.
#[async_trait]
impl News for WeakSupervisor {
    async fn news(&self, scope: &CallScope) -> Vec<String> {
        match self.upgrade() {
            Some(supervisor) => supervisor.news(scope).await,
            None => Vec::new(),
        }
    }
}
