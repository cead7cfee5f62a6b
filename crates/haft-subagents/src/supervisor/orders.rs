//! Makes runs of what a call asks for.

use super::drive::{DrawsOn, Order};
use super::house::{House, root_of};
use super::identity::child_run;
use crate::{ChildRecord, ChildStatus, ToldBy};
use haft_agent::{DelegateAgents, DelegateCall, DelegateTask, Purse, RunHandle, Spent};
use haft_core::ToolError;
use haft_tools_core::{CallContext, CallScope, StoreError, now_ms};

/// Is the call of a run that starts others, or looks after those it has started.
pub(crate) struct Caller<'a> {
    cx: &'a CallContext,
    /// Reaches its run, where an agent drives that.
    pub(crate) handle: Option<RunHandle>,
}

impl<'a> Caller<'a> {
    pub(crate) fn new(cx: &'a CallContext, house: &House) -> Self {
        let handle = RunHandle::of(cx.scope()).cloned();
        if let Some(handle) = &handle {
            house.reach(handle);
        }
        Self { cx, handle }
    }

    /// How many messages there were when the call was made, where that is known.
    fn after_messages(&self) -> Option<u64> {
        self.handle.as_ref()?.transcript().ok().map(|transcript| transcript.len() as u64)
    }

    /// How its run is told of others by the answer to the call.
    pub(crate) fn told_by(&self) -> ToldBy {
        ToldBy::Call { call: self.cx.call_id().clone(), after_messages: self.after_messages() }
    }

    /// Takes note of what became of runs in the background meanwhile: the run of the call is told, and its budget charged.
    pub(crate) async fn catch_up(&self, house: &House) {
        let children = house.children_of(self.cx.scope()).await.unwrap_or_default();
        house.charge(self.cx.scope(), &children).await;
        let Some(handle) = &self.handle else { return };
        for record in children.iter().filter(|record| record.is_untold()) {
            if !house.live.is_driven(&record.run) && !house.live.is_waited_for(&record.run) {
                house.tell_run(handle, record).await;
            }
        }
    }

    /// Has a run driven while the call waits for it.
    pub(crate) fn attended(&self, record: ChildRecord, sharers: u64) -> Order {
        let (cx, token) = (self.cx, self.cx.cancellation().child_token());
        Order {
            record,
            above: cx.scope().clone(),
            call: Some(cx.clone()),
            is_awaited: true,
            token,
            sharers,
            draws_on: DrawsOn::Above,
            handle: self.handle.clone(),
            drive: None,
            apart: None,
        }
    }

    /// Has a run driven that the call does not wait for, and that is cancelled with the run of the call all the same.
    pub(crate) fn apart(&self, record: ChildRecord, sharers: u64) -> Order {
        Order { is_awaited: false, ..self.attended(record, sharers) }
    }
}

impl House {
    /// Finds the runs of a call, or keeps that they are wanted, in the order of its tasks.
    pub(crate) async fn wanted(
        &self,
        caller: &Caller<'_>,
        DelegateCall { tasks, background, .. }: DelegateCall,
    ) -> Result<Vec<ChildRecord>, ToolError> {
        let cx = caller.cx;
        let (scope, after_messages) = (cx.scope(), caller.after_messages());
        self.deep_enough(scope)?;
        // Calls of one turn are made at once, and count together.
        let _writing = self.writing.lock().await;
        let known = self.children_of(scope).await.map_err(|error| unreadable(&error))?;
        let place = (scope.run(), cx.call_id(), after_messages);
        let parent = self.store.get(scope.run()).await.map_err(|error| unreadable(&error))?;
        let above = parent.map(|parent| format!("{}/", parent.path)).unwrap_or_default();
        let budget = scope.extension::<Purse>().map(Purse::unspent).unwrap_or_default();
        let new: Vec<ChildRecord> = tasks
            .into_iter()
            .enumerate()
            .map(|(index, DelegateTask { agent, task, .. })| ChildRecord {
                version: ChildRecord::VERSION,
                run: child_run(place, index, &agent, &task),
                parent: scope.run().clone(),
                root: root_of(scope).clone(),
                depth: scope.depth() + 1,
                call: cx.call_id().clone(),
                place: index,
                path: format!("{above}{}/{index}", cx.call_id()),
                after_messages,
                agent: agent.to_string(),
                task,
                background,
                status: ChildStatus::Queued,
                inbox: Vec::new(),
                handed: None,
                told: false,
                told_by: None,
                budget,
                spent: Spent::default(),
                started_at_ms: now_ms(),
                ended_at_ms: None,
            })
            .collect();
        let added = new.iter().filter(|record| known.iter().all(|known| known.run != record.run)).count();
        let most = self.limits.children;
        if added > 0 && known.len() + added > most {
            let left = most.saturating_sub(known.len());
            return Err(ToolError::denied(format!(
                "this run may start {most} others in all, and has {left} left to start; {}",
                if left == 0 { "do the rest yourself" } else { "delegate fewer tasks" }
            )));
        }
        let mut records = Vec::with_capacity(new.len());
        for record in new {
            if let Some(known) = known.iter().find(|known| known.run == record.run) {
                records.push(known.clone());
                continue;
            }
            self.store.put(&record).await.map_err(|error| unreadable(&error))?;
            records.push(record);
        }
        Ok(records)
    }

    /// Refuses to have a run start others where it is as deep as runs may be.
    pub(crate) fn deep_enough(&self, scope: &CallScope) -> Result<(), ToolError> {
        DelegateAgents::deep_enough(scope, self.depth(scope))
    }

    /// Takes from the budget of a run what those it has started have spent and it does not count yet, and sets aside what those
    /// may spend that are driven since it was at work last.
    pub(crate) async fn charge(&self, scope: &CallScope, children: &[ChildRecord]) {
        let Some(purse) = scope.extension::<Purse>() else { return };
        for record in children {
            // What cannot be read now is counted the next time.
            let is_driven = self.live.is_driven(&record.run);
            let noted = if is_driven { Ok(record.clone()) } else { self.note_spent(record).await };
            let Ok(record) = noted else { continue };
            purse.count(&record.run, record.spent);
            self.apart.pay(&record.run, purse);
        }
    }
}

/// Tells a model that what is kept of runs cannot be reached.
pub(crate) fn unreadable(error: &StoreError) -> ToolError {
    ToolError::unavailable("the runs of agents cannot be read or kept at the moment; say so and stop")
        .with_source(haft_core::with_causes(error))
}
