//! The form in which a question of a running call is put.

use super::answers::flat;
use crate::server::ask::ClientAskError;
use crate::shown::shown;
use haft_tools_core::{Question, QuestionKind, QuestionOutcome, milliseconds};
use serde_json::{Value, json};

/// The most bytes of a question.
const MOST_BYTES: usize = 4 * 1024;

/// The field that holds an answer which is no object.
const ANSWER: &str = "answer";

/// Writes what a person reads.
pub(super) fn message(question: &Question) -> String {
    shown(&question.text, MOST_BYTES)
}

/// Makes the form of a question; `None` if it cannot be shown as one.
pub(super) fn schema(question: &Question) -> Option<Value> {
    let field = match &question.kind {
        QuestionKind::Text => json!({ "type": "string" }),
        QuestionKind::Choice { options } => json!({ "type": "string", "enum": options }),
        QuestionKind::Confirm => json!({ "type": "boolean" }),
        QuestionKind::Form { schema } => return flat(schema.as_value()),
        _ => return None,
    };
    Some(json!({ "type": "object", "properties": { ANSWER: field }, "required": [ANSWER] }))
}

/// Reads what came of the form.
pub(super) fn response(question: &Question, answer: Result<Value, ClientAskError>) -> QuestionOutcome {
    match answer {
        Ok(content) if matches!(question.kind, QuestionKind::Form { .. }) => {
            QuestionOutcome::Answered { answer: content }
        }
        Ok(mut content) => {
            let answer = content.get_mut(ANSWER).map(Value::take).unwrap_or_default();
            QuestionOutcome::Answered { answer }
        }
        Err(ClientAskError::Declined | ClientAskError::Cancelled) => QuestionOutcome::Declined,
        Err(ClientAskError::TimedOut(time)) => QuestionOutcome::TimedOut { after_ms: milliseconds(time) },
        Err(_) => QuestionOutcome::Nobody,
    }
}
