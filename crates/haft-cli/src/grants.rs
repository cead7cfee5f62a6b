use crate::arguments::GrantsCommand;
use crate::exit::{Exit, UsageError};
use crate::ids;
use crate::kept_state::{KeptState, why};
use crate::outcome::short;
use crate::paint::{BAD, NAME, QUIET};
use crate::printed::print_json;
use crate::schema::GrantShape;
use crate::timeline::visible;
use crate::when::{ago, until};
use anyhow::Result;
use haft::core::Decision;
use haft::store::Entry;
use haft::tools_core::{Grant, GrantStore as _};
use schemars::JsonSchema;
use serde::Serialize;

/// Lists and takes back what was answered for more than one call.
pub(crate) async fn grants(command: GrantsCommand) -> Result<Exit> {
    let state = KeptState::find().await?;
    let grants = state.grants().await?;
    match command {
        GrantsCommand::List { json: true } => {
            print_json(&grants.iter().map(GrantLine::of).collect::<Vec<_>>())?;
        }
        GrantsCommand::List { json: false } if grants.is_empty() => {
            outln!("Nothing is granted; `haft approvals approve` grants something with `--for`.");
        }
        GrantsCommand::List { json: false } => grants.iter().for_each(print),
        GrantsCommand::Revoke { ids: written, all, json } => {
            let known: Vec<&str> = grants.iter().map(|grant| grant.id.as_str()).collect();
            let chosen = if all { known } else { choose(&written, &known)? };
            let mut revoked = Vec::new();
            for id in chosen {
                if state.revoke(id).await? {
                    revoked.push(id.to_owned());
                }
            }
            if json {
                print_json(&Revoked { revoked })?;
            } else {
                let count = revoked.len();
                outln!("revoked {count} grant{}", if count == 1 { "" } else { "s" });
            }
        }
    }
    Ok(Exit::Done)
}

/// What was answered for more than one call, as it is kept.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum GrantLine {
    /// One that can be read.
    Known(#[schemars(with = "GrantShape")] Grant),
    /// One that cannot be read, and can be revoked.
    Unreadable {
        /// By which it is revoked.
        id: String,
        /// Why it cannot be read.
        unreadable: String,
    },
}

/// What was taken back.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Revoked {
    /// The ids of the grants, without those that were gone already.
    revoked: Vec<String>,
}

impl GrantLine {
    fn of(entry: &Entry<Grant>) -> Self {
        match &entry.value {
            Ok(grant) => Self::Known(grant.clone()),
            Err(fault) => Self::Unreadable { id: entry.id.clone(), unreadable: why(fault) },
        }
    }
}

fn print(entry: &Entry<Grant>) {
    let id = short(&entry.id);
    let grant = match &entry.value {
        Ok(grant) => grant,
        Err(fault) => {
            let why = visible(&why(fault));
            outln!("{NAME}{id}{NAME:#}  {BAD}cannot be read{BAD:#}  {QUIET}{why}{QUIET:#}");
            return;
        }
    };
    let word = if grant.decision == Decision::Allow { "allow" } else { "never" };
    let agent = grant.agent.as_ref().map(|agent| format!(" for {}", visible(agent))).unwrap_or_default();
    let end = grant.expires_at_ms.map(|end| format!(", ends {}", until(end))).unwrap_or_default();
    outln!(
        "{NAME}{id}{NAME:#}  {word}  {}{agent}  {QUIET}{}, {}{end}{QUIET:#}",
        visible(&grant.rule),
        visible(&grant.place.to_string()),
        ago(grant.given_at_ms)
    );
}

/// Finds every grant that is written, before any is taken back.
fn choose<'a>(written: &[String], known: &[&'a str]) -> Result<Vec<&'a str>> {
    let mut chosen = Vec::new();
    for id in written {
        let Some(found) = ids::pick(id, known, "grant")? else {
            let message = format!("there is no grant `{id}`; see them with `haft grants list`");
            return Err(UsageError(message).into());
        };
        if !chosen.contains(&found) {
            chosen.push(found);
        }
    }
    Ok(chosen)
}
