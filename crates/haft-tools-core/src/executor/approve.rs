use super::Refusal;
use super::decide::Authorized;
use super::frame::Frame;
use super::prepare::panicked;
use crate::panicked::discard;
use crate::permission::call_digest;
use crate::registry::Entry;
use crate::{Access, Approval, Approver, CallScope, PendingCall, Prepared, Preview};
use futures_util::FutureExt as _;
use haft_core::{Decision, Digest, Repair, ReplyStatus, ToolCall};
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// Says what a person's answer makes of a call.
pub(super) enum Approved {
    /// It may run, exactly as shown.
    Run(Authorized),
    /// It starts over with this input.
    Again(Value),
    /// It waits.
    Waits(Box<PendingCall>),
}

/// Describes, for a person, the call that the policy does not decide.
pub(super) async fn pending_call(
    frame: &Frame,
    entry: &Entry,
    call: &ToolCall,
    repairs: &[Repair],
    prepared: &Prepared,
    most_time: Duration,
) -> Result<PendingCall, Refusal> {
    // The prepared call is dropped if its preview panics, so it cannot be seen in a broken state.
    let preview = AssertUnwindSafe(async { prepared.preview().await }).catch_unwind();
    let preview = match tokio::time::timeout(most_time, preview).await {
        Ok(Ok(preview)) => preview.bounded(),
        Ok(Err(payload)) => {
            discard(payload);
            return Err(panicked(&entry.name));
        }
        // The arguments and accesses say what the call is about, so a person can be asked without it.
        Err(_) => Preview::Arguments,
    };
    let scope = &frame.scope;
    let verdicts = frame.explain(&entry.spec, prepared.accesses());
    let unmet: Vec<Access> = verdicts
        .iter()
        .filter(|verdict| verdict.decision() == Decision::Ask)
        .filter_map(|verdict| verdict.access().cloned())
        .collect();
    Ok(PendingCall {
        call: call.clone(),
        repairs: repairs.to_vec(),
        run: scope.run().clone(),
        agent: scope.agent().map(str::to_owned),
        accesses: prepared.accesses().clone(),
        unmet,
        preview,
        digest: digest(entry, call, prepared, scope),
        layers: Vec::new(),
        input_by: None,
        context: Vec::new(),
    })
}

/// Asks the approver; one that breaks has not approved.
pub(super) async fn ask(approver: &dyn Approver, pending: &PendingCall) -> Approval {
    // The approver is only used again through a shared reference, as it would be by another call at the same time.
    let answer = AssertUnwindSafe(async { approver.approve(pending).await }).catch_unwind().await;
    answer.unwrap_or_else(|payload| {
        discard(payload);
        Approval::Deny { reason: "the question could not be put".to_owned() }
    })
}

pub(super) fn digest(entry: &Entry, call: &ToolCall, prepared: &Prepared, scope: &CallScope) -> Digest {
    call_digest(entry.version(), call, prepared.accesses(), scope)
}

/// Applies a person's answer to the very call that they were shown.
pub(super) fn apply(
    approval: Approval,
    prepared: Prepared,
    pending: PendingCall,
) -> Result<Approved, Refusal> {
    match approval {
        Approval::Approve => Ok(Approved::Run(Authorized::by_approval(prepared))),
        Approval::Edit { input } => Ok(Approved::Again(input)),
        Approval::Later => Ok(Approved::Waits(Box::new(pending))),
        Approval::Deny { reason } => Err(not_approved(&reason)),
    }
}

/// Tells the model that what ran is not what it asked for.
pub(super) fn edited(from: &Value, to: &Value) -> Repair {
    Repair::new("", from.clone(), Some(to.clone()), "edited by the person who approved the call")
}

/// Answers a call that a person denied.
pub(super) fn not_approved(reason: &str) -> Refusal {
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    Refusal::new(
        ReplyStatus::Denied,
        format!(
            "this call was not approved{because}; do not repeat it, find another way or say what you would need"
        ),
    )
}
