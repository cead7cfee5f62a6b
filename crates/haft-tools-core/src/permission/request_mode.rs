use super::mode::{Mode, ModeSwitch};
use super::question::Question;
use crate::{Accesses, Action, CallContext, CallScope, Prepared, Tool, input_schema, parse_input};
use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec, Visible};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str = "Asks for another mode of permissions. `plan` lets nothing change, `default` asks the user about \
    what no rule speaks of, `accept_edits` lets files of the project be edited, `auto` lets what stays in the project be done. \
    A stricter mode is set at once; a wider one only if the user agrees, so say in one sentence what you need it for.";

/// The most characters of a reason that a person is shown.
const MOST_REASON: usize = 500;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Input {
    /// The mode.
    mode: Wanted,
    /// What it is needed for, in one sentence.
    #[serde(default)]
    #[schemars(length(max = 500))]
    reason: String,
}

/// The modes that a model can ask for.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    Plan,
    Default,
    AcceptEdits,
    Auto,
}

impl From<Wanted> for Mode {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Plan => Self::Plan,
            Wanted::Default => Self::Default,
            Wanted::AcceptEdits => Self::AcceptEdits,
            Wanted::Auto => Self::Auto,
        }
    }
}

/// Makes the tool `request_mode`, by which a model asks for another mode of the executor that has this switch.
///
/// A stricter mode is set at once. A wider one is set only if a person confirms it: the tool
/// [asks](CallContext::ask) them, whatever the policy says of the tool itself. It is explicit only: no wildcard chooses it.
///
/// ```
/// use haft_tools_core::{LocalExecutor, ModeSwitch, ToolRegistry, request_mode};
/// use std::sync::Arc;
///
/// let mode = ModeSwitch::default();
/// let tools = ToolRegistry::of([Arc::new(request_mode(&mode)) as _])?;
/// let executor = LocalExecutor::builder(tools).mode(&mode).build();
/// # let _ = executor;
/// # Ok::<(), haft_tools_core::RegistryError>(())
/// ```
pub fn request_mode(mode: &ModeSwitch) -> impl Tool {
    let spec = ToolSpec::new(ToolName::project("request_mode"), DESCRIPTION, input_schema::<Input>())
        .with_title("Request a mode")
        .with_origin(Origin::Builtin)
        .with_hints(ToolHints { idempotent: true, ..ToolHints::default() })
        .explicit_only();
    RequestMode { spec, mode: mode.clone() }
}

struct RequestMode {
    spec: ToolSpec,
    mode: ModeSwitch,
}

impl Tool for RequestMode {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { mode, reason } = parse_input(input)?;
        let request = Request { switch: self.mode.clone(), mode: mode.into(), reason };
        Ok(Prepared::new(Accesses::none(), request))
    }
}

struct Request {
    switch: ModeSwitch,
    mode: Mode,
    reason: String,
}

#[async_trait]
impl Action for Request {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        let Self { switch, mode, reason } = *self;
        if !switch.narrow(mode) {
            let reason: String = reason.chars().take(MOST_REASON).collect();
            let because = match reason.trim() {
                "" => String::new(),
                reason => format!(" It says: {}", Visible::line(reason)),
            };
            let text =
                format!("The model asks for the mode `{mode}`; it is `{}` now.{because}", switch.get());
            let refused = match cx.ask(Question::confirm(text)).await {
                Ok(Value::Bool(true)) => None,
                Ok(_) => Some("the user does not want that; go on without it".to_owned()),
                Err(none) => Some(none.to_string()),
            };
            if let Some(refused) = refused {
                return Err(ToolError::denied(format!("the mode stays `{}`: {refused}", switch.get())));
            }
            switch.set(mode);
        }
        let given = cx.scope().chain().flat_map(CallScope::modes).min();
        let but = match given.filter(|given| mode.is_wider_than(*given)) {
            Some(given) => {
                format!(", but this run was given the mode `{given}`, which goes on to hold for it")
            }
            None => String::new(),
        };
        Ok(ToolOutput::text(format!("the mode is `{mode}` now{but}")).with_details(json!({ "mode": mode })))
    }
}
