use super::kept_call::{KeptCall, Place, WaitsIn};
use super::unknown;
use crate::exit::{Exit, UsageError, say_note};
use crate::printed::print_json;
use crate::task;
use crate::timeline::visible;
use anyhow::Result;
use haft::tools_core::{Approval, GrantTerm, PendingCall};
use schemars::JsonSchema;
use serde::Serialize;

/// Keeps an answer, for whoever goes on with the run, and says so.
pub(super) async fn answer(place: &Place, entry: &KeptCall, approval: Approval, json: bool) -> Result<Exit> {
    let id = &entry.id;
    let is_expired = entry.call.as_ref().is_ok_and(PendingCall::is_expired);
    if is_expired && !approval.denies() {
        let message = format!(
            "the call `{id}` has waited too long to be approved; run {}, and have it asked again",
            place.command(&format!("deny {}", entry.quoted_id()))
        );
        return Err(UsageError(message).into());
    }
    if !place.answer(entry, &approval).await? {
        return Err(unknown(place, id.as_str()));
    }
    if let Ok(Some(before)) = &entry.answer
        && before.denies() != approval.denies()
    {
        say_note(&format!("`{id}` was {} before; that answer no longer holds", super::named(before)));
    }
    if json {
        print_json(&AnsweredCall::of(entry, Some(&approval)))?;
        return Ok(Exit::Done);
    }
    let name = entry.call.as_ref().map_or(id.as_str(), |pending| &pending.call.name);
    let next = match (entry.goes_on_by(), approval.denies()) {
        (GoesOnBy::Engine, true) => "whoever made the call is told so".to_owned(),
        (GoesOnBy::Engine, false) => "the call goes on".to_owned(),
        (GoesOnBy::Client, true) => "the client is told so when it repeats the call".to_owned(),
        (GoesOnBy::Client, false) => "repeat the call in the client".to_owned(),
        (GoesOnBy::Resume, _) => format!("go on with `haft resume {}`", visible(&entry.top)),
    };
    outln!("{} `{}`; {next}", super::named(&approval), visible(name));
    Ok(Exit::Done)
}

/// Says that a call was left as it is, and still waits.
pub(super) fn unchanged(entry: &KeptCall, json: bool) -> Result<Exit> {
    if json {
        print_json(&AnsweredCall::of(entry, None))?;
    } else {
        outln!("nothing was changed, and the call still waits");
    }
    Ok(Exit::Done)
}

/// What became of answering a call that waits.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AnsweredCall {
    /// The call.
    id: String,
    /// The run that is gone on with.
    run: String,
    /// The tool; `null` where the call cannot be read.
    tool: Option<String>,
    /// What was answered; `null` where the arguments were left as they are, so that the call still waits.
    answer: Option<AnswerWord>,
    /// For how long the answer is remembered: `run`, `session`, `workspace` or `always`; `null` where it is for this call alone.
    #[schemars(with = "Option<String>")]
    remembered: Option<GrantTerm>,
    /// Who goes on.
    goes_on_by: GoesOnBy,
}

/// Who goes on with a call that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum GoesOnBy {
    /// `haft resume RUN` does.
    Resume,
    /// A client that repeats the call does.
    Client,
    /// The engine that keeps it does, at once.
    Engine,
}

impl KeptCall {
    pub(super) fn goes_on_by(&self) -> GoesOnBy {
        match self.waits_in {
            WaitsIn::Engine => GoesOnBy::Engine,
            WaitsIn::State if task::is_served(&self.top) => GoesOnBy::Client,
            WaitsIn::State => GoesOnBy::Resume,
        }
    }
}

/// An answer to a call that waits.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AnswerWord {
    /// It may run as it was shown.
    Approved,
    /// It may run with other arguments.
    Edited,
    /// It may not run.
    Denied,
}

impl AnsweredCall {
    fn of(entry: &KeptCall, approval: Option<&Approval>) -> Self {
        let term = match approval {
            Some(Approval::ApproveFor { term } | Approval::Never { term, .. }) => Some(*term),
            _ => None,
        };
        Self {
            id: entry.id.to_string(),
            run: entry.top.clone(),
            tool: entry.call.as_ref().ok().map(|pending| pending.call.name.clone()),
            answer: approval.map(|approval| match approval {
                Approval::Edit { .. } => AnswerWord::Edited,
                approval if approval.denies() => AnswerWord::Denied,
                _ => AnswerWord::Approved,
            }),
            remembered: term,
            goes_on_by: entry.goes_on_by(),
        }
    }
}
