use haft_agent::{Budget, RunLimits};
use haft_core::{Digest, RunId};
use haft_durable::{ScopeError, ScopeRecord};
use haft_tools_core::CallScope;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;

/// Asks an engine for a run of an agent: plain data, and the same each time that the same run is asked for.
///
/// The run is named by its scope, whose mode and depth it has. What the agent itself may spend is said where it is set up, on
/// its workers; a request can only ask for less.
///
/// ```
/// use haft_agent::Budget;
/// use haft_durable_restate::RunRequest;
/// use haft_tools_core::CallScope;
///
/// let request = RunRequest::new(&CallScope::new("run-1".parse()?), "Book a flight to Vienna.")?
///     .budget(Budget::default().turns(20));
/// assert_eq!(request.run().as_str(), "run-1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    #[serde(deserialize_with = "known_version")]
    version: u32,
    scope: ScopeRecord,
    prompt: String,
    #[serde(default)]
    budget: Budget,
    /// How many runs may be above any run of this tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
}

impl RunRequest {
    /// The version of the form that is written.
    pub const VERSION: u32 = 1;

    /// Asks for a run of this scope with a prompt.
    ///
    /// The [limits](RunLimits) of the scope and of those above it go with it; whatever else a host has added to the scope stays
    /// where it is.
    ///
    /// # Errors
    ///
    /// When the scope [cannot be sent](ScopeRecord::of).
    pub fn new(scope: &CallScope, prompt: impl Into<String>) -> Result<Self, ScopeError> {
        Ok(Self {
            version: Self::VERSION,
            scope: ScopeRecord::of(scope)?,
            prompt: prompt.into(),
            budget: Budget::default(),
            depth: RunLimits::of(scope).depth,
        })
    }

    /// Lets the run spend no more than this, with the runs below it.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// The run.
    pub fn run(&self) -> RunId {
        self.scope().run().clone()
    }

    /// What is asked for.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// The scope of the run, with its limits and without what its host had added.
    pub(crate) fn scope(&self) -> CallScope {
        let scope = self.scope.scope();
        match self.depth {
            Some(depth) => scope.with_extension(RunLimits::new().depth(depth)),
            None => scope,
        }
    }

    pub(crate) fn most(&self) -> &Budget {
        &self.budget
    }

    /// Tells this request from another of the same run.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of(&json!((&self.scope, &self.prompt, &self.budget, &self.depth)))
    }
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        RunRequest::VERSION => Ok(RunRequest::VERSION),
        other => Err(serde::de::Error::custom(format!(
            "this run was asked for in version {other} of its form; this program reads version {}, so let workers and clients \
             of one version meet",
            RunRequest::VERSION
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> CallScope {
        CallScope::new("r".parse().unwrap())
    }

    #[test]
    fn limits_go_with_it_to_the_runs_below() {
        let limited = scope().with_extension(RunLimits::new().depth(1)).child("s".parse().unwrap());
        let request = RunRequest::new(&limited, "go").unwrap();
        let written = serde_json::to_string(&request).unwrap();
        let again: RunRequest = serde_json::from_str(&written).unwrap();
        assert_eq!(again, request);
        assert_eq!((RunLimits::of(&again.scope()).depth, again.scope().depth()), (Some(1), 1));
    }

    #[test]
    fn another_request_has_another_digest() {
        let first = RunRequest::new(&scope(), "go").unwrap();
        assert_eq!(first.digest(), RunRequest::new(&scope(), "go").unwrap().digest());
        assert_ne!(first.digest(), RunRequest::new(&scope(), "stay").unwrap().digest());
        assert_ne!(first.digest(), first.clone().budget(Budget::default().turns(1)).digest());
    }

    #[test]
    fn one_of_another_version_is_refused_by_number() {
        let mut written = serde_json::to_value(RunRequest::new(&scope(), "go").unwrap()).unwrap();
        written["version"] = json!(2);
        let error = serde_json::from_value::<RunRequest>(written).unwrap_err().to_string();
        assert!(
            error
                .starts_with("this run was asked for in version 2 of its form; this program reads version 1"),
            "{error}"
        );
    }
}
