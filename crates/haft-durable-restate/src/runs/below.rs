//! The runs that a call has begun, and the reply that it gets for them.

use super::run_request::RunRequest;
use super::run_wire::{Delegated, Delegation, RunEnded};
use haft_agent::{Budget, DelegateAgents, DelegateEnd, Purse, Reservation, RunEnd, RunLimits, Spent};
use haft_core::{
    BudgetKind, Digest, ErrorKind, ReplyStatus, RunId, ToolCall, ToolErrorKind, ToolName, ToolOutput,
    ToolReply,
};
use haft_durable::{CallKey, Pool};
use haft_tools_core::CallScope;
use restate_sdk::errors::TerminalError;
use serde_json::{Value, json};
use std::fmt;

/// How many digits of a digest tell the runs below from each other.
const DIGITS: usize = 32;

/// Is what the runs of one call have come to.
pub(super) struct Below {
    runs: Vec<RunBelow>,
}

struct RunBelow {
    run: RunId,
    agent: ToolName,
    pool: Pool,
    due: Option<RunRequest>,
    /// What was set aside for it.
    part: Option<Reservation>,
    ended: Option<Outcome>,
}

/// Is a run to be begun.
pub(super) struct Due {
    pub(super) number: usize,
    pub(super) pool: Pool,
    pub(super) request: RunRequest,
}

/// Says how a run below has ended, for the model of the run above.
struct Outcome {
    ended: &'static str,
    why: Option<String>,
    text: String,
    /// What only the host is told.
    detail: Option<String>,
}

impl Below {
    /// Sets aside what each run may spend: an equal share of what is left.
    pub(super) fn new(
        above: &RunRequest,
        scope: &CallScope,
        call: &ToolCall,
        delegation: Delegation,
        purse: &Purse,
    ) -> Self {
        let Delegation { tasks, depth } = delegation;
        let key = CallKey::new(scope, call.id.clone());
        let share = share(&purse.rest(), tasks.len() as u64);
        let limits = RunLimits::new().depth(depth);
        let runs = tasks.into_iter().enumerate().map(|(number, Delegated { agent, pool, task })| {
            let run = name(&agent, &key, number);
            // The limits of the run above stay with its own scope, and the strictest of both count.
            let scope = above.scope().child(run.clone()).with_agent(agent.as_str()).with_extension(limits);
            let most = RunLimits::of(&scope).depth.unwrap_or(depth);
            if let Err(too_deep) = DelegateAgents::deep_enough(&above.scope(), most) {
                let ended = Some(Outcome::not_begun(too_deep.message()));
                return RunBelow { run, agent, pool, due: None, part: None, ended };
            }
            let (due, part, ended) = match (RunRequest::new(&scope, task), purse.reserve(&share)) {
                (Ok(request), Ok(part)) => (Some(request.budget(*part.budget())), Some(part), None),
                (Err(error), _) => {
                    tracing::warn!(%run, %error, "a run below cannot be begun");
                    let why =
                        "what it may do is bounded in a way that cannot be sent; go on without it and say so";
                    (None, None, Some(Outcome::not_begun(why)))
                }
                (_, Err(kind)) => {
                    let why = format!("nothing is left of the {kind} of this run; go on without it");
                    (None, None, Some(Outcome::not_begun(&why)))
                }
            };
            RunBelow { run, agent, pool, due, part, ended }
        });
        Self { runs: runs.collect() }
    }

    /// Takes the runs that were not begun; where the run above stops, none is.
    pub(super) fn due(&mut self, stops: bool) -> Vec<Due> {
        let mut due = Vec::new();
        for (number, below) in self.runs.iter_mut().enumerate() {
            let Some(request) = below.due.take() else { continue };
            if stops {
                below.part = None;
                below.ended = Some(Outcome::cancelled());
            } else {
                due.push(Due { number, pool: below.pool.clone(), request });
            }
        }
        due
    }

    /// Takes note of what a run came to, and gives what it has spent.
    pub(super) fn landed(
        &mut self,
        number: usize,
        landed: Result<Value, TerminalError>,
    ) -> Option<(RunId, Spent)> {
        let below = self.runs.get_mut(number)?;
        let ended = landed.map(serde_json::from_value::<RunEnded>);
        let (outcome, spent) = match ended {
            Ok(Ok(ended)) => (Outcome::of(&ended.end, ended.text), ended.spent),
            // What it has spent is not known, so it is all that it could.
            Ok(Err(error)) => (Outcome::lost(&error), below.set_aside()),
            Err(error) => (Outcome::lost(&error), below.set_aside()),
        };
        if let Some(part) = &mut below.part {
            part.record(spent);
        }
        below.part = None;
        below.ended = Some(outcome);
        Some((below.run.clone(), spent))
    }

    /// Answers the call once all of its runs have ended.
    pub(super) fn reply(&self, call: &ToolCall) -> Option<ToolReply> {
        let ended: Vec<(&RunBelow, &Outcome)> =
            self.runs.iter().map(|run| Some((run, run.ended.as_ref()?))).collect::<Option<_>>()?;
        let ends: Vec<DelegateEnd<'_>> = ended
            .iter()
            .map(|(run, Outcome { ended, why, text, .. })| {
                DelegateEnd::new(&run.run, ended, text).because(why.as_deref())
            })
            .collect();
        let (status, output) = match DelegateEnd::output(&ends) {
            Ok(output) => (ReplyStatus::Ok, output),
            Err(error) => {
                let status = match error.kind() {
                    ToolErrorKind::Cancelled => ReplyStatus::Cancelled,
                    _ => ReplyStatus::Error(ErrorKind::Failed),
                };
                (status, ToolOutput::text(error.message()))
            }
        };
        let output = match &*ended {
            [(run, _)] => output.with_child_run(run.run.clone()),
            _ => output,
        };
        let agents: Vec<Value> = ended
            .iter()
            .map(|(run, outcome)| json!({ "agent": run.agent, "run": run.run, "status": outcome.ended }))
            .collect();
        let details: Vec<Value> =
            ended.iter().map(|(run, outcome)| json!({ "run": run.run, "detail": outcome.detail })).collect();
        let output =
            output.with_structured(json!({ "agents": agents })).with_details(json!({ "runs": details }));
        Some(ToolReply::new(call.id.clone(), call.name.clone(), status, output))
    }
}

impl RunBelow {
    fn set_aside(&self) -> Spent {
        let mut spent = Spent::default();
        if let Some(part) = &self.part {
            let of = |kind| part.budget().limit(kind).unwrap_or_default();
            spent.turns = of(BudgetKind::Turns);
            spent.calls = of(BudgetKind::Calls);
            spent.tokens = of(BudgetKind::Tokens);
            spent.cost_nanos = of(BudgetKind::Cost);
        }
        spent
    }
}

impl Outcome {
    fn of(end: &RunEnd, text: String) -> Self {
        let ended = match end {
            RunEnd::Completed => DelegateEnd::DONE,
            RunEnd::Cancelled => DelegateEnd::CANCELLED,
            RunEnd::Failed { .. } => "failed",
            _ => "stopped",
        };
        let detail = match end {
            RunEnd::Failed { reason } => Some(reason.clone()),
            _ => None,
        };
        Self { ended, why: end.why(), text, detail }
    }

    fn cancelled() -> Self {
        Self::of(&RunEnd::Cancelled, String::new())
    }

    fn not_begun(why: &str) -> Self {
        Self { ended: "not begun", why: Some(why.to_owned()), text: String::new(), detail: None }
    }

    fn lost(error: &dyn fmt::Display) -> Self {
        tracing::error!(%error, "a run below was given up");
        let why = "what became of it is not known; look before the task is repeated".to_owned();
        Self { ended: "lost", why: Some(why), text: String::new(), detail: Some(error.to_string()) }
    }
}

/// Divides what is left; where there is something, each gets something.
fn share(rest: &Budget, sharers: u64) -> Budget {
    let mut share = rest.divided(sharers);
    for (share, rest) in [
        (&mut share.turns, rest.turns),
        (&mut share.calls, rest.calls),
        (&mut share.tokens, rest.tokens),
        (&mut share.cost_nanos, rest.cost_nanos),
    ] {
        *share = share.map(|share| share.max(rest.unwrap_or_default().min(1)));
    }
    share
}

/// Names a run below by what has begun it, so that it is the same whenever that is made again.
fn name(agent: &ToolName, call: &CallKey, number: usize) -> RunId {
    let digest = Digest::of(&json!((call, number))).to_string();
    let name = format!("{agent}-{}", &digest[..DIGITS]);
    name.parse().expect("a name and some digits are a run's name")
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_agent::Account;

    /// Has a run of these limits begin one by a tool that allows runs of some depth, and gives what comes of it.
    fn below(limits: RunLimits, depth: u32) -> (Below, ToolCall) {
        let scope = CallScope::new("r".parse().unwrap()).with_extension(limits);
        let above = RunRequest::new(&scope, "go").unwrap();
        let call = ToolCall::new("d".parse().unwrap(), "delegate", json!({}));
        let pool = "helper".parse().unwrap();
        let task = Delegated { agent: ToolName::project("helper"), pool, task: "help".to_owned() };
        let delegation = Delegation { tasks: vec![task], depth };
        let purse = Purse::new(Account::new(Budget::default()));
        (Below::new(&above, &above.scope().with_turn(1), &call, delegation, &purse), call)
    }

    #[test]
    fn a_run_below_lies_no_deeper_than_both_its_limits_and_the_tool_allow() {
        let deepest = |limits, depth| {
            let (mut below, _) = below(limits, depth);
            below.due(false).iter().map(|due| RunLimits::of(&due.request.scope()).depth).collect::<Vec<_>>()
        };
        assert_eq!(deepest(RunLimits::new(), 1), [Some(1)]);
        assert_eq!(deepest(RunLimits::new().depth(1), 2), [Some(1)]);
        assert_eq!(deepest(RunLimits::new().depth(3), 2), [Some(2)]);
        assert_eq!(deepest(RunLimits::new().depth(0), 1), []);
    }

    #[test]
    fn the_model_reads_that_a_run_below_would_be_too_deep() {
        let (below, call) = below(RunLimits::new().depth(0), 1);
        let reply = below.reply(&call).unwrap();
        let text = reply.output.to_text();
        let (_, said) = text.split_once("` ").unwrap();
        assert_eq!(
            (reply.status, said),
            (
                ReplyStatus::Error(ErrorKind::Failed),
                "not begun: nothing can be delegated here; do it yourself"
            )
        );
    }
}
