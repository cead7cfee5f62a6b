use super::percent::{Kept, encoded};
use super::{pointer, scalar};
use crate::plan::{Media, Parameter, Piece, Place, Plan, Style};
use crate::secrets::same_name;
use crate::store::percent_decoded;
use crate::text::line;
use crate::{EncodeError, FormStyle};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The most bytes of a query, or of a form that is written like one.
const MOST_BYTES: usize = 32 << 20;

/// The most bytes of a name together with the names of what it is nested in, as they are written.
const MOST_NAME_BYTES: usize = 2_000;

/// Is a list of pairs that are written already.
#[derive(Debug)]
pub(super) struct Query {
    pairs: Vec<String>,
    bytes: usize,
    /// The argument to blame for what is added.
    pointer: String,
}

impl Query {
    pub(super) fn new(start: String) -> Self {
        let bytes = start.len();
        Self { pairs: if start.is_empty() { Vec::new() } else { vec![start] }, bytes, pointer: String::new() }
    }

    pub(super) fn joined(self, between: &str) -> Option<String> {
        (!self.pairs.is_empty()).then(|| self.pairs.join(between))
    }

    /// Says which argument is to blame for what is added from now on.
    pub(super) fn blame(&mut self, pointer: String) {
        self.pointer = pointer;
    }

    fn refused(&self, message: impl Into<String>) -> EncodeError {
        EncodeError::argument(self.pointer.clone(), message)
    }

    /// Adds a pair. A name that is repeated for every value can make far more of an argument than it is.
    pub(super) fn push(&mut self, name: &str, value: &str) -> Result<(), EncodeError> {
        self.bytes += name.len() + value.len() + 2;
        if self.bytes > MOST_BYTES {
            return Err(self.refused("it is too large once it is written as it has to be; send less at once"));
        }
        self.pairs.push(format!("{name}={value}"));
        Ok(())
    }

    /// Adds a parameter in its style.
    pub(super) fn add(
        &mut self,
        parameter: &Parameter,
        value: &Value,
        plan: &Plan,
    ) -> Result<(), EncodeError> {
        let kept = match parameter.place {
            Place::Query if parameter.allow_reserved => Kept::Reserved,
            _ if parameter.style == Style::Cookie => Kept::InCookie,
            _ => Kept::Nothing,
        };
        self.blame(pointer(&parameter.key));
        let name = encoded(&parameter.name, Kept::Nothing);
        if let Some(media) = parameter.media {
            return self.push(&name, &encoded(&scalar::written(media, value), kept));
        }
        let between = parameter.style.between();
        match value {
            Value::Array(_) | Value::Object(_) if parameter.style == Style::DeepObject => {
                self.add_nested(&name, value, FormStyle::Indexed, kept)?;
            }
            Value::Array(items) if parameter.explode => {
                for item in items.iter().filter(|item| !item.is_null()) {
                    self.push(&name, &encoded(&scalar::text(item), kept))?;
                }
            }
            Value::Array(items) if items.is_empty() => {
                if parameter.required {
                    self.push(&name, "")?;
                }
            }
            Value::Array(items) => {
                self.push(&name, &scalar::list(items, between, kept))?;
            }
            Value::Object(members) if parameter.explode => {
                let others = Others::of(plan, parameter);
                self.add_members(members, kept, |key| others.has(key))?;
            }
            Value::Object(members) if members.is_empty() => {}
            Value::Object(members) => {
                self.push(&name, &scalar::pairs(members, between, between, kept))?;
            }
            value => self.push(&name, &encoded(&scalar::text(value), kept))?,
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
                self.blame(pointer(&parameter.key));
                let others = Others::of(plan, parameter);
                if let Some(key) = members.keys().find(|key| others.has(key)) {
                    return Err(self.refused(format!("`{}` cannot be set here", shown(key))));
                }
                self.add_form(members, plan.forms)?;
            }
            (media, value) => {
                let text = scalar::written(media.unwrap_or(Media::Text), value);
                self.pairs.push(encoded(&text, Kept::Nothing).into_owned());
            }
        }
        Ok(())
    }

    /// Adds the members of an object as pairs of their own, unless one of them is something else.
    pub(super) fn add_members(
        &mut self,
        members: &Map<String, Value>,
        kept: Kept,
        is_of_another: impl Fn(&str) -> bool,
    ) -> Result<(), EncodeError> {
        for (key, member) in members.iter().filter(|(_, member)| !member.is_null()) {
            if is_of_another(key) {
                let message = format!("`{}` is another parameter and cannot be set here", shown(key));
                return Err(self.refused(message));
            }
            self.push(&encoded(key, Kept::Nothing), &encoded(&scalar::text(member), kept))?;
        }
        Ok(())
    }

    /// Adds fields of which nothing is said.
    fn add_form(&mut self, members: &Map<String, Value>, forms: FormStyle) -> Result<(), EncodeError> {
        for (name, value) in members {
            self.add_nested(&encoded(name, Kept::Nothing), value, forms, Kept::Nothing)?;
        }
        Ok(())
    }

    /// Adds a value, and what is in it with brackets behind its name.
    pub(super) fn add_nested(
        &mut self,
        name: &str,
        value: &Value,
        forms: FormStyle,
        kept: Kept,
    ) -> Result<(), EncodeError> {
        if name.len() > MOST_NAME_BYTES {
            return Err(self.refused("a name in it is too long, or it is nested too deeply"));
        }
        match (value, forms) {
            (Value::Null, _) => Ok(()),
            (Value::Array(items), FormStyle::Spec) => items
                .iter()
                .filter(|item| !item.is_null())
                .try_for_each(|item| self.push(name, &encoded(&scalar::text(item), kept))),
            (Value::Array(items), FormStyle::Brackets) => {
                let name = format!("{name}%5B%5D");
                items.iter().try_for_each(|item| self.add_nested(&name, item, forms, kept))
            }
            (Value::Array(items), FormStyle::Indexed) => {
                items.iter().enumerate().try_for_each(|(index, item)| {
                    self.add_nested(&format!("{name}%5B{index}%5D"), item, forms, kept)
                })
            }
            (Value::Object(members), FormStyle::Brackets | FormStyle::Indexed) => {
                members.iter().try_for_each(|(key, member)| {
                    let name = format!("{name}%5B{}%5D", encoded(key, Kept::Nothing));
                    self.add_nested(&name, member, forms, kept)
                })
            }
            (value, _) => self.push(name, &encoded(&scalar::text(value), kept)),
        }
    }
}

/// Holds the names that an object of free names may not have, as far as servers may take one for the other.
struct Others<'p> {
    plan: &'p Plan,
    place: Place,
    names: HashSet<String>,
}

impl<'p> Others<'p> {
    /// Collects the other parameters of a place, and what the path itself says behind a `?`.
    fn of(plan: &'p Plan, parameter: &Parameter) -> Self {
        let place = if parameter.place == Place::QueryString { Place::Query } else { parameter.place };
        let others = plan.parameters.iter().filter(|other| other.place == place && *other != parameter);
        let mut names: HashSet<String> = others.map(|other| same_name(&other.name)).collect();
        for piece in plan.path.query.iter().filter(|_| place == Place::Query) {
            if let Piece::Text(text) = piece {
                let pairs = text.split('&').filter_map(|pair| pair.split('=').next());
                names.extend(pairs.filter(|name| !name.is_empty()).map(|name| same_name(&decoded(name))));
            }
        }
        Self { plan, place, names }
    }

    fn has(&self, key: &str) -> bool {
        self.plan.secrets.is_like(self.place, key)
            || !self.names.is_empty() && self.names.contains(&same_name(key))
    }
}

/// Reads a name of the path as servers do.
fn decoded(name: &str) -> String {
    percent_decoded(&name.replace('+', " "))
}

fn shown(key: &str) -> String {
    line(key, 100)
}
