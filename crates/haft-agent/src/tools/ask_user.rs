use async_trait::async_trait;
use haft_core::{Origin, ToolError, ToolHints, ToolName, ToolOutput, ToolSpec, Visible};
use haft_tools_core::{
    Accesses, Action, AskError, CallContext, CallScope, Prepared, Question, Tool, input_schema, parse_input,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const DESCRIPTION: &str = "Asks the user a question and waits for the answer. Ask only what you cannot find out and what \
    changes what you do, one thing at a time. With `options` the user picks one of them; with `yes_no` the answer is `true` or \
    `false`; otherwise it is a text.";

/// The most characters of a question, and of an option, that a person is shown.
const MOST_TEXT: usize = 2_000;
const MOST_OPTION: usize = 200;

/// The fewest and the most options to pick from.
const FEWEST_OPTIONS: usize = 2;
const MOST_OPTIONS: usize = 10;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Input {
    /// The question, with what the user has to know to answer it.
    #[schemars(length(min = 1, max = 2000))]
    question: String,
    /// The answers to pick from.
    #[serde(default)]
    #[schemars(length(max = 10), inner(length(min = 1, max = 200)))]
    options: Vec<String>,
    /// Whether the answer is yes or no.
    #[serde(default)]
    yes_no: bool,
}

/// Makes the tool `ask_user`, by which a model asks the person that the run works for.
///
/// The question goes where those of [`CallContext::ask`] go: to the executor's approver, or to the client that made the
/// call. The call's clock stands still meanwhile. Where nobody answers, the model is told so and goes on without. It declares
/// no accesses: all it can do is ask.
///
/// ```
/// use haft_agent::ask_user;
/// use haft_tools_core::{Policy, Rule, ToolRegistry};
///
/// let tools = ToolRegistry::new().with(ask_user())?;
/// let policy = Policy::new().allow(Rule::tools("ask_user".parse()?));
/// # let _ = (tools, policy);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn ask_user() -> impl Tool {
    let spec = ToolSpec::new(ToolName::project("ask_user"), DESCRIPTION, input_schema::<Input>())
        .with_title("Ask the user")
        .with_origin(Origin::Builtin)
        .with_hints(ToolHints { read_only: true, ..ToolHints::default() });
    AskUser { spec }
}

struct AskUser {
    spec: ToolSpec,
}

impl Tool for AskUser {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn prepare(&self, input: &Value, _scope: &CallScope) -> Result<Prepared, ToolError> {
        let Input { question, options, yes_no } = parse_input(input)?;
        if question.trim().is_empty() {
            return Err(ToolError::invalid_input("the question is empty; write what you want to know"));
        }
        // A person reads them, so nothing in them may look like something else.
        let shown = |text: &str, most: usize| {
            let text: String = text.chars().take(most).collect();
            Visible::new(&text).to_string()
        };
        let question = shown(&question, MOST_TEXT);
        let question = match (options.len(), yes_no) {
            (0, true) => Question::confirm(question),
            (0, false) => Question::text(question),
            (_, true) => {
                return Err(ToolError::invalid_input(
                    "a question has `options` or is answered by `yes_no`, not both; leave one of them out",
                ));
            }
            (FEWEST_OPTIONS..=MOST_OPTIONS, false) => {
                Question::choice(question, options.iter().map(|option| shown(option, MOST_OPTION)))
            }
            _ => {
                return Err(ToolError::invalid_input(
                    "there are from 2 to 10 options to pick from; leave `options` out for an answer in words",
                ));
            }
        };
        Ok(Prepared::new(Accesses::none(), Ask(question)))
    }
}

struct Ask(Question);

#[async_trait]
impl Action for Ask {
    async fn run(self: Box<Self>, cx: CallContext) -> Result<ToolOutput, ToolError> {
        match cx.ask(self.0).await {
            Ok(answer) => {
                let text = match &answer {
                    Value::String(text) => format!("the user answers: {text}"),
                    Value::Bool(true) => "the user says yes".to_owned(),
                    Value::Bool(false) => "the user says no".to_owned(),
                    other => format!("the user answers: {other}"),
                };
                Ok(ToolOutput::text(text).with_structured(json!({ "answer": answer })))
            }
            Err(AskError::Declined) => Err(ToolError::denied(AskError::Declined.to_string())),
            Err(AskError::Cancelled) => Err(ToolError::cancelled(AskError::Cancelled.to_string())),
            Err(none) => Err(ToolError::unavailable(none.to_string())),
        }
    }
}
