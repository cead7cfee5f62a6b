use crate::arguments::{
    AnswerOptions, ApprovalsCommand, ApproveOptions, DenyOptions, EditOptions, ShowOptions,
};
use crate::exit::{Exit, UsageError};
use crate::kept_state::KeptState;
use crate::outcome::{access_line, short};
use crate::paint::{NAME, QUIET};
use crate::timeline::visible;
use crate::when::{ago, until};
use crate::{call, editor, ids, person, prompt};
use anyhow::Result;
use haft::{Approval, PendingCall, PendingStore as _, Wants};
use serde_json::json;
use std::sync::Arc;

/// Lists, shows and answers the calls that wait.
pub(crate) async fn approvals(command: ApprovalsCommand) -> Result<Exit> {
    let state = KeptState::from_environment();
    state.existing()?;
    match command {
        ApprovalsCommand::List { json } => list(&state, json).await,
        ApprovalsCommand::Show(ShowOptions { id, json }) => {
            let pending = find(&state, &id).await?;
            let answer = state.answer_to(&pending.id).await?;
            show(&pending, answer.as_ref(), json)
        }
        ApprovalsCommand::Approve(ApproveOptions { which: AnswerOptions { id }, term }) => {
            let pending = find(&state, &id).await?;
            let approval = match term {
                None => Approval::Approve,
                Some(_) if !pending.can_be_remembered() => {
                    let message = format!(
                        "the call `{}` has to be asked about each time, so nothing of it can be remembered; approve it without --for",
                        pending.id
                    );
                    return Err(UsageError(message).into());
                }
                Some(term) => Approval::ApproveFor { term: term.into() },
            };
            answer(&state, &pending, approval, "approved").await
        }
        ApprovalsCommand::Deny(DenyOptions { which: AnswerOptions { id }, reason, never }) => {
            let pending = find(&state, &id).await?;
            let reason = reason.unwrap_or_default();
            let approval = match never {
                None => Approval::Deny { reason },
                Some(term) => Approval::Never { term: term.into(), reason },
            };
            answer(&state, &pending, approval, "denied").await
        }
        ApprovalsCommand::Edit(EditOptions { which: AnswerOptions { id }, input }) => {
            let pending = find(&state, &id).await?;
            let input = match input {
                Some(input) => call::read_input(&input)?,
                None if person::at_terminal() => {
                    let Some(input) = editor::edit(&pending.call.input).await? else {
                        anstream::println!("nothing was changed, and the call still waits");
                        return Ok(Exit::Done);
                    };
                    input
                }
                None => {
                    let message = "there is no terminal to edit on; give the arguments with --input JSON";
                    return Err(UsageError(message.to_owned()).into());
                }
            };
            answer(&state, &pending, Approval::Edit { input }, "approved with other arguments").await
        }
    }
}

async fn list(state: &Arc<KeptState>, json: bool) -> Result<Exit> {
    let mut waiting = Vec::new();
    for pending in state.waiting().await? {
        let answer = state.answer_to(&pending.id).await?;
        waiting.push((pending, answer));
    }
    // An answer is gone when its call goes on, which another process may have done meanwhile.
    let still = state.waiting().await?;
    waiting.retain(|(pending, _)| still.iter().any(|still| still.id == pending.id));
    if json {
        let calls: Vec<_> =
            waiting.iter().map(|(pending, answer)| json!({ "call": pending, "answer": answer })).collect();
        anstream::println!("{}", serde_json::to_string_pretty(&calls)?);
        return Ok(Exit::Done);
    }
    if waiting.is_empty() {
        anstream::println!("no call waits");
    }
    for (pending, answer) in &waiting {
        let wants = match &pending.wants {
            Wants::Authentication { .. } => "a sign-in".to_owned(),
            _ => pending.unmet.iter().map(access_line).collect::<Vec<_>>().join(", "),
        };
        let answered = match answer {
            Some(answer) => format!(", {}", named(answer)),
            None if pending.is_expired() => ", expired".to_owned(),
            None => String::new(),
        };
        anstream::println!(
            "{NAME}{}{NAME:#}  {}  {wants}  {QUIET}{}, {}{answered}{QUIET:#}",
            short(pending.id.as_str()),
            visible(&pending.call.name),
            pending.run,
            ago(pending.asked_at_ms)
        );
    }
    Ok(Exit::Done)
}

fn show(pending: &PendingCall, answer: Option<&Approval>, json: bool) -> Result<Exit> {
    if json {
        let shown = json!({ "call": pending, "answer": answer });
        anstream::println!("{}", serde_json::to_string_pretty(&shown)?);
        return Ok(Exit::Done);
    }
    prompt::show(pending, &mut anstream::stdout());
    for unmet in &pending.unmet {
        anstream::println!(
            "\n  {}\n    asked about because: {}",
            visible(&unmet.printed()),
            visible(&unmet.reason)
        );
        match &unmet.grant {
            Some(rule) => anstream::println!("    can be remembered as: {}", visible(rule)),
            None => anstream::println!("    cannot be remembered: each call is asked about"),
        }
    }
    let (id, run) = (&pending.id, &pending.run);
    anstream::println!(
        "\n  {QUIET}id{QUIET:#} {id}  {QUIET}run{QUIET:#} {run}  {QUIET}asked{QUIET:#} {}",
        ago(pending.asked_at_ms)
    );
    if let Some(end) = pending.expires_at_ms {
        anstream::println!("  {QUIET}expires{QUIET:#} {}", until(end));
    }
    if let Some(answer) = answer {
        anstream::println!("  {QUIET}answered{QUIET:#} {}; `haft resume {run}` goes on", named(answer));
    }
    Ok(Exit::Done)
}

/// Keeps an answer, for whoever goes on with the run.
async fn answer(
    state: &Arc<KeptState>,
    pending: &PendingCall,
    approval: Approval,
    said: &str,
) -> Result<Exit> {
    let id = &pending.id;
    if pending.is_expired() && !approval.denies() {
        let message = format!(
            "the call `{id}` has waited too long to be approved; say `haft approvals deny {id}`, and have it asked again"
        );
        return Err(UsageError(message).into());
    }
    if !state.answer(id, &approval).await? {
        return Err(unknown(id.as_str()));
    }
    anstream::println!("{said} `{}`; go on with `haft resume {}`", visible(&pending.call.name), pending.run);
    Ok(Exit::Done)
}

/// Finds a call that waits by its id, or by a beginning that no other has.
async fn find(state: &Arc<KeptState>, id: &str) -> Result<PendingCall> {
    let waiting = state.waiting().await?;
    let ids: Vec<&str> = waiting.iter().map(|pending| pending.id.as_str()).collect();
    let found = ids::pick(id, &ids, "call")?;
    waiting.iter().find(|pending| Some(pending.id.as_str()) == found).cloned().ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> anyhow::Error {
    let message = format!(
        "no call `{id}` waits: it was gone on with before, or it never asked; see those that do with `haft approvals list`"
    );
    UsageError(message).into()
}

fn named(answer: &Approval) -> &'static str {
    match answer {
        Approval::Approve | Approval::ApproveFor { .. } => "approved",
        Approval::Edit { .. } => "approved with other arguments",
        _ => "denied",
    }
}
