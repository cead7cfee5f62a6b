//! What a person decides on the page. It is kept as any other answer is, for exactly what they were shown.

use super::gate::Change;
use super::live::Live;
use super::shown_call::can_be_never;
use crate::editor::refusal;
use crate::task::Task;
use haft::core::Digest;
use haft::store::PendingEntry;
use haft::tools_core::{
    Answered, Approval, GrantStore as _, GrantTerm, PendingCall, PendingStore as _, Wants,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Display;

/// The most bytes of a reason that a person gives.
const MOST_REASON: usize = 1024;

const GONE: &str =
    "this call waits no more: it was decided, was cancelled or goes on already; your answer does not count";
const BEFORE: &str = "somebody has decided about this call before you; your answer does not count";
const CHANGED: &str =
    "what this call would do is no longer what you were shown; look at it again, then decide";

#[derive(Debug, Deserialize)]
struct AnswerRequest {
    id: String,
    /// What was shown.
    digest: Digest,
    #[serde(flatten)]
    says: Says,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
enum Says {
    Approve {
        /// For how long it holds; this once, if nothing is said.
        term: Option<TermWord>,
    },
    Deny {
        #[serde(default)]
        reason: String,
        /// Whether what is like it is denied here from now on, too.
        #[serde(default)]
        never: bool,
    },
    Edit {
        /// The arguments, as JSON that a person has written.
        input: String,
    },
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TermWord {
    Run,
    Session,
    Workspace,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RevokeRequest {
    id: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AcceptRequest {
    server: String,
    digest: String,
}

impl Live {
    /// Makes a change; gives what became of it, or why nothing did.
    pub(super) async fn change(&self, change: Change, body: &[u8]) -> Result<String, String> {
        match change {
            Change::Answer => self.decide(read(body)?).await,
            Change::Revoke => self.revoke(read(body)?).await,
            Change::Accept => self.accept(&read(body)?),
        }
    }

    async fn decide(&self, request: AnswerRequest) -> Result<String, String> {
        let AnswerRequest { id, digest, says } = request;
        let waiting = self.waiting().await.map_err(broken)?;
        let entry = waiting.iter().find(|entry| entry.id.as_str() == id).ok_or(GONE)?;
        let pending = entry.call.as_ref().map_err(broken)?;
        if pending.digest != digest {
            return Err(CHANGED.to_owned());
        }
        let approval = says.about(pending)?;
        if !approval.denies() && pending.is_expired() {
            return Err(
                "this call has waited too long to be approved; deny it, and have it asked again".to_owned()
            );
        }
        if let Approval::Edit { input } = &approval {
            self.check(entry, pending, input).await?;
        }
        match self.state.answer_first(&entry.id, &digest, &approval).await.map_err(broken)? {
            Answered::Kept => Ok(format!("{} `{}`", word(&approval), pending.call.name)),
            Answered::Before => Err(BEFORE.to_owned()),
            Answered::OtherDigest => Err(CHANGED.to_owned()),
            _ => Err(GONE.to_owned()),
        }
    }

    /// Checks that a call can be made with these arguments, where its tools are at hand.
    async fn check(&self, entry: &PendingEntry, pending: &PendingCall, input: &Value) -> Result<(), String> {
        let Ok(task) = Task::kept(&entry.host) else { return Ok(()) };
        let toolsets = self.toolsets.clone();
        let of_task = tokio::task::spawn_blocking(move || toolsets.places().tools_of(&task));
        let Some((tools, limits)) = of_task.await.ok().flatten() else { return Ok(()) };
        match refusal(&tools, &limits, pending, input) {
            Some(refusal) => Err(format!("the call cannot be made with these arguments: {refusal}")),
            None => Ok(()),
        }
    }

    async fn revoke(&self, request: RevokeRequest) -> Result<String, String> {
        if self.state.revoke(&request.id).await.map_err(broken)? {
            Ok("revoked".to_owned())
        } else {
            Err("there is no such grant any more".to_owned())
        }
    }

    fn accept(&self, request: &AcceptRequest) -> Result<String, String> {
        for servers in self.toolsets.places().servers() {
            if let Some(tool) = servers.accept(&request.server, &request.digest).map_err(broken)? {
                return Ok(format!("accepted `{tool}`"));
            }
        }
        Err("no such server runs here any more".to_owned())
    }
}

impl Says {
    /// Makes the answer to a call, if that is one that can be given to it.
    fn about(self, pending: &PendingCall) -> Result<Approval, String> {
        let signs_in = matches!(pending.wants, Wants::Authentication { .. });
        Ok(match self {
            Self::Approve { .. } | Self::Edit { .. } if signs_in => {
                return Err("log in at the address that is shown, then have the call repeated".to_owned());
            }
            Self::Approve { term: None } => Approval::Approve,
            Self::Approve { term: Some(term) } if pending.can_be_remembered() => {
                Approval::ApproveFor { term: term.into() }
            }
            Self::Approve { .. } => {
                return Err("nothing of this call can be remembered; approve it for this once".to_owned());
            }
            Self::Deny { reason, .. } if reason.len() > MOST_REASON => {
                return Err(format!("the reason is longer than {MOST_REASON} bytes; write a shorter one"));
            }
            Self::Deny { reason, never: false } => Approval::Deny { reason },
            Self::Deny { reason, never: true } if can_be_never(pending) => {
                Approval::Never { term: GrantTerm::Workspace, reason }
            }
            Self::Deny { .. } => {
                return Err("nothing of this call can be remembered; deny it for this once".to_owned());
            }
            Self::Edit { input } => Approval::Edit {
                input: serde_json::from_str(&input)
                    .map_err(|error| format!("these arguments are not JSON: {error}"))?,
            },
        })
    }
}

impl From<TermWord> for GrantTerm {
    fn from(word: TermWord) -> Self {
        match word {
            TermWord::Run => Self::Run,
            TermWord::Session => Self::Session,
            TermWord::Workspace => Self::Workspace,
        }
    }
}

fn word(approval: &Approval) -> &'static str {
    match approval {
        Approval::Approve | Approval::ApproveFor { .. } => "approved",
        Approval::Edit { .. } => "approved with other arguments",
        _ => "denied",
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("this is not what the page sends: {error}"))
}

fn broken(error: impl Display) -> String {
    format!("it cannot be done: {error}")
}
