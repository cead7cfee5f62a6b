use crate::arguments::JournalOptions;
use crate::exit::Exit;
use crate::kept_state::KeptState;
use crate::paint::{BAD, GOOD, NAME, QUIET};
use crate::timeline::visible;
use crate::when::ago;
use anyhow::Result;
use haft::core::Decision;
use haft::store::RecordFilter;
use haft::tools_core::{DecidedBy, JournalEntry, JournalRecord, PersonAnswer};

/// Prints who let which call run, what it touched and how it ended.
pub(crate) async fn journal(options: JournalOptions) -> Result<Exit> {
    let state = KeptState::find().await?;
    let mut filter = RecordFilter::new().most(options.last);
    if let Some(run) = &options.run {
        filter = filter.run(run.parse()?);
    }
    let records = match state.existing()? {
        Some(store) => store.records(&filter).await?,
        None => Vec::new(),
    };
    if options.json {
        outln!("{}", serde_json::to_string_pretty(&records)?);
    } else if records.is_empty() {
        outln!("Nothing is recorded.");
    } else {
        records.iter().for_each(print);
    }
    Ok(Exit::Done)
}

fn print(record: &JournalRecord) {
    let JournalRecord { entry, at_ms, run, agent, called_as, accesses, decided, .. } = record;
    let who = agent.as_ref().map(|agent| format!("{}, ", visible(agent))).unwrap_or_default();
    let (style, what) = match entry {
        JournalEntry::Begun => (QUIET, "begins".to_owned()),
        JournalEntry::Waiting => (QUIET, "waits".to_owned()),
        JournalEntry::Ended { status, .. } if status.is_ok() => (GOOD, status.to_string()),
        JournalEntry::Ended { status, ran: true, .. } => (BAD, status.to_string()),
        JournalEntry::Ended { status, .. } => (BAD, format!("{status}, did not run")),
        _ => (QUIET, String::new()),
    };
    let accesses: Vec<String> = accesses.iter().flatten().map(|access| visible(access)).collect();
    outln!(
        "{NAME}{}{NAME:#}  {style}{what}{style:#}  {}  {}  {QUIET}{}, {who}{run}{QUIET:#}",
        visible(called_as),
        accesses.join(", "),
        visible(&by(decided)),
        ago(*at_ms)
    );
}

/// Says who decided, and what.
fn by(decided: &DecidedBy) -> String {
    let said = |text: &str, reason: &str| match reason {
        "" => text.to_owned(),
        reason => format!("{text}: {reason}"),
    };
    match decided {
        DecidedBy::Rule { decision, rules, .. } => {
            let word = match decision {
                Decision::Allow => "allowed",
                Decision::Ask => "asked about",
                Decision::Deny => "denied",
            };
            said(&format!("{word} by the policy"), &rules.join(", "))
        }
        DecidedBy::Person { answer, reason } => {
            let word = match answer {
                PersonAnswer::Approved => "approved",
                PersonAnswer::ApprovedEdited => "approved with other arguments",
                PersonAnswer::Denied => "denied",
                _ => "not answered",
            };
            said(word, reason)
        }
        DecidedBy::Grant { rules, .. } => said("remembered", &rules.join(", ")),
        DecidedBy::Layer { reason } => said("answered by a layer", reason),
        _ => "decided by nobody".to_owned(),
    }
}
