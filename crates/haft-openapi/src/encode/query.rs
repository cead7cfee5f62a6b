use super::percent::{Kept, encoded};
use super::{pointer, scalar};
use crate::plan::{Media, Parameter, Place, Plan, Style};
use crate::{EncodeError, FormStyle};
use serde_json::{Map, Value};

/// Is a list of pairs that are written already.
#[derive(Debug)]
pub(super) struct Query {
    pairs: Vec<String>,
}

impl Query {
    pub(super) fn new(start: String) -> Self {
        Self { pairs: if start.is_empty() { Vec::new() } else { vec![start] } }
    }

    pub(super) fn joined(self, between: &str) -> Option<String> {
        (!self.pairs.is_empty()).then(|| self.pairs.join(between))
    }

    /// Adds a parameter in its style.
    pub(super) fn add(
        &mut self,
        parameter: &Parameter,
        value: &Value,
        plan: &Plan,
    ) -> Result<(), EncodeError> {
        let kept = if parameter.allow_reserved && parameter.place == Place::Query {
            Kept::Reserved
        } else {
            Kept::Nothing
        };
        let name = encoded(&parameter.name, Kept::Nothing);
        if let Some(media) = parameter.media {
            self.pairs.push(format!("{name}={}", encoded(&scalar::written(media, value), kept)));
            return Ok(());
        }
        let between = match parameter.style {
            Style::SpaceDelimited => "%20",
            Style::PipeDelimited => "%7C",
            Style::TabDelimited => "%09",
            _ => ",",
        };
        match value {
            Value::Array(_) | Value::Object(_) if parameter.style == Style::DeepObject => {
                self.add_nested(&name, value, FormStyle::Indexed, kept);
            }
            Value::Array(items) if parameter.explode => {
                let items = items.iter().filter(|item| !item.is_null());
                self.pairs.extend(items.map(|item| format!("{name}={}", encoded(&scalar::text(item), kept))));
            }
            Value::Array(items) if items.is_empty() => {
                if parameter.required {
                    self.pairs.push(format!("{name}="));
                }
            }
            Value::Array(items) => {
                self.pairs.push(format!("{name}={}", scalar::list(items, between, kept)));
            }
            Value::Object(members) if parameter.explode => {
                let is_of_another = |key: &str| {
                    let mut others = plan.parameters.iter().filter(|other| other.place == parameter.place);
                    others.any(|other| *other != *parameter && other.name == key)
                        || is_secret(plan, parameter, key)
                        || in_path_query(plan, key)
                };
                for (key, member) in members.iter().filter(|(_, member)| !member.is_null()) {
                    if is_of_another(key) {
                        let message = format!("`{}` is another parameter and cannot be set here", shown(key));
                        return Err(EncodeError::argument(pointer(&parameter.key), message));
                    }
                    self.pairs.push(format!(
                        "{}={}",
                        encoded(key, Kept::Nothing),
                        encoded(&scalar::text(member), kept)
                    ));
                }
            }
            Value::Object(members) if members.is_empty() => {}
            Value::Object(members) => {
                self.pairs.push(format!("{name}={}", scalar::pairs(members, between, between, kept)));
            }
            value => self.pairs.push(format!("{name}={}", encoded(&scalar::text(value), kept))),
        }
        Ok(())
    }

    /// Adds a parameter that is the whole query.
    pub(super) fn add_whole(
        &mut self,
        parameter: &Parameter,
        value: &Value,
        plan: &Plan,
    ) -> Result<(), EncodeError> {
        match (parameter.media, value) {
            (Some(Media::Form) | None, Value::Object(members)) => {
                if let Some(key) = members.keys().find(|key| is_secret(plan, parameter, key)) {
                    let message = format!("`{}` cannot be set here", shown(key));
                    return Err(EncodeError::argument(pointer(&parameter.key), message));
                }
                self.add_form(members, plan.forms);
            }
            (media, value) => {
                let text = scalar::written(media.unwrap_or(Media::Text), value);
                self.pairs.push(encoded(&text, Kept::Nothing).into_owned());
            }
        }
        Ok(())
    }

    /// Adds fields of which nothing is said.
    pub(super) fn add_form(&mut self, members: &Map<String, Value>, forms: FormStyle) {
        for (name, value) in members {
            self.add_nested(&encoded(name, Kept::Nothing), value, forms, Kept::Nothing);
        }
    }

    /// Adds a value, and what is in it with brackets behind its name.
    pub(super) fn add_nested(&mut self, name: &str, value: &Value, forms: FormStyle, kept: Kept) {
        match (value, forms) {
            (Value::Null, _) => {}
            (Value::Array(items), FormStyle::Spec) => {
                for item in items.iter().filter(|item| !item.is_null()) {
                    self.pairs.push(format!("{name}={}", encoded(&scalar::text(item), kept)));
                }
            }
            (Value::Array(items), FormStyle::Brackets) => {
                for item in items {
                    self.add_nested(&format!("{name}%5B%5D"), item, forms, kept);
                }
            }
            (Value::Array(items), FormStyle::Indexed) => {
                for (index, item) in items.iter().enumerate() {
                    self.add_nested(&format!("{name}%5B{index}%5D"), item, forms, kept);
                }
            }
            (Value::Object(members), FormStyle::Brackets | FormStyle::Indexed) => {
                for (key, member) in members {
                    let name = format!("{name}%5B{}%5D", encoded(key, Kept::Nothing));
                    self.add_nested(&name, member, forms, kept);
                }
            }
            (value, _) => self.pairs.push(format!("{name}={}", encoded(&scalar::text(value), kept))),
        }
    }

    pub(super) fn push(&mut self, pair: String) {
        self.pairs.push(pair);
    }
}

fn is_secret(plan: &Plan, parameter: &Parameter, key: &str) -> bool {
    let place = if parameter.place == Place::QueryString { Place::Query } else { parameter.place };
    plan.secrets.is_like(place, key)
}

/// Tells whether the path itself says the parameter.
fn in_path_query(plan: &Plan, key: &str) -> bool {
    plan.path.query.iter().any(|piece| match piece {
        crate::plan::Piece::Text(text) => text.split('&').any(|pair| pair.split('=').next() == Some(key)),
        crate::plan::Piece::Parameter(_) => false,
    })
}

fn shown(key: &str) -> &str {
    &key[..key.floor_char_boundary(100)]
}
