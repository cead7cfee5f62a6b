use haft_core::RunId;
use haft_tools_core::{CallScope, Mode};
use serde::{Deserialize, Serialize};

/// Holds a scope as data, so that a worker makes the call on behalf of the same run, agent and modes.
///
/// Values that a host [added](CallScope::with_extension) are not in it: a worker adds its own.
///
/// ```
/// use haft_durable::ScopeRecord;
/// use haft_tools_core::{CallScope, Mode, Policy};
///
/// let above = CallScope::new("run-1".parse()?).with_mode(Mode::Plan);
/// let scope = above.child("run-2".parse()?).with_agent("explorer").with_turn(4);
/// let again = ScopeRecord::of(&scope)?.scope();
/// assert_eq!((again.run().as_str(), again.agent(), again.depth()), ("run-2", Some("explorer"), 1));
///
/// let bounded = above.with_ceiling(Policy::new());
/// assert!(ScopeRecord::of(&bounded).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeRecord {
    /// The turn in which calls are made, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    own: Link,
    /// The runs above, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    above: Vec<Link>,
}

/// Is one run of the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Link {
    run: RunId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    modes: Vec<Mode>,
}

/// Says why a scope cannot be sent to a worker.
///
/// ```
/// use haft_core::ToolCall;
/// use haft_durable::{CallRequest, ScopeError};
/// use haft_tools_core::{CallScope, Policy};
///
/// let lead = CallScope::new("run-1".parse()?).with_ceiling(Policy::new());
/// let call = ToolCall::new("c1".parse()?, "send_mail", serde_json::json!({}));
/// let error = CallRequest::new(&lead.child("run-2".parse()?), call).unwrap_err();
/// assert_eq!(error, ScopeError::Ceiling { run: "run-1".parse()? });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// What a run may do is bounded by a policy that was made in code.
    #[error(
        "what the run `{run}` may do is bounded in code, and such a bound cannot be sent to a worker; write it in the policy \
         of the workers, by the agent's name"
    )]
    Ceiling {
        /// The run.
        run: RunId,
    },
}

impl ScopeRecord {
    /// Takes down a scope.
    ///
    /// # Errors
    ///
    /// [`ScopeError::Ceiling`], if it or one above it is [bounded in code](CallScope::with_ceiling): its calls may not run
    /// without that bound.
    pub fn of(scope: &CallScope) -> Result<Self, ScopeError> {
        let above: Result<_, _> = scope.chain().skip(1).map(Link::of).collect();
        Ok(Self { turn: scope.turn(), own: Link::of(scope)?, above: above? })
    }

    /// Makes the scope anew.
    pub fn scope(&self) -> CallScope {
        let mut above = self.above.iter().rev();
        let own = match above.next() {
            None => CallScope::new(self.own.run.clone()),
            Some(first) => {
                let first = first.name(CallScope::new(first.run.clone()));
                let nearest = above.fold(first, |scope, link| link.name(scope.child(link.run.clone())));
                nearest.child(self.own.run.clone())
            }
        };
        let own = self.own.name(own);
        match self.turn {
            Some(turn) => own.with_turn(turn),
            None => own,
        }
    }
}

impl Link {
    fn of(scope: &CallScope) -> Result<Self, ScopeError> {
        let run = scope.run().clone();
        if scope.ceiling().is_some() {
            return Err(ScopeError::Ceiling { run });
        }
        Ok(Self { run, agent: scope.agent().map(str::to_owned), modes: scope.modes().collect() })
    }

    fn name(&self, scope: CallScope) -> CallScope {
        let scope = self.modes.iter().fold(scope, |scope, mode| scope.with_mode(*mode));
        match &self.agent {
            Some(agent) => scope.with_agent(agent.as_str()),
            None => scope,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use haft_tools_core::Policy;

    fn chain(scope: &CallScope) -> Vec<(String, Option<String>, Vec<Mode>)> {
        let link = |link: &CallScope| {
            (link.run().to_string(), link.agent().map(str::to_owned), link.modes().collect())
        };
        scope.chain().map(link).collect()
    }

    fn root() -> CallScope {
        CallScope::new("a".parse().unwrap()).with_agent("lead").with_mode(Mode::Plan)
    }

    #[test]
    fn a_scope_is_the_same_on_the_other_side() {
        let middle = root().child("b".parse().unwrap()).with_mode(Mode::Auto).with_mode(Mode::DenyUnknown);
        let scope = middle.child("c".parse().unwrap()).with_agent("explorer").with_turn(7);
        let written = serde_json::to_string(&ScopeRecord::of(&scope).unwrap()).unwrap();
        let again = serde_json::from_str::<ScopeRecord>(&written).unwrap().scope();
        assert_eq!((chain(&again), again.turn()), (chain(&scope), Some(7)));
    }

    #[test]
    fn a_bound_of_any_run_above_is_not_left_behind() {
        let scope =
            root().with_ceiling(Policy::new()).child("b".parse().unwrap()).child("c".parse().unwrap());
        assert_eq!(ScopeRecord::of(&scope), Err(ScopeError::Ceiling { run: "a".parse().unwrap() }));
    }
}
