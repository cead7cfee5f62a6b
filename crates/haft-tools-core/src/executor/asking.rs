use super::Refusal;
use super::decide::Authorized;
use super::frame::Frame;
use super::local::Shared;
use super::prepare::panicked;
use crate::panicked::discard;
use crate::permission::{Asked, ModeSet, Remembered, call_digest};
use crate::registry::Entry;
use crate::{
    Access, Accesses, Approval, Approver, AskedQuestion, CallScope, Grant, GrantTerm, PendingCall, Prepared,
    Preview, QuestionOutcome, Rule, Unmet, Verdict, Wants,
};
use futures_util::FutureExt as _;
use haft_core::{Decision, Digest, Repair, ReplyStatus, ToolCall};
use serde_json::Value;
use std::panic::AssertUnwindSafe;

/// Says what a person's answer makes of a call.
pub(super) enum Approved {
    /// It may run, exactly as shown.
    Run(Authorized),
    /// It starts over with this input.
    Again(Value),
    /// It waits.
    Waits(Waits),
}

/// Is a call that waits for a person.
pub(super) struct Waits {
    pub(super) pending: Box<PendingCall>,
    /// Whether somebody else than the executor keeps it.
    pub(super) is_kept: bool,
}

/// Why a call is not run that nobody could be asked about.
pub(super) const NO_APPROVER: &str = "nobody can be asked here";

/// Describes, for a person, the call that the policy does not decide, or that they have to do something for.
pub(super) async fn pending_call(
    frame: &Frame,
    modes: ModeSet,
    entry: &Entry,
    call: &ToolCall,
    repairs: &[Repair],
    prepared: &Prepared,
    wants: Wants,
) -> Result<PendingCall, Refusal> {
    let limits = &frame.shared.limits;
    let preview = preview(frame, entry, prepared).await?;
    let accesses = prepared.accesses();
    let asked = Asked {
        wants,
        call,
        repairs,
        accesses,
        unmet: unmet(frame, modes, entry, accesses),
        preview,
        digest: digest(entry, call, prepared, &frame.scope),
        scope: &frame.scope,
        lifetime: limits.approval_lifetime,
    };
    Ok(asked.into())
}

/// Makes what a person is shown of what a call would do.
pub(super) async fn preview(frame: &Frame, entry: &Entry, prepared: &Prepared) -> Result<Preview, Refusal> {
    // The prepared call is dropped if its preview panics, so it cannot be seen in a broken state.
    let preview = AssertUnwindSafe(async { prepared.preview().await }).catch_unwind();
    match tokio::time::timeout(frame.shared.limits.timeout, preview).await {
        Ok(Ok(preview)) => Ok(preview.redacted(&frame.shared.redactor).bounded()),
        Ok(Err(payload)) => {
            discard(payload);
            Err(panicked(entry.name()))
        }
        // The arguments and accesses say what the call is about, so a person can be asked without it.
        Err(_) => Ok(Preview::Arguments),
    }
}

/// Lists what has to be asked about, each with the rule that a grant would hold.
pub(super) fn unmet(frame: &Frame, modes: ModeSet, entry: &Entry, accesses: &Accesses) -> Vec<Unmet> {
    let language = frame.shared.policy.rule_language();
    let suggest = |access: Option<&Access>| match access {
        Some(access) => language.suggest(access).map(|rule| rule.to_string()),
        // What is remembered is read back as a rule, where some names stand for something else.
        None => language
            .rule(entry.spec.name().as_str())
            .ok()
            .filter(Rule::chooses_tools)
            .map(|rule| rule.to_string()),
    };
    let verdicts = frame.explain(modes, &entry.spec, accesses);
    let asked = verdicts.iter().filter(|verdict| verdict.decision() == Decision::Ask);
    asked
        .map(|verdict| {
            let access = verdict.access();
            Unmet::new(access.cloned(), verdict.explain(language).reason, suggest(access))
        })
        .collect()
}

/// Tells what people have answered before about a call that has to be asked about, or that only the mode allows.
///
/// # Errors
///
/// When that cannot be read: somebody may have said that the call is never to be done.
pub(super) async fn recall(
    frame: &Frame,
    modes: ModeSet,
    entry: &Entry,
    prepared: &Prepared,
) -> Result<Remembered, Refusal> {
    let Shared { policy, grants, .. } = &*frame.shared;
    let verdicts = frame.explain(modes, &entry.spec, prepared.accesses());
    let chosen = |choose: fn(&Verdict<'_>) -> bool| -> Vec<Option<&Access>> {
        verdicts.iter().filter(|verdict| choose(verdict)).map(Verdict::access).collect()
    };
    let asked = chosen(|verdict| verdict.decision() == Decision::Ask);
    let by_mode = chosen(|verdict| verdict.decision() == Decision::Allow && verdict.mode().is_some());
    let recalled = grants.recall(policy.rule_language(), &frame.scope, &entry.spec, &asked, &by_mode).await;
    recalled.map_err(|error| {
        let error = &error as &dyn std::error::Error;
        tracing::error!(error, "the grants cannot be read, so the call is refused");
        Refusal::new(
            ReplyStatus::Denied,
            "the host cannot read at the moment what people have answered before, and runs nothing that may have been \
             forbidden; nothing was done, so say so and stop",
        )
    })
}

/// Remembers a person's approval, if they want it to be: of what they were shown, that which had to be asked about.
pub(super) async fn remember(
    frame: &Frame,
    modes: ModeSet,
    entry: &Entry,
    prepared: &Prepared,
    approval: &Approval,
    pending: &PendingCall,
) {
    match approval {
        Approval::ApproveFor { term } if pending.can_be_remembered() => {
            let mut asked = unmet(frame, modes, entry, prepared.accesses());
            asked.retain(|unmet| pending.unmet.contains(unmet));
            keep(frame, Decision::Allow, *term, &asked).await;
        }
        approval => remember_denial(frame, approval, pending).await,
    }
}

/// Remembers that a person never wants to be asked about this again, if they said so.
pub(super) async fn remember_denial(frame: &Frame, approval: &Approval, pending: &PendingCall) {
    if let Approval::Never { term, .. } = approval {
        keep(frame, Decision::Deny, *term, &pending.unmet).await;
    }
}

async fn keep(frame: &Frame, decision: Decision, term: GrantTerm, unmet: &[Unmet]) {
    if let Err(error) = frame.shared.grants.remember(decision, term, &frame.scope, unmet).await {
        let error = &error as &dyn std::error::Error;
        tracing::error!(error, "an answer cannot be remembered, so the next call is asked about again");
    }
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

/// Puts a question of a running call; an approver that breaks has not answered.
pub(crate) async fn ask_person(frame: &Frame, question: &AskedQuestion) -> QuestionOutcome {
    let approver = frame.approver();
    let response = AssertUnwindSafe(async { approver.answer(question).await }).catch_unwind().await;
    response.unwrap_or_else(|payload| {
        discard(payload);
        QuestionOutcome::Nobody
    })
}

pub(super) fn digest(entry: &Entry, call: &ToolCall, prepared: &Prepared, scope: &CallScope) -> Digest {
    call_digest(entry.version(), call, prepared.accesses(), scope)
}

/// Answers a call that is not approved.
pub(super) fn unapproved(approval: &Approval) -> Refusal {
    match approval {
        Approval::Deny { reason } | Approval::Never { reason, .. } => not_approved(reason),
        Approval::TimedOut { after_ms } => Refusal::new(
            ReplyStatus::Denied,
            format!(
                "nobody answered within {} s whether this call may run, so it was not run; go on without it, or ask again \
                 later",
                after_ms.div_ceil(1000)
            ),
        ),
        _ => not_approved(NO_APPROVER),
    }
}

/// Answers a call that a person does not want to be asked about again.
pub(super) fn never(grant: &Grant) -> Refusal {
    Refusal::new(
        ReplyStatus::Denied,
        format!(
            "the user has said before that this is never to be done (`{}`); do not try it again, find another way",
            grant.rule
        ),
    )
}

/// Tells the model that what ran is not what it asked for.
pub(super) fn edited(from: &Value, to: &Value) -> Repair {
    Repair::new("", from.clone(), Some(to.clone()), "edited by the user, who then approved the call")
}

/// Answers a call that a person denied.
fn not_approved(reason: &str) -> Refusal {
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    Refusal::new(
        ReplyStatus::Denied,
        format!(
            "this call was not approved{because}; do not repeat it, find another way or say what you would need"
        ),
    )
}
