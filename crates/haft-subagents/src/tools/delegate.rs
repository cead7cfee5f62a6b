use super::closed;
use super::outcome::{reply, started};
use crate::ChildRecord;
use crate::supervisor::{Attended, Caller, House, WeakSupervisor};
use async_trait::async_trait;
use futures_util::future::try_join_all;
use haft_agent::{DelegateAgents, DelegateCall};
use haft_core::{ToolError, ToolErrorKind, ToolOutput, ToolSpec};
use haft_tools_core::{Action, CallContext, CallScope, PendingCall, Prepared, Preview, Tool};
use serde_json::Value;

/// What the model is told of tasks in the background.
const BACKGROUND: &str =
    "With `background` you go on at once, and are told when an agent is done; `wait_agents` waits for it.";

pub(super) struct Delegate {
    spec: ToolSpec,
    agents: DelegateAgents,
    supervisor: WeakSupervisor,
}

impl Delegate {
    pub(super) fn new(supervisor: &WeakSupervisor, house: &House) -> Self {
        let none = DelegateAgents::new().tasks(house.limits.tasks).in_background(BACKGROUND);
        let all = house.agents.values();
        let agents = all.fold(none, |agents, agent| agents.agent(agent.name.clone(), &*agent.description));
        Self { spec: agents.spec(), agents, supervisor: supervisor.clone() }
    }
}

#[async_trait]
impl Tool for Delegate {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, scope: &CallScope) -> Result<Prepared, ToolError> {
        let supervisor = self.supervisor.upgrade().ok_or_else(closed)?;
        supervisor.house().deep_enough(scope)?;
        let call = self.agents.read(input)?;
        let accesses = call.accesses();
        Ok(Prepared::new(accesses, Start { supervisor: self.supervisor.clone(), call }))
    }

    /// Ends the runs that the call has left to wait.
    async fn given_up(&self, waited: &PendingCall, scope: &CallScope) {
        let Some(supervisor) = self.supervisor.upgrade() else { return };
        supervisor.house().give_up(waited, scope).await;
    }
}

struct Start {
    supervisor: WeakSupervisor,
    call: DelegateCall,
}

#[async_trait]
impl Action for Start {
    async fn preview(&self) -> Preview {
        self.call.preview()
    }

    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let supervisor = self.supervisor.upgrade().ok_or_else(closed)?;
        let house = supervisor.house();
        let caller = Caller::new(&cx, house);
        caller.catch_up(house).await;
        let background = self.call.background;
        let records = house.wanted(&caller, self.call).await?;
        let sharers = records.iter().filter(|record| !record.has_ended()).count() as u64;
        if background {
            for record in records.iter().filter(|record| !record.has_ended()) {
                // The run that goes on shares with those it has started.
                supervisor.spawn(caller.apart(record.clone(), sharers + 1));
            }
            return Ok(started(&records));
        }
        let work: Vec<Attended> = records
            .into_iter()
            .map(|record| supervisor.attend(caller.attended(record, sharers.max(1))))
            .collect();
        let work = try_join_all(work.into_iter().map(Attended::wait));
        let records: Vec<ChildRecord> = house.away(&cx, work).await?;
        let waiting: Vec<PendingCall> =
            records.iter().flat_map(|record| record.pending().iter().cloned()).collect();
        if !waiting.is_empty() {
            let waits = cx.wait_for(waiting);
            if waits.kind() != ToolErrorKind::Denied {
                // It is too much to be waited for, and nobody else would go on with it.
                for record in records.iter().filter(|record| !record.has_ended()) {
                    house.give_up_run(record).await?;
                }
            }
            return Err(waits);
        }
        if cx.cancellation().is_cancelled() {
            return Err(ToolError::cancelled(
                "the agents were cancelled before they were done; see with `list_agents` how far each got before you delegate again",
            ));
        }
        house.tell(&records, &caller.told_by()).await;
        reply(&records)
    }
}
