mod answering;
mod arguments;
mod hiding;
mod kept_call;

pub(crate) use answering::AnsweredCall;
pub(crate) use arguments::ApprovalsCommand;
pub(crate) use kept_call::KeptCall;

use crate::exit::{Exit, UsageError};
use crate::mcp::offered::Wanted;
use crate::offered::{WantedTools, offer};
use crate::opened_workdir::OpenedWorkdir;
use crate::outcome::access_line;
use crate::paint::{BAD, NAME, QUIET};
use crate::printed::print_json;
use crate::schema::PendingShape;
use crate::task::Task;
use crate::timeline::visible;
use crate::when::{ago, until};
use crate::{call, editor, ids, own_place, own_tools, person, prompt};
use answering::{GoesOnBy, answer, unchanged};
use anyhow::{Context as _, Result};
use arguments::{AnswerOptions, ApproveOptions, DenyOptions, EditOptions, ShowOptions};
use haft::tools_core::{Approval, PendingCall, Wants};
use hiding::Hiding;
use kept_call::{Place, WaitsIn};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// Lists, shows and answers the calls that wait.
pub(crate) async fn approvals(command: ApprovalsCommand) -> Result<Exit> {
    match command {
        ApprovalsCommand::List { json, place } => list(&Place::of(&place).await?, json).await,
        ApprovalsCommand::Show(ShowOptions { id, json, place }) => {
            let place = Place::of(&place).await?;
            let entry = find(&place, &id).await?;
            read(&place, &entry)?;
            show(&place, &entry, &Hiding::of([&entry]), json)
        }
        ApprovalsCommand::Approve(ApproveOptions { which: AnswerOptions { id, json, place }, term }) => {
            let place = Place::of(&place).await?;
            if term.is_some() {
                not_remembered(&place, "approve it without `--for`", "allow")?;
            }
            let entry = find(&place, &id).await?;
            let pending = asked_about(&place, &entry)?;
            let approval = match term {
                None => Approval::Approve,
                Some(_) if !pending.can_be_remembered() => {
                    let message = format!(
                        "the call `{}` has to be asked about each time, so nothing of it can be remembered; approve it \
                         without `--for`",
                        pending.id
                    );
                    return Err(UsageError(message).into());
                }
                Some(term) => Approval::ApproveFor { term: term.into() },
            };
            answer(&place, &entry, approval, json).await
        }
        ApprovalsCommand::Deny(DenyOptions { which: AnswerOptions { id, json, place }, reason, never }) => {
            let place = Place::of(&place).await?;
            if never.is_some() {
                not_remembered(&place, "deny it without `--never`", "deny")?;
            }
            let entry = find(&place, &id).await?;
            let reason = reason.unwrap_or_default();
            let approval = match never {
                None => Approval::Deny { reason },
                Some(term) => {
                    if read(&place, &entry)?.unmet.iter().all(|unmet| unmet.grant.is_none()) {
                        let message = format!(
                            "nothing of the call `{}` can be remembered, since each such call has to be asked about; deny \
                             it without `--never`",
                            entry.id
                        );
                        return Err(UsageError(message).into());
                    }
                    Approval::Never { term: term.into(), reason }
                }
            };
            answer(&place, &entry, approval, json).await
        }
        ApprovalsCommand::Edit(EditOptions { which: AnswerOptions { id, json, place }, input }) => {
            let place = Place::of(&place).await?;
            let entry = find(&place, &id).await?;
            let pending = asked_about(&place, &entry)?;
            let input = match input {
                Some(input) => call::read_input(&input)?,
                None if person::at_terminal() => {
                    let Some(input) = editor::edit(&pending.call.input).await? else {
                        return unchanged(&entry, json);
                    };
                    input
                }
                None => {
                    let message = "there is no terminal to edit on; give the arguments with `--input JSON`";
                    return Err(UsageError(message.to_owned()).into());
                }
            };
            if let Ok(task) = Task::kept(&entry.host) {
                let opened = OpenedWorkdir::alone(task.open_workdir(&entry.top.parse()?)?)?;
                let catalog = opened.configuration.catalog()?;
                let tools = own_tools::registry_of_runs(&opened.workdir, &catalog)?;
                let wanted = Wanted::Of(&pending.call.name);
                let wanted = WantedTools::new(wanted, task.no_mcp, task.no_openapi);
                let (tools, servers) = offer(&opened, tools, wanted).await?;
                servers.stop().await;
                let of_task = move || (task.limits(&opened.configuration, &opened.workdir, &tools), tools);
                let (limits, tools) = tokio::task::spawn_blocking(of_task)
                    .await
                    .context("reading the policy broke, which is a fault of haft's own; report it")?;
                if let Some(refusal) = editor::refusal(&tools, &limits, pending, &input) {
                    editor::print_refusal(&refusal);
                    let message =
                        format!("the call `{id}` cannot be made with these arguments, and waits as it was");
                    return Err(UsageError(message).into());
                }
            }
            answer(&place, &entry, Approval::Edit { input }, json).await
        }
    }
}

async fn list(place: &Place, json: bool) -> Result<Exit> {
    let mut waiting = place.calls().await?;
    // Of a call that waits for others, these are what a person can answer.
    waiting.retain(|entry| !entry.call.as_ref().is_ok_and(PendingCall::waits_below));
    let hiding = Hiding::of(&waiting);
    if json {
        print_json(&waiting.iter().map(|entry| WaitingCall::of(entry, &hiding)).collect::<Vec<_>>())?;
        return Ok(Exit::Done);
    }
    if waiting.is_empty() {
        outln!("No call waits.");
    }
    for entry in &waiting {
        let (id, asked) = (entry.shown_id(), ago(entry.asked_at_ms));
        let run = visible(&match workdir(entry) {
            Some(workdir) => format!("{} in {}", who(entry), workdir.display()),
            None => who(entry),
        });
        let answered = match &entry.answer {
            Ok(Some(answer)) => format!(", {}", named(answer)),
            Ok(None) => String::new(),
            Err(_) => ", with an answer that cannot be read".to_owned(),
        };
        let pending = match hiding.call(entry) {
            Ok(pending) => pending,
            Err(why) => {
                let why = visible(&why);
                outln!(
                    "{NAME}{id}{NAME:#}  {BAD}cannot be read{BAD:#}: {why}  {QUIET}{run}, {asked}{answered}{QUIET:#}"
                );
                continue;
            }
        };
        let wants = match &pending.wants {
            Wants::Authentication { .. } => "a login".to_owned(),
            _ => pending.unmet.iter().map(access_line).collect::<Vec<_>>().join(", "),
        };
        let expired = if pending.is_expired() { ", expired" } else { "" };
        let name = visible(&pending.call.name);
        outln!("{NAME}{id}{NAME:#}  {name}  {wants}  {QUIET}{run}, {asked}{expired}{answered}{QUIET:#}");
    }
    Ok(Exit::Done)
}

/// A call that waits, as it is kept.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum WaitingCall {
    /// One that can be read.
    Known {
        /// The call.
        #[schemars(with = "PendingShape")]
        call: Box<PendingCall>,
        /// The answer that was kept, which its run has not gone on with.
        #[schemars(with = "Option<Value>")]
        answer: Option<Approval>,
        /// Whether it has waited too long to be approved.
        expired: bool,
        /// The directory that its run works in, if that is known.
        workdir: Option<PathBuf>,
    },
    /// One that cannot be read, and can be given up.
    Unreadable {
        /// By which it is answered.
        id: String,
        /// Its run.
        run: String,
        /// The answer that was kept.
        #[schemars(with = "Option<Value>")]
        answer: Option<Approval>,
        /// Why it cannot be read.
        unreadable: String,
        /// The directory that its run works in, if that is known.
        workdir: Option<PathBuf>,
    },
}

impl WaitingCall {
    fn of(entry: &KeptCall, hiding: &Hiding) -> Self {
        let (answer, workdir) = (hiding.answer(entry), workdir(entry));
        match hiding.call(entry) {
            Ok(call) => Self::Known { expired: call.is_expired(), call: Box::new(call), answer, workdir },
            Err(unreadable) => Self::Unreadable {
                id: entry.id.to_string(),
                run: entry.run.clone(),
                answer,
                unreadable,
                workdir,
            },
        }
    }
}

/// The run that a call is of, and the agent or client that makes it, if that has a name.
fn who(entry: &KeptCall) -> String {
    match entry.call.as_ref().ok().and_then(|pending| pending.agent.as_deref()) {
        Some(agent) => format!("{agent}, {}", entry.run),
        None => entry.run.clone(),
    }
}

/// The directory that a call's run works in, if that is known.
fn workdir(entry: &KeptCall) -> Option<PathBuf> {
    Some(Task::kept(&entry.host).ok()?.workdir)
}

fn show(place: &Place, entry: &KeptCall, hiding: &Hiding, json: bool) -> Result<Exit> {
    if json {
        print_json(&WaitingCall::of(entry, hiding))?;
        return Ok(Exit::Done);
    }
    let pending = &hiding.call(entry).map_err(|why| {
        let deny = place.command(&format!("deny {}", entry.quoted_id()));
        UsageError(format!("the call `{}` cannot be shown: {why}; deny it with {deny}", entry.id))
    })?;
    prompt::show(pending, prompt::Reasons::Apart, &mut anstream::stdout());
    for unmet in &pending.unmet {
        outln!("\n  {}\n    asked about because: {}", visible(&unmet.printed()), visible(&unmet.reason));
        match &unmet.grant {
            // One worker would remember it, and the others would not.
            Some(rule) if entry.waits_in == WaitsIn::Engine => {
                outln!("    the rule for the policy of the workers: {}", visible(rule));
            }
            Some(rule) => outln!("    can be remembered as: {}", visible(rule)),
            None => outln!("    cannot be remembered: each call is asked about"),
        }
    }
    for leaf in pending.leaves().filter(|_| pending.waits_below()) {
        let (id, name) = (visible(entry.shown(leaf.id.as_str())), visible(&leaf.call.name));
        outln!("\n  waits for the call `{id}` of `{name}`, made below it");
    }
    let (id, run) = (&pending.id, &pending.run);
    outln!(
        "\n  {QUIET}id{QUIET:#} {id}  {QUIET}run{QUIET:#} {run}  {QUIET}asked{QUIET:#} {}",
        ago(pending.asked_at_ms)
    );
    if let Some(agent) = &pending.agent {
        outln!("  {QUIET}by{QUIET:#} {}", visible(agent));
    }
    if let Some(place) = own_place::of(pending) {
        let place = visible(&place.display().to_string());
        outln!("  {QUIET}in{QUIET:#} {place}, a place of its own");
    } else if let Some(workdir) = workdir(entry) {
        outln!("  {QUIET}in{QUIET:#} {}", visible(&workdir.display().to_string()));
    }
    if let Some(end) = pending.expires_at_ms {
        outln!("  {QUIET}expires{QUIET:#} {}", until(end));
    }
    match &entry.answer {
        Ok(Some(answer)) => {
            let next = match entry.goes_on_by() {
                GoesOnBy::Engine => "the engine goes on with it".to_owned(),
                GoesOnBy::Client => "the client goes on when it repeats the call".to_owned(),
                GoesOnBy::Resume => format!("`haft resume {}` goes on", visible(&entry.top)),
            };
            outln!("  {QUIET}answered{QUIET:#} {}; {next}", named(answer));
        }
        Ok(None) => {}
        Err(fault) => {
            outln!("  {QUIET}answered{QUIET:#} {}; answer it again", visible(fault));
        }
    }
    Ok(Exit::Done)
}

/// Finds a call that waits by its id, or by a beginning that no other has; it need not be one that can be read.
async fn find(place: &Place, id: &str) -> Result<KeptCall> {
    let mut waiting = place.calls().await?;
    let ids: Vec<&str> = waiting.iter().map(|entry| entry.id.as_str()).collect();
    let found = ids::pick(id, &ids, "call")?;
    let at = ids.iter().position(|id| Some(*id) == found).ok_or_else(|| unknown(place, id))?;
    Ok(waiting.swap_remove(at))
}

/// Refuses to have an answer remembered where one worker alone would remember it.
fn not_remembered(place: &Place, instead: &str, rule: &str) -> Result<()> {
    let Place::Engine { .. } = place else { return Ok(()) };
    let message = format!(
        "an engine remembers no answers: only the worker that goes on with the call would, and the others would ask again; \
         {instead}, and write a rule into `{rule}` of `[permissions]` in the policy of all workers"
    );
    Err(UsageError(message).into())
}

/// Gives what a call would do, for whoever has to know it.
fn read<'a>(place: &Place, entry: &'a KeptCall) -> Result<&'a PendingCall> {
    entry.call.as_ref().map_err(|fault| {
        let id = &entry.id;
        let next = match entry.waits_in {
            // An answer says what it is about, which cannot be told here; the engine ends it when it expires.
            WaitsIn::Engine => "use the version of haft that its worker has".to_owned(),
            WaitsIn::State => format!(
                "use the version of haft that wrote it, deny it with {}, or drop its run with `haft resume {} --drop`",
                place.command(&format!("deny {id}")),
                entry.top
            ),
        };
        UsageError(format!("the call `{id}` cannot be read ({fault}); {next}")).into()
    })
}

/// Gives a call that people are asked about.
fn asked_about<'a>(place: &Place, entry: &'a KeptCall) -> Result<&'a PendingCall> {
    let pending = read(place, entry)?;
    if !pending.waits_below() {
        return Ok(pending);
    }
    let leaves: Vec<String> =
        pending.leaves().map(|leaf| format!("`{}`", visible(entry.shown(leaf.id.as_str())))).collect();
    let message = format!(
        "nobody is asked about the call `{}`, which waits for calls made below it; answer {}, or deny it with {}",
        entry.shown_id(),
        leaves.join(", "),
        place.command(&format!("deny {}", entry.quoted_id()))
    );
    Err(UsageError(message).into())
}

fn unknown(place: &Place, id: &str) -> anyhow::Error {
    let message = format!(
        "no call `{id}` waits: it was gone on with before, or it never asked; see those that do with {}",
        place.command("list")
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
