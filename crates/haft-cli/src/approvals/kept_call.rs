use super::arguments::PlaceOptions;
use crate::cluster::{self, EngineUrl};
use crate::config::Settings;
use crate::exit::UsageError;
use crate::kept_state::{KeptState, why};
use crate::opened_workdir;
use crate::outcome::short;
use crate::timeline::visible;
use anyhow::Result;
use haft::store::PendingEntry;
use haft::tools_core::{Approval, PendingCall, PendingId, PendingStore as _};
use serde_json::Value;
use std::sync::Arc;

/// The port of an engine's admin interface, if nothing else is said.
const ADMIN_PORT: u16 = 9070;

/// Is a call that waits, also one that cannot be read.
pub(crate) struct KeptCall {
    pub(crate) id: PendingId,
    /// The run that it is of.
    pub(crate) run: String,
    /// The run to be gone on with.
    pub(crate) top: String,
    pub(crate) asked_at_ms: u64,
    /// The call, or why it cannot be read.
    pub(crate) call: Result<PendingCall, String>,
    /// What was answered before, or why that cannot be read.
    pub(crate) answer: Result<Option<Approval>, String>,
    /// What was kept of how the run was started, if anything was.
    pub(crate) host: Value,
    pub(super) waits_in: WaitsIn,
}

/// Says where a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WaitsIn {
    /// In the state of this machine.
    State,
    /// In an engine, for all machines.
    Engine,
}

impl KeptCall {
    fn of(entry: PendingEntry) -> Self {
        let PendingEntry { id, run, top, asked_at_ms, call, answer, host, .. } = entry;
        let call = call.map_err(|fault| why(&fault));
        let answer = answer.map_err(|fault| why(&fault));
        Self { id, run, top, asked_at_ms, call, answer, host, waits_in: WaitsIn::State }
    }

    /// Is a call that waits in an engine, with what was answered, or why it cannot be read.
    #[cfg_attr(
        not(feature = "restate"),
        expect(dead_code, reason = "nothing waits in an engine without one")
    )]
    pub(crate) fn of_engine(
        id: PendingId,
        run: String,
        call: Result<PendingCall, String>,
        answer: Option<Approval>,
    ) -> Self {
        let asked_at_ms = call.as_ref().map_or(0, |call| call.asked_at_ms);
        let (top, answer) = (run.clone(), Ok(answer));
        Self { id, run, top, asked_at_ms, call, answer, host: Value::Null, waits_in: WaitsIn::Engine }
    }

    /// Names the call in a command, as a shell reads it.
    pub(super) fn quoted_id(&self) -> String {
        quoted(self.shown_id())
    }

    /// As much of its id as tells it from others: that of an engine begins as many others do.
    pub(super) fn shown_id(&self) -> &str {
        self.shown(self.id.as_str())
    }

    /// As much of an id as tells it from others that wait where this call does.
    pub(super) fn shown<'a>(&self, id: &'a str) -> &'a str {
        match self.waits_in {
            WaitsIn::State => short(id),
            WaitsIn::Engine => id,
        }
    }
}

/// Says whose calls are answered.
pub(super) enum Place {
    /// Those of this machine.
    State(Arc<KeptState>),
    /// Those of an engine.
    Engine { engine: EngineUrl, admin: EngineUrl },
}

impl Place {
    pub(super) async fn of(options: &PlaceOptions) -> Result<Self> {
        let Some(named) = options.restate.clone() else {
            return Ok(Self::State(KeptState::find().await?));
        };
        let (engine, admin) = if let Some(engine) = named {
            (engine, None)
        } else {
            let configured = Settings::read(&opened_workdir::workdir(None)?)?.executor.unwrap_or_default();
            let engine = configured.restate.ok_or_else(|| {
                let message = "no engine is named; give its address behind `--restate`, or as `restate` in `[executor]` of \
                               `haft.toml`";
                UsageError(message.to_owned())
            })?;
            (engine, configured.admin)
        };
        let admin = options.admin.clone().or(admin).unwrap_or_else(|| engine.at_port(ADMIN_PORT));
        Ok(Self::Engine { engine, admin })
    }

    pub(super) async fn calls(&self) -> Result<Vec<KeptCall>> {
        match self {
            Self::State(state) => Ok(state.calls().await?.into_iter().map(KeptCall::of).collect()),
            Self::Engine { engine, admin } => cluster::calls(engine, admin).await,
        }
    }

    /// Says how to do something about the calls that wait here, as in `list` or `deny ID`.
    pub(super) fn command(&self, what: &str) -> String {
        match self {
            Self::State(_) => format!("`haft approvals {what}`"),
            Self::Engine { engine, admin } if *admin == engine.at_port(ADMIN_PORT) => {
                format!("`haft approvals {what} --restate {engine}`")
            }
            Self::Engine { engine, admin } => {
                format!("`haft approvals {what} --restate {engine} --admin {admin}`")
            }
        }
    }

    /// Keeps an answer, or has it count; gives whether the call was still there.
    pub(super) async fn answer(&self, entry: &KeptCall, approval: &Approval) -> Result<bool> {
        match self {
            Self::State(state) => Ok(state.answer(&entry.id, approval).await?),
            // An engine goes on with the first answer at once.
            Self::Engine { .. } if matches!(entry.answer, Ok(Some(_))) => Ok(false),
            Self::Engine { engine, .. } => cluster::answer(engine, entry, approval).await,
        }
    }
}

/// Writes an id as a shell reads it: that of an engine has in it what a model has called the call.
fn quoted(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:".contains(c);
    let id = visible(id);
    if id.chars().all(is_plain) { id } else { format!("'{}'", id.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::{Place, quoted};

    #[test]
    fn what_a_model_called_a_call_is_nothing_to_a_shell() {
        assert_eq!(quoted("tools/mcp-3f2a/-/91c0:0"), "tools/mcp-3f2a/-/91c0:0");
        assert_eq!(quoted("tools/run-1/-/x;curl a|sh:0"), "'tools/run-1/-/x;curl a|sh:0'");
        assert_eq!(quoted("tools/run-1/-/it's:0"), r"'tools/run-1/-/it'\''s:0'");
    }

    #[test]
    fn a_command_about_an_engine_names_it() {
        let place = |engine: &str, admin: &str| Place::Engine {
            engine: engine.parse().unwrap(),
            admin: admin.parse().unwrap(),
        };
        assert_eq!(
            place("http://engine:8080", "http://engine:9070").command("list"),
            "`haft approvals list --restate http://engine:8080`"
        );
        assert_eq!(
            place("http://engine:8080", "http://inside:9070").command("deny x"),
            "`haft approvals deny x --restate http://engine:8080 --admin http://inside:9070`"
        );
    }
}
