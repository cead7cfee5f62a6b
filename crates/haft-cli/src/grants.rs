use crate::arguments::GrantsCommand;
use crate::exit::{Exit, UsageError};
use crate::ids;
use crate::kept_state::KeptState;
use crate::outcome::short;
use crate::paint::{NAME, QUIET};
use crate::timeline::visible;
use crate::when::{ago, until};
use anyhow::Result;
use haft::{Decision, GrantStore as _};

/// Lists and takes back what was answered for more than one call.
pub(crate) async fn grants(command: GrantsCommand) -> Result<Exit> {
    let state = KeptState::from_environment();
    state.existing()?;
    let grants = state.list().await?;
    match command {
        GrantsCommand::List { json: true } => {
            anstream::println!("{}", serde_json::to_string_pretty(&grants)?);
        }
        GrantsCommand::List { json: false } if grants.is_empty() => anstream::println!("nothing is granted"),
        GrantsCommand::List { json: false } => {
            for grant in &grants {
                let word = if grant.decision == Decision::Allow { "allow" } else { "never" };
                let agent =
                    grant.agent.as_ref().map(|agent| format!(" for {}", visible(agent))).unwrap_or_default();
                let end = grant.expires_at_ms.map(|end| format!(", ends {}", until(end))).unwrap_or_default();
                anstream::println!(
                    "{NAME}{}{NAME:#}  {word}  {}{agent}  {QUIET}{}, {}{end}{QUIET:#}",
                    short(&grant.id),
                    visible(&grant.rule),
                    visible(&grant.place.to_string()),
                    ago(grant.given_at_ms)
                );
            }
        }
        GrantsCommand::Revoke { ids: written, all } => {
            let known: Vec<&str> = grants.iter().map(|grant| grant.id.as_str()).collect();
            let chosen = if all { known } else { choose(&written, &known)? };
            let mut revoked = 0;
            for id in chosen {
                revoked += usize::from(state.revoke(id).await?);
            }
            anstream::println!("revoked {revoked} grant{}", if revoked == 1 { "" } else { "s" });
        }
    }
    Ok(Exit::Done)
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
