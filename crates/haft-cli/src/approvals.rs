use crate::arguments::{
    AnswerOptions, ApprovalsCommand, ApproveOptions, DenyOptions, EditOptions, ShowOptions,
};
use crate::exit::{Exit, UsageError};
use crate::kept_state::{KeptState, why};
use crate::mcp::offered::Wanted;
use crate::offered::{WantedTools, offer};
use crate::outcome::{access_line, short};
use crate::paint::{BAD, NAME, QUIET};
use crate::task::{self, Task};
use crate::timeline::visible;
use crate::when::{ago, until};
use crate::{call, editor, ids, own_place, person, prompt, setup};
use anyhow::Result;
use haft::store::PendingEntry;
use haft::{Approval, PendingCall, PendingStore as _, Wants};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Lists, shows and answers the calls that wait.
pub(crate) async fn approvals(command: ApprovalsCommand) -> Result<Exit> {
    let state = KeptState::from_environment()?;
    match command {
        ApprovalsCommand::List { json } => list(&state, json).await,
        ApprovalsCommand::Show(ShowOptions { id, json }) => {
            let entry = find(&state, &id).await?;
            show(read(&entry)?, &entry, json)
        }
        ApprovalsCommand::Approve(ApproveOptions { which: AnswerOptions { id }, term }) => {
            let entry = find(&state, &id).await?;
            let pending = asked_about(&entry)?;
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
            answer(&state, &entry, approval, "approved").await
        }
        ApprovalsCommand::Deny(DenyOptions { which: AnswerOptions { id }, reason, never }) => {
            let entry = find(&state, &id).await?;
            let reason = reason.unwrap_or_default();
            let approval = match never {
                None => Approval::Deny { reason },
                Some(term) => {
                    if read(&entry)?.unmet.iter().all(|unmet| unmet.grant.is_none()) {
                        let message = format!(
                            "nothing of the call `{}` can be remembered, since each such call has to be asked about; deny it \
                             without --never",
                            entry.id
                        );
                        return Err(UsageError(message).into());
                    }
                    Approval::Never { term: term.into(), reason }
                }
            };
            answer(&state, &entry, approval, "denied").await
        }
        ApprovalsCommand::Edit(EditOptions { which: AnswerOptions { id }, input }) => {
            let entry = find(&state, &id).await?;
            let pending = asked_about(&entry)?;
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
            if let Ok(task) = Task::kept(&entry.host) {
                let workdir = task.open_workdir(&entry.top.parse()?)?;
                let tools = setup::registry_of_runs(&workdir)?;
                let wanted = Wanted::Of(&pending.call.name);
                let wanted = WantedTools::new(wanted, task.no_mcp, task.no_openapi);
                let (tools, servers) = offer(&workdir, tools, wanted).await?;
                servers.stop().await;
                if let Some(refusal) = editor::refusal(&tools, pending, &input) {
                    editor::print_refusal(&refusal);
                    let message =
                        format!("the call `{id}` cannot be made with these arguments, and waits as it was");
                    return Err(UsageError(message).into());
                }
            }
            answer(&state, &entry, Approval::Edit { input }, "approved with other arguments").await
        }
    }
}

async fn list(state: &Arc<KeptState>, json: bool) -> Result<Exit> {
    let mut waiting = state.calls().await?;
    // Of a call that waits for others, these are what a person can answer.
    waiting.retain(|entry| !entry.call.as_ref().is_ok_and(PendingCall::waits_below));
    if json {
        let calls: Vec<Value> = waiting.iter().map(as_json).collect();
        anstream::println!("{}", serde_json::to_string_pretty(&calls)?);
        return Ok(Exit::Done);
    }
    if waiting.is_empty() {
        anstream::println!("no call waits");
    }
    for entry in &waiting {
        let (id, asked) = (short(entry.id.as_str()), ago(entry.asked_at_ms));
        let run = visible(&match workdir(entry) {
            Some(workdir) => format!("{} in {}", who(entry), workdir.display()),
            None => who(entry),
        });
        let answered = match &entry.answer {
            Ok(Some(answer)) => format!(", {}", named(answer)),
            Ok(None) => String::new(),
            Err(_) => ", with an answer that cannot be read".to_owned(),
        };
        let pending = match &entry.call {
            Ok(pending) => pending,
            Err(fault) => {
                let why = visible(&why(fault));
                anstream::println!(
                    "{NAME}{id}{NAME:#}  {BAD}cannot be read{BAD:#}: {why}  {QUIET}{run}, {asked}{answered}{QUIET:#}"
                );
                continue;
            }
        };
        let wants = match &pending.wants {
            Wants::Authentication { .. } => "a sign-in".to_owned(),
            _ => pending.unmet.iter().map(access_line).collect::<Vec<_>>().join(", "),
        };
        let expired = if pending.is_expired() { ", expired" } else { "" };
        let name = visible(&pending.call.name);
        anstream::println!(
            "{NAME}{id}{NAME:#}  {name}  {wants}  {QUIET}{run}, {asked}{expired}{answered}{QUIET:#}"
        );
    }
    Ok(Exit::Done)
}

fn as_json(entry: &PendingEntry) -> Value {
    let answer = entry.answer.as_ref().ok().and_then(Option::as_ref);
    let workdir = workdir(entry);
    match &entry.call {
        Ok(pending) => json!({
            "call": pending,
            "answer": answer,
            "expired": pending.is_expired(),
            "workdir": workdir,
        }),
        Err(fault) => json!({
            "id": entry.id,
            "run": entry.run,
            "answer": answer,
            "unreadable": why(fault),
            "workdir": workdir,
        }),
    }
}

/// The run that a call is of, and the agent or client that makes it, if that has a name.
fn who(entry: &PendingEntry) -> String {
    match entry.call.as_ref().ok().and_then(|pending| pending.agent.as_deref()) {
        Some(agent) => format!("{agent}, {}", entry.run),
        None => entry.run.clone(),
    }
}

/// The directory that a call's run works in, if that is known.
fn workdir(entry: &PendingEntry) -> Option<PathBuf> {
    Some(Task::kept(&entry.host).ok()?.workdir)
}

fn show(pending: &PendingCall, entry: &PendingEntry, json: bool) -> Result<Exit> {
    if json {
        anstream::println!("{}", serde_json::to_string_pretty(&as_json(entry))?);
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
    for leaf in pending.leaves().filter(|_| pending.waits_below()) {
        let (id, name) = (short(leaf.id.as_str()), visible(&leaf.call.name));
        anstream::println!("\n  waits for the call `{id}` of `{name}`, made below it");
    }
    let (id, run) = (&pending.id, &pending.run);
    anstream::println!(
        "\n  {QUIET}id{QUIET:#} {id}  {QUIET}run{QUIET:#} {run}  {QUIET}asked{QUIET:#} {}",
        ago(pending.asked_at_ms)
    );
    if let Some(agent) = &pending.agent {
        anstream::println!("  {QUIET}by{QUIET:#} {}", visible(agent));
    }
    if let Some(place) = own_place::of(pending) {
        let place = visible(&place.display().to_string());
        anstream::println!("  {QUIET}in{QUIET:#} {place}, a place of its own");
    } else if let Some(workdir) = workdir(entry) {
        anstream::println!("  {QUIET}in{QUIET:#} {}", visible(&workdir.display().to_string()));
    }
    if let Some(end) = pending.expires_at_ms {
        anstream::println!("  {QUIET}expires{QUIET:#} {}", until(end));
    }
    match &entry.answer {
        Ok(Some(answer)) => {
            let next = if task::is_served(&entry.top) {
                "the client goes on when it repeats the call".to_owned()
            } else {
                format!("`haft resume {}` goes on", visible(&entry.top))
            };
            anstream::println!("  {QUIET}answered{QUIET:#} {}; {next}", named(answer));
        }
        Ok(None) => {}
        Err(fault) => {
            anstream::println!("  {QUIET}answered{QUIET:#} {}; answer it again", visible(&why(fault)));
        }
    }
    Ok(Exit::Done)
}

/// Keeps an answer, for whoever goes on with the run.
async fn answer(
    state: &Arc<KeptState>,
    entry: &PendingEntry,
    approval: Approval,
    said: &str,
) -> Result<Exit> {
    let id = &entry.id;
    let is_expired = entry.call.as_ref().is_ok_and(PendingCall::is_expired);
    if is_expired && !approval.denies() {
        let message = format!(
            "the call `{id}` has waited too long to be approved; say `haft approvals deny {id}`, and have it asked again"
        );
        return Err(UsageError(message).into());
    }
    if !state.answer(id, &approval).await? {
        return Err(unknown(id.as_str()));
    }
    let name = entry.call.as_ref().map_or(id.as_str(), |pending| &pending.call.name);
    let next = match (task::is_served(&entry.top), approval.denies()) {
        (true, true) => "the client is told so when it repeats the call".to_owned(),
        (true, false) => "repeat the call in the client".to_owned(),
        (false, _) => format!("go on with `haft resume {}`", visible(&entry.top)),
    };
    anstream::println!("{said} `{}`; {next}", visible(name));
    Ok(Exit::Done)
}

/// Finds a call that waits by its id, or by a beginning that no other has; it need not be one that can be read.
async fn find(state: &Arc<KeptState>, id: &str) -> Result<PendingEntry> {
    let mut waiting = state.calls().await?;
    let ids: Vec<&str> = waiting.iter().map(|entry| entry.id.as_str()).collect();
    let found = ids::pick(id, &ids, "call")?;
    let place = ids.iter().position(|id| Some(*id) == found).ok_or_else(|| unknown(id))?;
    Ok(waiting.swap_remove(place))
}

/// Gives what a call would do, for whoever has to know it.
fn read(entry: &PendingEntry) -> Result<&PendingCall> {
    entry.call.as_ref().map_err(|fault| {
        let id = &entry.id;
        let message = format!(
            "the call `{id}` cannot be read ({}); use the version of haft that wrote it, deny it with `haft approvals deny \
             {id}`, or drop its run with `haft resume {} --drop`",
            why(fault),
            entry.top
        );
        UsageError(message).into()
    })
}

/// Gives a call that people are asked about.
fn asked_about(entry: &PendingEntry) -> Result<&PendingCall> {
    let pending = read(entry)?;
    if !pending.waits_below() {
        return Ok(pending);
    }
    let leaves: Vec<String> = pending.leaves().map(|leaf| format!("`{}`", short(leaf.id.as_str()))).collect();
    let message = format!(
        "nobody is asked about the call `{}`, which waits for calls made below it; answer {}, or deny it with `haft approvals \
         deny {}`",
        short(entry.id.as_str()),
        leaves.join(", "),
        short(entry.id.as_str())
    );
    Err(UsageError(message).into())
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
