use super::random::random_name;
use super::running::Running;
use super::{Again, relay::Relay, to_the_end};
use crate::server::ask::Ask;
use crate::server::caller::Principal;
use crate::server::line::{Line as _, Served};
use haft_core::ReplyStatus;
use haft_tools_core::now_ms;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

/// Bounds the calls that go on as tasks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskLimits {
    /// After how long a call becomes one, if its client can be answered so.
    pub(crate) after: Duration,
    pub(crate) of_principal: usize,
    /// For how long the end of one is told.
    pub(crate) kept: Duration,
}

impl Default for TaskLimits {
    /// After 10 s; 100 of each principal; the end is told for 5 minutes.
    fn default() -> Self {
        Self { after: Duration::from_secs(10), of_principal: 100, kept: Duration::from_mins(5) }
    }
}

/// Says what became of a task.
#[derive(Clone)]
pub(crate) enum TaskStatus {
    Working,
    /// It asks; `tasks/update` answers.
    Asks(Vec<Ask>),
    Done(Arc<Served>),
    Cancelled,
}

/// Is a task as its owner is told of it.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) name: String,
    pub(crate) status: TaskStatus,
    /// In milliseconds since the Unix epoch.
    pub(crate) began_at_ms: u64,
    pub(crate) changed_at_ms: u64,
    /// For how long its end is told.
    pub(crate) kept: Duration,
}

/// Holds the calls that go on after their request was answered; only who made one is told of it.
///
/// They are of this instance: another one knows none of them. One that is dropped is cancelled.
#[derive(Default)]
pub(crate) struct Tasks {
    limits: TaskLimits,
    known: Mutex<HashMap<String, Entry>>,
    /// Those that have not ended.
    running: TaskTracker,
}

struct Entry {
    principal: Principal,
    relay: Arc<Relay>,
    began_at_ms: u64,
    ended: Option<(u64, TaskStatus)>,
    _work: AbortOnDropHandle<()>,
}

impl Tasks {
    pub(super) fn within(limits: TaskLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    pub(super) fn after(&self) -> Duration {
        self.limits.after
    }

    /// Takes over a call; gives it back if its principal has too many.
    pub(super) fn put(
        self: &Arc<Self>,
        principal: &Principal,
        running: Running,
        again: Again,
    ) -> Result<String, Running> {
        let mut tasks = self.tasks();
        let of_principal = tasks.values().filter(|entry| entry.principal == *principal).count();
        if of_principal >= self.limits.of_principal {
            return Err(running);
        }
        let name = random_name();
        let relay = Arc::clone(&running.relay);
        relay.leave();
        let (owner, of, kept) = (Arc::downgrade(self), name.clone(), self.limits.kept);
        let is_running = self.running.token();
        let work = tokio::spawn(async move {
            let Again { toolset, call } = again;
            let status = match to_the_end(&toolset, call, running).await {
                Served::Reply(reply) if reply.status == ReplyStatus::Cancelled => TaskStatus::Cancelled,
                served => TaskStatus::Done(Arc::new(served)),
            };
            if let Some(tasks) = owner.upgrade() {
                tasks.end(&of, status);
            }
            // Only what is told of its end is kept.
            drop((toolset, is_running));
            tokio::time::sleep(kept).await;
            let over = owner.upgrade().and_then(|tasks| tasks.tasks().remove(&of));
            drop(over);
        });
        let entry = Entry {
            principal: principal.clone(),
            relay,
            began_at_ms: now_ms(),
            ended: None,
            _work: AbortOnDropHandle::new(work),
        };
        tasks.insert(name.clone(), entry);
        Ok(name)
    }

    /// Tells of a task; `None` if this principal has none of this name.
    pub(crate) fn get(&self, name: &str, principal: &Principal) -> Option<Task> {
        let tasks = self.tasks();
        let entry = tasks.get(name).filter(|entry| entry.principal == *principal)?;
        let (changed_at_ms, status) = entry.ended.clone().unwrap_or_else(|| {
            let asks = entry.relay.open();
            let status = if asks.is_empty() { TaskStatus::Working } else { TaskStatus::Asks(asks) };
            (entry.began_at_ms, status)
        });
        let (name, began_at_ms, kept) = (name.to_owned(), entry.began_at_ms, self.limits.kept);
        Some(Task { name, status, began_at_ms, changed_at_ms, kept })
    }

    /// Answers what a task asks; what is no answer, or not asked, is passed over.
    pub(crate) fn update(
        &self,
        name: &str,
        principal: &Principal,
        answers: BTreeMap<String, Value>,
    ) -> Option<()> {
        let relay = self.relay(name, principal)?;
        relay.answer(answers);
        Some(())
    }

    /// Cancels a task; one that has ended stays as it is.
    pub(crate) fn cancel(&self, name: &str, principal: &Principal) -> Option<()> {
        let relay = self.relay(name, principal)?;
        relay.cancellation().cancel();
        Some(())
    }

    /// Cancels all tasks, and waits until they have ended.
    pub(super) async fn stop(&self) {
        for entry in self.tasks().values() {
            entry.relay.cancellation().cancel();
        }
        self.running.close();
        self.running.wait().await;
    }

    fn relay(&self, name: &str, principal: &Principal) -> Option<Arc<Relay>> {
        let tasks = self.tasks();
        let entry = tasks.get(name).filter(|entry| entry.principal == *principal)?;
        Some(Arc::clone(&entry.relay))
    }

    fn end(&self, name: &str, status: TaskStatus) {
        if let Some(entry) = self.tasks().get_mut(name) {
            entry.ended = Some((now_ms(), status));
        }
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
