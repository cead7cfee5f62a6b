use super::Refusal;
use super::decide::Authorized;
use crate::permission::call_digest;
use crate::registry::Entry;
use crate::{Access, Approval, CallScope, PendingCall, Policy, Prepared};
use haft_core::{Decision, Digest, ReplyStatus, ToolCall};
use serde_json::Value;

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
    policy: &Policy,
    entry: &Entry,
    call: &ToolCall,
    prepared: &Prepared,
    scope: &CallScope,
) -> PendingCall {
    let verdicts = policy.explain(&entry.spec, prepared.accesses());
    let unmet: Vec<Access> = verdicts
        .iter()
        .filter(|verdict| verdict.decision() == Decision::Ask)
        .filter_map(|verdict| verdict.access().cloned())
        .collect();
    PendingCall {
        call: call.clone(),
        run: scope.run().clone(),
        agent: scope.agent().map(str::to_owned),
        accesses: prepared.accesses().clone(),
        unmet,
        preview: prepared.preview().await,
        digest: digest(entry, call, prepared, scope),
    }
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

/// Answers a call that a person denied.
pub(super) fn not_approved(reason: &str) -> Refusal {
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    Refusal::new(
        ReplyStatus::Denied,
        format!("this call was not approved{because}; do not repeat it, find another way or ask what to do"),
    )
}
