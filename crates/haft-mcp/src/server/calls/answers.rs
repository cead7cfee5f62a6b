//! What clients answer, read narrowly: it is theirs, and anything may stand in it.

use crate::server::ask::{Ask, AskKind, ClientAskError};
use crate::server::caller::{Abilities, Ability};
use haft_core::Schema;
use haft_tools_core::Question;
use serde_json::{Map, Value, json};

/// The most bytes of a form.
const MOST_FORM_BYTES: usize = 64 * 1024;

/// What each field of a form is.
const FIELD_KINDS: [&str; 5] = ["string", "number", "integer", "boolean", "array"];

/// What makes a field more than a flat one.
const NOT_FLAT: [&str; 6] = ["properties", "$ref", "$defs", "allOf", "not", "additionalProperties"];

/// Reads what a client answered as it stands in `inputResponses`: the result of the request that the ask would be.
///
/// `None` is no answer to it, whereupon it is asked again.
pub(crate) fn read_answer(kind: &AskKind, raw: &Value) -> Option<Result<Value, ClientAskError>> {
    match kind {
        AskKind::Form { schema, .. } => Some(match action(raw)? {
            Ok(()) => {
                let content = raw.get("content").cloned().unwrap_or_else(|| json!({}));
                fits(schema, &content).then_some(Ok(content))?
            }
            Err(error) => Err(error),
        }),
        AskKind::Address { .. } => Some(action(raw)?.map(|()| Value::Null)),
        AskKind::Sample(_) => (raw.get("role").is_some_and(Value::is_string) && raw.get("content").is_some())
            .then(|| Ok(raw.clone())),
        AskKind::Roots => raw.get("roots").is_some_and(Value::is_array).then(|| Ok(raw.clone())),
    }
}

/// Reads what a person did with a question.
fn action(raw: &Value) -> Option<Result<(), ClientAskError>> {
    match raw.get("action")?.as_str()? {
        "accept" => Some(Ok(())),
        "decline" => Some(Err(ClientAskError::Declined)),
        "cancel" => Some(Err(ClientAskError::Cancelled)),
        _ => None,
    }
}

fn fits(schema: &Value, content: &Value) -> bool {
    let checked = Schema::new(schema.clone()).map(|schema| Question::form("", schema).check(content));
    content.is_object() && checked.is_ok_and(|checked| checked.is_ok())
}

impl Ask {
    /// Says what a client has to be able to do to be asked this.
    pub(crate) fn ability(&self) -> Ability {
        match self.kind {
            AskKind::Form { .. } => Ability::Forms,
            AskKind::Address { .. } => Ability::Addresses,
            AskKind::Sample(_) => Ability::Sampling,
            AskKind::Roots => Ability::Roots,
        }
    }
}

impl Abilities {
    /// Tells whether a client has an ability.
    pub(crate) fn have(self, ability: Ability) -> bool {
        match ability {
            Ability::Forms => self.forms,
            Ability::Addresses => self.addresses,
            Ability::Sampling => self.sampling,
            Ability::Roots => self.roots,
            Ability::Tasks => self.tasks,
        }
    }
}

/// Takes of a schema what the protocol allows in a form: an object of flat fields. `None` if it is more than that.
pub(super) fn flat(schema: &Value) -> Option<Value> {
    let fields = schema.get("properties")?.as_object()?;
    let is_flat = |field: &Value| {
        let kind = field.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| FIELD_KINDS.contains(&kind))
            && !NOT_FLAT.iter().any(|keyword| field.get(keyword).is_some())
    };
    if !fields.values().all(is_flat) || schema.to_string().len() > MOST_FORM_BYTES {
        return None;
    }
    let mut form = Map::new();
    form.insert("type".to_owned(), "object".into());
    form.insert("properties".to_owned(), fields.clone().into());
    if let Some(required) = schema.get("required").filter(|required| required.is_array()) {
        form.insert("required".to_owned(), required.clone());
    }
    Some(form.into())
}

#[cfg(test)]
mod tests {
    use super::{flat, read_answer};
    use crate::server::ask::{AskKind, ClientAskError};
    use serde_json::{Value, json};

    fn form() -> AskKind {
        let schema = json!({
            "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"]
        });
        AskKind::Form { message: String::new(), schema }
    }

    #[expect(clippy::needless_pass_by_value, reason = "a value is written where it is used")]
    fn check(raw: Value, read: Option<Result<Value, ClientAskError>>) {
        assert_eq!(read_answer(&form(), &raw), read, "{raw}");
    }

    #[test]
    fn only_an_answer_to_the_form_is_one() {
        let name = json!({ "name": "Ada" });
        check(json!({ "action": "accept", "content": name }), Some(Ok(name)));
        check(json!({ "action": "decline" }), Some(Err(ClientAskError::Declined)));
        check(json!({ "action": "cancel" }), Some(Err(ClientAskError::Cancelled)));
        for none in [
            json!(null),
            json!(12345),
            json!({}),
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": { "name": 5 } }),
            json!({ "action": "accept", "content": ["Ada"] }),
            json!({ "action": "ACCEPT", "content": { "name": "Ada" } }),
            json!({ "action": true }),
        ] {
            check(none, None);
        }
    }

    #[test]
    fn a_form_is_flat() {
        let of = |field: Value| json!({ "properties": { "a": field }, "additionalProperties": false });
        let kept = json!({ "type": "object", "properties": { "a": { "type": "string", "default": "x" } } });
        assert_eq!(flat(&of(json!({ "type": "string", "default": "x" }))), Some(kept));
        for more in [json!({ "type": "object", "properties": {} }), json!({ "$ref": "#" }), json!(true)] {
            assert_eq!(flat(&of(more)), None);
        }
        assert_eq!(flat(&json!({ "type": "object" })), None);
    }
}
