//! Keeps what became of a run, and tells those who want to know.

use super::drive::Order;
use super::house::House;
use super::telling::turns;
use crate::{AgentSpec, ChildEnd, ChildOutcome, ChildRecord, ChildResult, ChildStatus, ToldBy};
use haft_agent::{RunHandle, Spent, SteerWhen};
use haft_core::EventKind;
use haft_tools_core::{CallScope, PendingCall, StoreError};
use std::sync::Arc;

/// Is the model that runs below are to work with, by the name that the nearest agent above them gives.
#[derive(Debug, Clone)]
pub(crate) struct ModelName(pub(crate) Arc<str>);

impl House {
    /// Drives a run that nobody waits for, and tells its parent when it has ended.
    pub(super) async fn drive_apart(&self, order: Order) -> ChildRecord {
        let handle = order.handle.clone();
        let record = self.drive(order).await;
        if !record.has_ended() || record.told || self.live.is_waited_for(&record.run) {
            return record;
        }
        if let Some(handle) = self.handle_of(&record).or(handle) {
            self.tell_run(&handle, &record).await;
        }
        record
    }

    /// Tells a run at work that one it has started in the background has ended, unless it was told.
    pub(super) async fn tell_run(&self, handle: &RunHandle, record: &ChildRecord) {
        // One that is not at work is told before its next turn.
        let Ok(transcript) = handle.transcript() else { return };
        let by = ToldBy::Message { after_messages: Some(transcript.len() as u64) };
        drop(transcript);
        // Whoever is told first has told it: a call that waits for the run may have done so.
        if !self.take_news(record, by.clone()).await {
            return;
        }
        // It may be asked for news before it is known after which turn it was told.
        self.given.say(record, usize::MAX);
        if handle.steer(crate::tools::news(record), SteerWhen::AfterTurn).is_err() {
            self.given.forget(&record.run);
            let untold = self.update(&record.run, |record| {
                if record.told_by.as_ref() == Some(&by) {
                    (record.told, record.told_by) = (false, None);
                }
            });
            let _ = untold.await;
            return;
        }
        match handle.transcript() {
            Ok(transcript) => self.given.say(record, turns(&transcript)),
            Err(_) => self.given.forget(&record.run),
        }
    }

    /// Keeps what became of a run that was driven, and was told so many of the messages that waited for it.
    pub(super) async fn settled(
        &self,
        order: &Order,
        outcome: ChildOutcome,
        spent: Spent,
        said: usize,
    ) -> Result<ChildRecord, StoreError> {
        let (status, result) = match outcome {
            ChildOutcome::Waiting(calls) => (Some(ChildStatus::Waiting { calls }), None),
            ChildOutcome::Ended(result) => (None, Some(result)),
        };
        let record = self
            .update(&order.record.run, |record| {
                record.spent = spent;
                record.hand_inbox(said, None);
                if let Some(status) = status {
                    record.status = status;
                }
            })
            .await?;
        match result {
            Some(result) => self.ended(order, result).await,
            None => Ok(record),
        }
    }

    /// Keeps how a run ended, tells observers, and ends what it has left behind; one that was told something meanwhile goes
    /// on with that.
    pub(super) async fn ended(&self, order: &Order, result: ChildResult) -> Result<ChildRecord, StoreError> {
        let can_go_on =
            matches!(result.end, ChildEnd::Done | ChildEnd::Stopped { .. }) && !order.token.is_cancelled();
        let above = &order.above;
        let record = self.end(&order.record, can_go_on, result, |_| above.clone()).await?;
        if record.has_ended() {
            self.abandon_below(&record.root, &record.run).await?;
        }
        Ok(record)
    }

    /// Keeps how a run ended, tells observers, and takes back what people were asked for it.
    pub(super) async fn end(
        &self,
        record: &ChildRecord,
        can_go_on: bool,
        result: ChildResult,
        above: impl FnOnce(&ChildRecord) -> CallScope,
    ) -> Result<ChildRecord, StoreError> {
        let mut before = None;
        let record = self
            .update(&record.run, |record| {
                if record.has_ended() {
                    return;
                }
                before = Some(record.status.clone());
                (record.told, record.told_by) = (false, None);
                if can_go_on && !record.inbox.is_empty() {
                    record.status = ChildStatus::Queued;
                } else {
                    record.end(result);
                }
            })
            .await?;
        let Some(before) = before else { return Ok(record) };
        if let ChildStatus::Waiting { calls } = &before {
            self.withdraw(calls).await;
        }
        let scope = above(&record).child(record.run.clone()).with_agent(record.agent.as_str());
        if before == ChildStatus::Queued {
            self.tell_begun(&scope, &record);
        }
        let (end, detail) = match record.result() {
            Some(result) => (result.end.name(), result.detail.clone()),
            None => (ChildEnd::Done.name(), None),
        };
        self.events.emit(&scope, None, || EventKind::RunEnded {
            agent: record.agent.clone(),
            end: end.to_owned(),
            detail,
        });
        self.live.changed();
        Ok(record)
    }

    /// Takes back what people were asked, since nobody would do anything with their answers.
    pub(super) async fn withdraw(&self, calls: &[PendingCall]) {
        if let Some(runner) = self.runner.get() {
            runner.withdraw(calls).await;
        }
    }

    /// Tells observers that a run begins, or begins with a further task.
    pub(super) fn tell_begun(&self, scope: &CallScope, record: &ChildRecord) {
        let (agent, background) = (record.agent.clone(), record.background);
        self.events.emit(scope, None, || EventKind::RunStarted { agent, background });
    }
}

/// The scope of a run below that of the run that has started it, by what its agent is given.
pub(super) fn named(above: &CallScope, record: &ChildRecord, spec: &AgentSpec) -> CallScope {
    let mut scope = above.child(record.run.clone()).with_agent(spec.name.as_str());
    if let Some(mode) = spec.mode {
        scope = scope.with_mode(mode);
    }
    if let Some(model) = &spec.model {
        scope = scope.with_extension(ModelName(Arc::clone(model)));
    }
    scope
}
