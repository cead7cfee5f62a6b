use super::wire;
use crate::arguments::{self, MAX_LEVELS};
use crate::{Delta, ModelTurn};
use haft_core::{AssistantPart, CallId, Message, ReplyStatus, StopReason, ToolCall, Usage};
use serde_json::Value;
use std::collections::BTreeMap;

/// How many characters of arguments go into one delta; small, so that assembling them is no formality.
const FRAGMENT_CHARACTERS: usize = 12;

/// Holds one turn of a session: what the model said, and what it had seen of the replies when it said so.
///
/// ```
/// use haft_core::{ReplyStatus, ToolCall};
/// use haft_model::SessionTurn;
/// use serde_json::json;
///
/// let call = ToolCall::new("c2".parse()?, "bash", json!({ "command": "cargo test" }));
/// let turn = SessionTurn::new()
///     .text("Now the tests.")
///     .calls(vec![call])
///     .after([("c1".parse()?, ReplyStatus::Ok)]);
/// let calls = r#"[{"id":"c2","name":"bash","input":{"command":"cargo test"}}]"#;
/// let line = format!(r#"{{"text":"Now the tests.","calls":{calls},"after":{{"c1":"ok"}}}}"#);
/// assert_eq!(turn.to_line(), line);
/// # Ok::<(), haft_core::IdError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionTurn {
    /// Which run below the session's own took the turn, by where it was started: the call and the number of its task, from
    /// 0, as in `c1/0`, and deeper ones behind their parent, as in `c1/0/c4/1`; empty for the session's own run.
    pub run: String,
    /// What the model says; empty if it says nothing.
    pub text: String,
    /// What the model thinks; empty if nothing of that is known.
    pub reasoning: String,
    /// The calls, in order.
    pub calls: Vec<ToolCall>,
    /// What the turn cost; zero where that is not known.
    pub usage: Usage,
    /// Why the model stopped.
    pub stop: StopReason,
    /// How the replies that this turn answers ended; calls that are not named are not checked.
    pub after: BTreeMap<CallId, ReplyStatus>,
    /// A text that each of these replies must hold, written by hand where the status does not say what matters.
    pub contains: BTreeMap<CallId, String>,
}

/// Says why a turn cannot stand where it does in a session.
///
/// ```
/// use haft_model::{Session, SessionError, TurnProblem};
///
/// let error = Session::parse(r#"{"text": "Done.", "stop": "tool_calls"}"#, "fix.jsonl").unwrap_err();
/// assert!(matches!(error, SessionError::Turn { line: 1, problem: TurnProblem::NoCalls, .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnProblem {
    /// Two calls of the session have the same id.
    #[error("the call id `{id}` is already used in turn {turn}; give each call of a session its own id")]
    RepeatedId {
        /// The id.
        id: CallId,
        /// The turn that has it first, counted from 1.
        turn: usize,
    },
    /// The turn stops for the replies to its calls, but has none.
    #[error("`stop` is \"tool_calls\", but the turn has no calls; add some, or leave `stop` out")]
    NoCalls,
    /// The turn has calls, but stops as if it had none.
    #[error("`stop` is \"end_turn\", but the turn has calls; leave `stop` out, or leave out `calls`")]
    UnexpectedCalls,
    /// `after` or `contains` names a call that the turn before did not make.
    #[error(
        "`{field}` names the call `{id}`, which the turn before did not make; name only the calls of that turn"
    )]
    UnknownCall {
        /// The field that names it.
        field: &'static str,
        /// The call's id.
        id: CallId,
    },
    /// The arguments of a call have more than 100 levels of arrays and objects.
    #[error("the input of the call `{id}` is nested deeper than {MAX_LEVELS} levels; make it flatter")]
    TooDeep {
        /// The call's id.
        id: CallId,
    },
}

impl SessionTurn {
    /// Makes a turn that says nothing and ends the conversation.
    pub fn new() -> Self {
        Self {
            run: String::new(),
            text: String::new(),
            reasoning: String::new(),
            calls: Vec::new(),
            usage: Usage::default(),
            stop: StopReason::EndTurn,
            after: BTreeMap::new(),
            contains: BTreeMap::new(),
        }
    }

    /// Says which run below the session's own took the turn.
    pub fn run(mut self, run: impl Into<String>) -> Self {
        self.run = run.into();
        self
    }

    /// Sets what the model says.
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    /// Sets what the model thinks.
    pub fn reasoning(mut self, reasoning: impl Into<String>) -> Self {
        self.reasoning = reasoning.into();
        self
    }

    /// Sets the calls, and the reason to stop that goes with them.
    pub fn calls(mut self, calls: Vec<ToolCall>) -> Self {
        self.stop = usual_stop(&calls);
        self.calls = calls;
        self
    }

    /// Sets what the turn cost.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Sets why the model stopped, where calls or their absence do not say so.
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.stop = stop;
        self
    }

    /// Sets how the replies that this turn answers ended.
    pub fn after(mut self, after: impl IntoIterator<Item = (CallId, ReplyStatus)>) -> Self {
        self.after = after.into_iter().collect();
        self
    }

    /// Sets a text that each of these replies must hold.
    pub fn contains(mut self, contains: impl IntoIterator<Item = (CallId, String)>) -> Self {
        self.contains = contains.into_iter().collect();
        self
    }

    /// Writes the turn as one line of a session file, without the line break.
    ///
    /// What is as it would be if it were missing is left out.
    pub fn to_line(&self) -> String {
        wire::print(self)
    }

    /// Gives the message a host assembles from the turn: reasoning, text, then the calls.
    pub(crate) fn message(&self) -> Message {
        let mut parts = Vec::with_capacity(self.calls.len() + 2);
        if !self.reasoning.is_empty() {
            parts.push(AssistantPart::Reasoning { text: self.reasoning.clone(), provider_data: Value::Null });
        }
        if !self.text.is_empty() {
            parts.push(AssistantPart::Text { text: self.text.clone() });
        }
        parts.extend(self.calls.iter().map(|call| AssistantPart::ToolCall { call: call.clone() }));
        Message::Assistant { parts }
    }

    /// Cuts the turn into the deltas of a stream: text by words, calls side by side in fragments.
    pub(crate) fn deltas(&self) -> Vec<Delta> {
        let mut deltas = Vec::new();
        deltas.extend(
            words(&self.reasoning).map(|word| Delta::Reasoning { text: word, provider_data: Value::Null }),
        );
        deltas.extend(words(&self.text).map(Delta::Text));
        let calls = (0u32..).zip(&self.calls);
        deltas.extend(calls.map(|(index, call)| Delta::ToolCallStart {
            index,
            id: call.id.clone(),
            name: call.name.clone(),
        }));
        let mut fragments: Vec<_> =
            self.calls.iter().map(|call| fragments(&arguments::print(&call.input)).into_iter()).collect();
        loop {
            let before = deltas.len();
            for (index, fragments) in (0u32..).zip(&mut fragments) {
                deltas.extend(fragments.next().map(|fragment| Delta::ToolCallArguments { index, fragment }));
            }
            if deltas.len() == before {
                break;
            }
        }
        if self.usage != Usage::default() {
            deltas.push(Delta::Usage(self.usage));
        }
        deltas.push(Delta::Stop(self.stop));
        deltas
    }

    /// Checks what can be said of the turn alone.
    pub(super) fn check(&self) -> Result<(), TurnProblem> {
        match (self.stop, self.calls.is_empty()) {
            (StopReason::ToolCalls, true) => return Err(TurnProblem::NoCalls),
            (StopReason::EndTurn, false) => return Err(TurnProblem::UnexpectedCalls),
            _ => {}
        }
        match self.calls.iter().find(|call| !arguments::fits(&call.input)) {
            Some(call) => Err(TurnProblem::TooDeep { id: call.id.clone() }),
            None => Ok(()),
        }
    }
}

impl Default for SessionTurn {
    fn default() -> Self {
        Self::new()
    }
}

/// Keeps of a turn what a session holds: texts are joined and put ahead of the calls, provider data is left out.
impl From<&ModelTurn> for SessionTurn {
    fn from(turn: &ModelTurn) -> Self {
        let mut reasoning = String::new();
        if let Message::Assistant { parts } = &turn.message {
            for part in parts {
                if let AssistantPart::Reasoning { text, .. } = part {
                    reasoning.push_str(text);
                }
            }
        }
        Self {
            run: String::new(),
            text: turn.message.assistant_text(),
            reasoning,
            calls: turn.message.tool_calls().cloned().collect(),
            usage: turn.usage,
            stop: turn.stop,
            after: BTreeMap::new(),
            contains: BTreeMap::new(),
        }
    }
}

/// The reason to stop of a turn whose line names none.
pub(super) fn usual_stop(calls: &[ToolCall]) -> StopReason {
    if calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolCalls }
}

/// Cuts a text after each blank.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_inclusive(char::is_whitespace).map(str::to_owned)
}

fn fragments(text: &str) -> Vec<String> {
    let mut fragments = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(FRAGMENT_CHARACTERS).map_or(rest.len(), |(end, _)| end);
        let (fragment, after) = rest.split_at(end);
        fragments.push(fragment.to_owned());
        rest = after;
    }
    fragments
}
