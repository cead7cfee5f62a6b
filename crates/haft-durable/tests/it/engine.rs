//! The smallest engine there can be: it keeps courses in memory, and its worker is in the same process.

use async_trait::async_trait;
use haft_durable::{
    CallCourse, CallKey, CallRequest, DecisionError, Next, Performer, Pool, RoundDecision, in_order,
};
use haft_tools_core::{
    Approval, Batch, BatchOutcome, CallOutcome, Events, HeldCall, PendingCall, Resumption, ResumptionError,
    ToolExecutor,
};
use std::collections::BTreeMap;
use std::sync::Mutex;
use tokio_util::sync::CancellationToken;

pub(crate) struct MemoryEngine {
    performer: Performer,
    pool: Pool,
    courses: Mutex<BTreeMap<CallKey, CallCourse>>,
}

impl MemoryEngine {
    pub(crate) fn new(performer: Performer) -> Self {
        Self { performer, pool: "memory".parse().unwrap(), courses: Mutex::default() }
    }

    /// Goes on with a course until it waits or ends, and keeps what became of it.
    async fn go(&self, mut course: CallCourse, stop: CancellationToken) -> CallOutcome {
        let key = course.request().key().clone();
        while course.next() == Next::Perform {
            course.performed(self.performer.perform(&course, stop.clone()).await);
        }
        let outcome = match (course.next(), course.pending(&self.pool)) {
            (Next::Ended(reply), _) => CallOutcome::Replied(reply.clone()),
            (_, Some(pending)) => CallOutcome::Pending(Box::new(pending)),
            other => panic!("{other:?}"),
        };
        self.courses.lock().unwrap().insert(key, course);
        outcome
    }

    fn decide(&self, pending: &PendingCall, approval: Approval) -> Result<CallCourse, DecisionError> {
        let (_, round) = CallCourse::parse_id(&pending.id).unwrap();
        let mut courses = self.courses.lock().unwrap();
        let course = courses.get_mut(round.call()).ok_or(DecisionError::Over)?;
        course.decided(&RoundDecision::new(round, pending.digest, approval, "d"))?;
        Ok(course.clone())
    }
}

#[async_trait]
impl ToolExecutor for MemoryEngine {
    async fn execute_batch(&self, batch: Batch) -> BatchOutcome {
        let scope = &batch.scope();
        let run = |held: HeldCall, stop| async move {
            let course = CallCourse::new(CallRequest::of_held(scope, held).unwrap());
            self.go(course, stop).await
        };
        in_order(&batch, None, &Events::default(), run).await
    }

    async fn resume(&self, resumption: Resumption) -> Result<CallOutcome, ResumptionError> {
        if resumption.approval().waits() {
            return Ok(CallOutcome::Pending(Box::new(resumption.pending().clone())));
        }
        let id = &resumption.pending().id;
        let course = self.decide(resumption.pending(), resumption.approval().clone());
        let course = course.map_err(|refused| refused.about(id))?;
        let stop = resumption.cancellation().cloned().unwrap_or_default();
        Ok(self.go(course, stop).await)
    }

    async fn give_up(&self, calls: &[PendingCall]) {
        for call in calls {
            // One that was decided meanwhile has gone on.
            let _ = self.decide(call, Approval::Deny { reason: String::new() });
        }
    }
}
