use super::EngineUrl;
use super::working::client;
use crate::approvals::KeptCall;
use crate::exit::UsageError;
use anyhow::{Context as _, Result};
use haft::durable::{CallCourse, Routes};
use haft::durable_restate::{Error, KeptPendingCall, RestateExecutor, pending_calls};
use haft::tools_core::{Approval, ResumptionError};
use std::time::Duration;

/// How long an engine that does not answer is asked again: whoever answers sits before it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Lists the calls that wait in an engine, of all its pools.
pub(crate) async fn calls(engine: &EngineUrl, admin: &EngineUrl) -> Result<Vec<KeptCall>> {
    let listed = pending_calls(&client(admin)?, admin.url()).await.map_err(|error| {
        let is_silent = matches!(error, Error::Unreachable { .. });
        let error = anyhow::Error::new(error);
        if is_silent {
            let message = format!(
                "the engine at `{engine}` cannot be asked what waits; name its admin interface with `--admin`"
            );
            return error.context(UsageError(message));
        }
        error
    })?;
    Ok(listed.into_iter().map(kept).collect())
}

fn kept(pending: KeptPendingCall) -> KeptCall {
    let KeptPendingCall { id, call, answer, .. } = pending;
    let run = CallCourse::parse_id(&id).map(|(_, round)| round.call().run().to_string()).unwrap_or_default();
    let call = call.map(|call| *call).map_err(|error| error.to_string());
    KeptCall::of_engine(id, run, call, answer)
}

/// Has an answer count in the engine; gives whether the call was still there.
///
/// # Errors
///
/// When the call cannot be read, or the engine does not answer.
pub(crate) async fn answer(engine: &EngineUrl, entry: &KeptCall, approval: &Approval) -> Result<bool> {
    let id = &entry.id;
    let Ok(pending) = &entry.call else {
        let message = format!(
            "the call `{id}` cannot be read here; answer it with the version of haft that its worker has"
        );
        return Err(UsageError(message).into());
    };
    let (pool, _) = CallCourse::parse_id(id).with_context(|| {
        format!("`{id}` is not the id of a call that an engine keeps; take one from `haft approvals list`")
    })?;
    let executor = RestateExecutor::new(engine.url(), client(engine)?, Routes::to(pool))?.patience(PATIENCE);
    match executor.decide(pending, approval.clone()).await {
        Ok(()) => Ok(true),
        Err(ResumptionError::ResumedBefore { .. }) => Ok(false),
        Err(refused @ ResumptionError::Unclaimed { .. }) => {
            let message = format!(
                "the engine does not answer at `{engine}`, so it is not known whether the answer counts; look with `haft approvals list`, then answer again"
            );
            Err(anyhow::Error::new(refused).context(UsageError(message)))
        }
        Err(refused) => Err(UsageError(refused.to_string()).into()),
    }
}
