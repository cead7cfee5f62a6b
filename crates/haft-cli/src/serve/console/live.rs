use super::gate::{Answer, json};
use super::shown_call::shown_call;
use crate::kept_state::{KeptState, why};
use crate::mcp::watched::HeldBack;
use crate::policy_setup::hex;
use crate::report::{live::live, page::make_visible};
use crate::serve::toolbox::ServedToolsets;
use anyhow::Result;
use haft::core::Decision;
use haft::store::{Entry, PendingEntry};
use haft::tools_core::{Grant, PendingCall, now_ms};
use http::StatusCode;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a request stays open in which nothing changes, and how often it is looked.
const STAYS: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The most calls that wait, grants and tools held back that are shown; all of them are known to `haft approvals`, `grants` and
/// `mcp`.
const MOST_SHOWN: usize = 100;

/// Knows what goes on, from where it is kept.
pub(super) struct Live {
    pub(super) toolsets: ServedToolsets,
    pub(super) state: Arc<KeptState>,
}

impl Live {
    pub(super) fn new(toolsets: ServedToolsets, state: Arc<KeptState>) -> Self {
        Self { toolsets, state }
    }

    /// Answers with all that is shown, as soon as it is another state than the one that was seen.
    ///
    /// The state is named before it is read, so that what changes in between is a change for the next request.
    pub(super) async fn answer(&self, seen: &str) -> Answer {
        let until = Instant::now() + STAYS;
        let mut version = self.version().await;
        while version == seen && Instant::now() < until {
            sleep(LOOK_AGAIN).await;
            version = self.version().await;
        }
        if version == seen {
            return json(StatusCode::OK, &json!({ "version": version }));
        }
        match self.all(&version).await {
            Ok(mut all) => {
                // What is kept of calls that wait is what will run, and so is not redacted where it is kept.
                self.toolsets.places().redactor.redact_value(&mut all);
                make_visible(&mut all);
                json(StatusCode::OK, &all)
            }
            Err(error) => {
                let said = format!("what is kept cannot be read: {error:#}");
                json(StatusCode::INTERNAL_SERVER_ERROR, &json!({ "said": said }))
            }
        }
    }

    /// Names the state of all that is shown.
    async fn version(&self) -> String {
        let kept = match self.state.existing() {
            Ok(Some(store)) => store.mark().await.unwrap_or_else(|error| error.to_string()),
            Ok(None) => String::new(),
            Err(error) => error.to_string(),
        };
        let mut hash = Sha256::new();
        hash.update(kept);
        for run in self.toolsets.runs() {
            hash.update(run.as_str());
        }
        for servers in self.toolsets.places().servers() {
            hash.update(servers.mark());
        }
        hex(&hash.finalize()[..12])
    }

    async fn all(&self, version: &str) -> Result<Value> {
        let runs = self.toolsets.runs();
        let report = match self.state.existing()? {
            Some(store) => live(store, &runs).await?,
            None => Value::Null,
        };
        let (waiting, redactor) = (self.waiting().await?, &self.toolsets.places().redactor);
        let grants = self.state.grants().await?;
        let (mut servers, mut held) = (Vec::new(), Vec::new());
        for offered in self.toolsets.places().servers() {
            servers.extend(offered.statuses().iter().map(|status| {
                json!({
                    "name": status.name.as_str(),
                    "state": status.state.to_string(),
                    "tools": status.tools,
                    "calls_itself": status.calls_itself,
                    "reason": status.reason,
                })
            }));
            held.extend(offered.held_back()?.iter().map(shown_tool));
        }
        let omitted = |count: usize| count.saturating_sub(MOST_SHOWN);
        Ok(json!({
            "version": version,
            "now_ms": now_ms(),
            "waiting": waiting.iter().take(MOST_SHOWN).map(|entry| shown_call(entry, redactor)).collect::<Vec<_>>(),
            "waiting_omitted": omitted(waiting.len()),
            "grants": grants.iter().rev().take(MOST_SHOWN).map(shown_grant).collect::<Vec<_>>(),
            "grants_omitted": omitted(grants.len()),
            "servers": servers,
            "held_omitted": omitted(held.len()),
            "held": held.into_iter().take(MOST_SHOWN).collect::<Vec<_>>(),
            "report": report,
        }))
    }

    /// The calls of what is served here that a person can answer.
    pub(super) async fn waiting(&self) -> Result<Vec<PendingEntry>> {
        let mut waiting = self.state.calls().await?;
        let runs = self.toolsets.runs();
        waiting.retain(|entry| runs.iter().any(|run| run.as_str() == entry.top));
        // Of a call that waits for others, these are what a person can answer.
        waiting.retain(|entry| !entry.call.as_ref().is_ok_and(PendingCall::waits_below));
        Ok(waiting)
    }
}

fn shown_grant(entry: &Entry<Grant>) -> Value {
    match &entry.value {
        Ok(grant) => json!({
            "id": entry.id,
            "never": grant.decision != Decision::Allow,
            "rule": grant.rule,
            "agent": grant.agent,
            "place": grant.place.to_string(),
            "given_at_ms": grant.given_at_ms,
            "expires_at_ms": grant.expires_at_ms,
        }),
        Err(fault) => json!({ "id": entry.id, "unreadable": why(fault) }),
    }
}

fn shown_tool(held: &HeldBack) -> Value {
    let HeldBack { server, tool, digest, why, changes } = held;
    json!({ "server": server, "tool": tool, "digest": digest, "why": why, "changes": changes })
}
