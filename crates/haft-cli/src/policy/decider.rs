use crate::config::Configuration;
use crate::exit::UsageError;
use crate::offered::named_tool;
use crate::policy_setup::PolicyInForce;
use crate::schema::{DecisionShape, ExplanationShape};
use anyhow::Result;
use haft::core::{Decision, RunId, Schema, ToolName, ToolSpec};
use haft::policy::LoadedPolicy;
use haft::tools_core::{DeclareError, Explanation, Limits, Mode, RuleError, listed};
use haft::{Access, Accesses, CallScope, Policy, ToolRegistry};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The words that accesses begin with.
const MODES: [&str; 6] = ["read", "write", "exec", "connect", "call", "opaque"];

/// The tool that a shell command is a call of.
const SHELL: &str = "bash";

/// The keys of a call.
const KEYS: [&str; 2] = ["tool", "input"];

/// How many keys of another object are named.
const MOST_KEYS: usize = 5;

/// How a call is written.
const EXAMPLE: &str = r#"{"tool": "read_file", "input": {"path": "README.md"}}"#;

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
    ///
    /// Another JSON object is refused.
    pub(super) fn line<'t>(&self, line: &'t str) -> Decided<'t> {
        self.call_or_command(line).unwrap_or_else(|fault| Self::refused(line, fault))
    }

    /// Decides about what a person asks: a line, or an access as it is written in tests of policies.
    pub(super) fn question<'t>(&self, text: &'t str) -> Result<Decided<'t>> {
        match self.access(text) {
            None => self.call_or_command(text).map_err(|fault| UsageError(fault).into()),
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

    fn call_or_command<'t>(&self, text: &'t str) -> Result<Decided<'t>, String> {
        if let Some((tool, input)) = call(text)? {
            return Ok(self.call(&tool, &input));
        }
        let (decision, accesses, error) = self.declared(SHELL, json!({ "command": text }));
        Ok(Decided { decision, input: Input::Text(text), accesses, error })
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

/// Reads a call: a JSON object with `tool` and `input`; of another one it is said what is wrong with its keys.
fn call(line: &str) -> Result<Option<(Value, Value)>, String> {
    if !line.trim_start().starts_with('{') {
        return Ok(None);
    }
    let Ok(Value::Object(mut members)) = serde_json::from_str(line) else { return Ok(None) };
    let absent: Vec<&str> = KEYS.into_iter().filter(|key| !members.contains_key(*key)).collect();
    if absent.is_empty() {
        return Ok(members.remove("tool").zip(members.remove("input")));
    }
    let others: Vec<&str> = members.keys().map(String::as_str).filter(|key| !KEYS.contains(key)).collect();
    let others = match others.as_slice() {
        [] => String::new(),
        [other] => format!(", and `{other}` is not a key of a call"),
        others => {
            format!(", and {} are not keys of a call", listed(others.iter().copied().take(MOST_KEYS), "and"))
        }
    };
    let absent = listed(absent, "and no");
    Err(format!("this JSON object is not a call: it has no {absent}{others}; write one such as '{EXAMPLE}'"))
}
