use crate::CallScope;
use haft_core::{CallId, RunId, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Is a question that a running call puts to a person.
///
/// ```
/// use haft_tools_core::Question;
/// use serde_json::json;
///
/// let question = Question::choice("Which database is this about?", ["staging", "production"]);
/// assert!(question.check(&json!("staging")).is_ok());
/// assert_eq!(
///     question.check(&json!("prod")).unwrap_err().to_string(),
///     "`\"prod\"` is not among the choices; answer with `staging` or `production`",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// The question, for people.
    pub text: String,
    /// What is an answer to it.
    pub kind: QuestionKind,
    /// Names the question within its call, if it has a name: see [`Question::keyed`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Says what is an answer to a question.
///
/// ```
/// use haft_tools_core::{Question, QuestionKind};
///
/// assert_eq!(Question::confirm("Shall the old table go?").kind, QuestionKind::Confirm);
/// let options = vec!["staging".to_owned(), "production".to_owned()];
/// assert_eq!(Question::choice("Which?", options.clone()).kind, QuestionKind::Choice { options });
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuestionKind {
    /// Any text.
    Text,
    /// One of these texts.
    Choice {
        /// The texts.
        options: Vec<String>,
    },
    /// `true` or `false`.
    Confirm,
    /// An object that fits a JSON Schema.
    Form {
        /// The schema.
        schema: Schema,
    },
}

/// Is a question, with the call that puts it.
///
/// ```
/// use async_trait::async_trait;
/// use haft_tools_core::{Approval, Approver, AskedQuestion, PendingCall, QuestionOutcome};
/// use serde_json::json;
///
/// /// Says yes to what one tool asks, and leaves all else.
/// struct Patient;
///
/// #[async_trait]
/// impl Approver for Patient {
///     async fn approve(&self, _: &PendingCall) -> Approval {
///         Approval::Later
///     }
///
///     async fn answer(&self, asked: &AskedQuestion) -> QuestionOutcome {
///         match asked.tool.as_str() {
///             "clean_up" => QuestionOutcome::Answered { answer: json!(true) },
///             _ => QuestionOutcome::Declined,
///         }
///     }
/// }
/// # let _ = Patient;
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AskedQuestion {
    /// The question.
    pub question: Question,
    /// The run of the call.
    pub run: RunId,
    /// The agent that made the call, if it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The call.
    pub call: CallId,
    /// The tool that asks.
    pub tool: String,
}

/// Says what came of a question.
///
/// ```
/// use haft_tools_core::{Question, QuestionOutcome};
/// use serde_json::json;
///
/// let question = Question::confirm("Shall the old table go?");
/// let response = QuestionOutcome::Answered { answer: json!(true) };
/// let QuestionOutcome::Answered { answer } = &response else { return };
/// assert!(question.check(answer).is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "response", rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuestionOutcome {
    /// An answer of the question's kind.
    Answered {
        /// A string for a text or a choice, a boolean for a confirmation, an object for a form.
        answer: Value,
    },
    /// The person does not want to answer.
    Declined,
    /// Nobody answered in time.
    TimedOut {
        /// How long was waited, in milliseconds.
        after_ms: u64,
    },
    /// There is nobody to ask.
    Nobody,
}

/// Says why a question has no answer; its text is written for the model.
///
/// ```
/// use haft_tools_core::{AskError, CallContext, CallScope, Question};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cx = CallContext::detached("c1".parse()?, CallScope::new("run-1".parse()?));
/// assert_eq!(cx.ask(Question::text("Which one?")).await, Err(AskError::Nobody));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The person does not want to answer.
    #[error("the user does not want to answer; go on without the answer")]
    Declined,
    /// Nobody answered in time.
    #[error("nobody answered within {} s; go on without the answer, or ask again later", after_ms.div_ceil(1000))]
    TimedOut {
        /// How long was waited, in milliseconds.
        after_ms: u64,
    },
    /// There is nobody to ask.
    #[error("nobody can be asked here; go on without the answer")]
    Nobody,
    /// The call was cancelled meanwhile.
    #[error("the call was cancelled before the question was answered")]
    Cancelled,
    /// What came back is no answer to the question.
    #[error("what the user answered does not fit the question; ask again, or go on without the answer")]
    Unfit {
        /// What is wrong with it, for whoever answers.
        reason: String,
    },
}

/// Says why a value is no answer to a question, and what would be; for whoever answers.
///
/// ```
/// use haft_tools_core::{InvalidAnswerError, Question};
/// use serde_json::json;
///
/// let error: InvalidAnswerError = Question::confirm("Shall the old table go?").check(&json!("maybe")).unwrap_err();
/// assert_eq!(error.to_string(), "`\"maybe\"` is neither yes nor no; answer with `true` or `false`");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidAnswerError(String);

impl Question {
    /// Asks for a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(text, QuestionKind::Text)
    }

    /// Asks for one of several texts.
    pub fn choice(text: impl Into<String>, options: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let options = options.into_iter().map(Into::into).collect();
        Self::new(text, QuestionKind::Choice { options })
    }

    /// Asks for a yes or a no.
    pub fn confirm(text: impl Into<String>) -> Self {
        Self::new(text, QuestionKind::Confirm)
    }

    /// Asks for an object that fits a schema.
    pub fn form(text: impl Into<String>, schema: Schema) -> Self {
        Self::new(text, QuestionKind::Form { schema })
    }

    /// Names the question within its call, the same each time that the call is made.
    ///
    /// A client of this program that knows the name can give its answer together with the call, and where a call has to be
    /// begun anew, the answer that was given is found by it. Without a name, questions are told apart by their order.
    pub fn keyed(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    fn new(text: impl Into<String>, kind: QuestionKind) -> Self {
        Self { text: text.into(), kind, key: None }
    }

    /// Tells whether a value is an answer to the question; if not, says why and what would be.
    ///
    /// # Errors
    ///
    /// When it is none, with the reason for whoever answers.
    pub fn check(&self, answer: &Value) -> Result<(), InvalidAnswerError> {
        let unfit = match &self.kind {
            QuestionKind::Text if answer.is_string() => return Ok(()),
            QuestionKind::Text => format!("`{answer}` is not a text; answer with one"),
            QuestionKind::Confirm if answer.is_boolean() => return Ok(()),
            QuestionKind::Confirm => {
                format!("`{answer}` is neither yes nor no; answer with `true` or `false`")
            }
            QuestionKind::Choice { options } => {
                if answer.as_str().is_some_and(|answer| options.iter().any(|option| option == answer)) {
                    return Ok(());
                }
                let options = crate::nearest::listed(options.iter().map(String::as_str), "or");
                format!("`{answer}` is not among the choices; answer with {options}")
            }
            QuestionKind::Form { schema } => {
                return crate::validation::check(schema, answer).map_err(InvalidAnswerError);
            }
        };
        Err(InvalidAnswerError(unfit))
    }
}

impl AskedQuestion {
    /// Puts a question in the name of a call, as it comes to an [`Approver`](crate::Approver).
    ///
    /// ```
    /// use haft_tools_core::{AllowAll, Approver as _, AskedQuestion, CallScope, Question, QuestionOutcome};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let scope = CallScope::new("run-1".parse()?).with_agent("explorer");
    /// let question = Question::confirm("Shall the old table go?");
    /// let asked = AskedQuestion::new(question, &scope, "c1".parse()?, "clean_up");
    /// assert_eq!((asked.agent.as_deref(), asked.tool.as_str()), (Some("explorer"), "clean_up"));
    /// assert_eq!(AllowAll.answer(&asked).await, QuestionOutcome::Nobody);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(question: Question, scope: &CallScope, call: CallId, tool: impl Into<String>) -> Self {
        let agent = scope.agent().map(str::to_owned);
        Self { question, run: scope.run().clone(), agent, call, tool: tool.into() }
    }
}

impl QuestionOutcome {
    /// Takes the answer, if it is one to the question.
    pub(crate) fn into_answer(self, question: &Question) -> Result<Value, AskError> {
        match self {
            Self::Answered { answer } => match question.check(&answer) {
                Ok(()) => Ok(answer),
                Err(unfit) => Err(AskError::Unfit { reason: unfit.to_string() }),
            },
            Self::Declined => Err(AskError::Declined),
            Self::TimedOut { after_ms } => Err(AskError::TimedOut { after_ms }),
            Self::Nobody => Err(AskError::Nobody),
        }
    }
}
