use crate::config::Configuration;
use crate::exit::UsageError;
use crate::offered::named_tool;
use crate::policy_setup::PolicyInForce;
use crate::schema::{DecisionShape, ExplanationShape};
use anyhow::Result;
use haft::core::{Decision, RunId, Schema, ToolName, ToolSpec};
use haft::policy::LoadedPolicy;
use haft::tools_core::{DeclareError, Explanation, Limits, Mode, RuleError};
use haft::{Access, Accesses, CallScope, Policy, ToolRegistry};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The words that accesses begin with.
const MODES: [&str; 6] = ["read", "write", "exec", "connect", "call", "opaque"];

/// The tool that a shell command is a call of.
const SHELL: &str = "bash";

/// Says what would be decided about calls, without running them.
pub(super) struct Decider<'a> {
    configuration: &'a Configuration,
    tools: &'a ToolRegistry,
    policy: &'a Policy,
    limits: &'a Limits,
    mode: Mode,
    scope: CallScope,
    /// The tool of an access that no tool in particular makes.
    anonymous: ToolSpec,
}

/// What would be decided about a call.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Decided")]
pub(crate) struct Decided<'a> {
    /// The decision: the strictest of those about its accesses.
    #[schemars(with = "DecisionShape")]
    pub(super) decision: Decision,
    /// What was asked about, as it was given: a text, or a call as an object with `tool` and `input`.
    pub(super) input: Input<'a>,
    /// What was decided about each access, and why.
    #[schemars(with = "Vec<ExplanationShape>")]
    pub(super) accesses: Vec<Explanation>,
    /// Why it cannot be prepared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// Is what was asked about, as it was given.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Input")]
pub(super) enum Input<'a> {
    /// A shell command, an access, or what could not be read.
    Text(&'a str),
    /// A call, with `tool` and `input`.
    Call(#[schemars(with = "Map<String, Value>")] Value),
}

impl<'a> Decider<'a> {
    /// Decides for an agent below those before it, or for none.
    pub(super) fn new(
        configuration: &'a Configuration,
        tools: &'a ToolRegistry,
        in_force: &'a PolicyInForce,
        agents: &[String],
    ) -> Result<Self> {
        let run = |depth: usize| format!("policy-explain-{depth}").parse::<RunId>();
        let mut scope = CallScope::new(run(0)?);
        for (depth, agent) in agents.iter().enumerate() {
            scope = if depth == 0 { scope } else { scope.child(run(depth)?) };
            scope = scope.with_agent(agent.as_str());
        }
        let name: ToolName = "policy-explain".parse()?;
        let anonymous = ToolSpec::new(name, "Makes an access that is asked about.", Schema::empty());
        let LoadedPolicy { policy, limits, mode, .. } = &in_force.loaded;
        Ok(Self { configuration, tools, policy, limits, mode: *mode, scope, anonymous })
    }

    /// Decides about one line: a call if it is a JSON object with `tool` and `input`, and otherwise a shell command.
    pub(super) fn line<'t>(&self, line: &'t str) -> Decided<'t> {
        if let Some((tool, input)) = call(line) {
            return self.call(&tool, &input);
        }
        let (decision, accesses, error) = self.declared(SHELL, json!({ "command": line }));
        Decided { decision, input: Input::Text(line), accesses, error }
    }

    /// Decides about what a person asks: a line, or an access as it is written in tests of policies.
    pub(super) fn question<'t>(&self, text: &'t str) -> Result<Decided<'t>> {
        match self.access(text) {
            None => Ok(self.line(text)),
            Some(Ok(access)) => {
                let (decision, accesses) = self.explain(&self.anonymous, &Accesses::from(access));
                Ok(Decided { decision, input: Input::Text(text), accesses, error: None })
            }
            Some(Err(error)) => {
                let message = error.to_string();
                let quotes = message.contains(text.trim());
                Err(UsageError(if quotes { message } else { format!("in `{text}`: {message}") }).into())
            }
        }
    }

    /// Refuses what cannot be a call.
    pub(super) fn refused(input: &str, error: String) -> Decided<'_> {
        Decided {
            decision: Decision::Deny,
            input: Input::Text(input),
            accesses: Vec::new(),
            error: Some(error),
        }
    }

    fn call<'t>(&self, tool: &Value, input: &Value) -> Decided<'t> {
        let (decision, accesses, error) = match tool.as_str() {
            Some(tool) => self.declared(tool, input.clone()),
            None => (Decision::Deny, Vec::new(), Some("`tool` is not a text; name a tool".to_owned())),
        };
        Decided { decision, input: Input::Call(json!({ "tool": tool, "input": input })), accesses, error }
    }

    /// Has a tool declare what a call would touch, and decides about that; what cannot be prepared is never run.
    fn declared(&self, tool: &str, input: Value) -> (Decision, Vec<Explanation>, Option<String>) {
        let other = match self.tools.get(tool) {
            Some(_) => None,
            None => named_tool(self.configuration, tool).and_then(|tool| ToolRegistry::of([tool]).ok()),
        };
        let tools = other.as_ref().unwrap_or(self.tools);
        match tools.declare_within(self.limits, tool, input, &self.scope) {
            Ok(call) => {
                let (decision, accesses) = self.explain(call.tool, &call.accesses);
                (decision, accesses, None)
            }
            Err(error) => {
                let text = match &error {
                    DeclareError::Input { reason } => reason.clone(),
                    _ => error.to_string(),
                };
                (Decision::Deny, Vec::new(), Some(text))
            }
        }
    }

    fn explain(&self, tool: &ToolSpec, accesses: &Accesses) -> (Decision, Vec<Explanation>) {
        let verdicts = self.policy.explain_in(&self.scope, self.mode, tool, accesses);
        let decision =
            verdicts.iter().map(haft::tools_core::Verdict::decision).max().unwrap_or(Decision::Ask);
        let language = self.policy.rule_language();
        (decision, verdicts.iter().map(|verdict| verdict.explain(language)).collect())
    }

    /// Reads an access, if the text has the shape of one and not of a command.
    fn access(&self, text: &str) -> Option<Result<Access, RuleError>> {
        let text = text.trim();
        let mode = text.split_once('(').map(|(mode, _)| mode);
        // `read() { …; }` makes a function.
        let is_access =
            text == "opaque" || (mode.is_some_and(|mode| MODES.contains(&mode)) && !text.contains("()"));
        is_access.then(|| self.policy.rule_language().access(text))
    }
}

/// Reads a call: a JSON object with `tool` and `input`.
fn call(line: &str) -> Option<(Value, Value)> {
    if !line.trim_start().starts_with('{') {
        return None;
    }
    let Ok(Value::Object(mut members)) = serde_json::from_str(line) else { return None };
    Some((members.remove("tool")?, members.remove("input")?))
}
