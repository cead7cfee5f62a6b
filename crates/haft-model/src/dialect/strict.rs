use super::form::{Branch, Form, form, form_of, permitted};
use super::limits;
use super::place::{ANNOTATIONS, DOCUMENT, Node, Place};
use super::projection::{LossKind, Losses, NotStrictError, NotStrictReason};
use super::value::Kind;
use super::walk::{DEEPEST, Walk};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The formats of strings that OpenAI knows.
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// How long a regular expression may be that is looked through for what OpenAI does not know.
const MOST_PATTERN_BYTES: usize = 4096;

/// Writes the schema in OpenAI's strict subset, or tells why that cannot be.
pub(super) fn project(top: &Value) -> Result<(Value, Losses), NotStrictError> {
    let mut strict = Strict { walk: Walk::new(top, true) };
    let mut schema = strict.top()?;
    let mut definitions = Map::new();
    while let Some((name, place)) = strict.walk.next_definition() {
        strict.walk.active.push(place.address());
        // Nothing but the top level, at depth 0, may say no more than that it is an object.
        let definition = strict.schema(&place, 1)?;
        strict.walk.active.pop();
        definitions.insert(name, definition);
    }
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    limits::check(&schema)?;
    Ok((schema, strict.walk.losses))
}

struct Strict<'a> {
    walk: Walk<'a>,
}

impl<'a> Strict<'a> {
    fn top(&mut self) -> Result<Value, NotStrictError> {
        let place = self.walk.top();
        match form(&mut self.walk, &place, 0)? {
            Form::Typed { mut node, .. } => {
                // A tool that takes no arguments often says no more than that it takes an object.
                node.properties.get_or_insert_default();
                self.node(&node, &[Kind::Object], 0)
            }
            Form::Choice { .. } => refuse(&place, NotStrictReason::TopLevelChoice),
            Form::Any(_) | Form::Cut => refuse(&place, NotStrictReason::AnyValue),
        }
    }

    fn schema(&mut self, place: &Place<'a>, depth: usize) -> Result<Value, NotStrictError> {
        if let Some(reference) = self.reference(place)? {
            return Ok(reference);
        }
        let form = form(&mut self.walk, place, depth)?;
        self.form(form, place, depth)
    }

    fn form(&mut self, form: Form<'a>, place: &Place<'a>, depth: usize) -> Result<Value, NotStrictError> {
        match form {
            Form::Typed { kinds, node } => self.node(&node, &kinds, depth),
            Form::Choice { node, branches } => self.choice(&node, branches, depth),
            Form::Any(_) | Form::Cut => refuse(place, NotStrictReason::AnyValue),
        }
    }

    /// Writes what is nothing but a reference as one: OpenAI takes no keyword beside it.
    fn reference(&mut self, place: &Place<'a>) -> Result<Option<Value>, NotStrictError> {
        let Some(Value::String(reference)) = place.value.get("$ref") else { return Ok(None) };
        let Some(target) = self.walk.resolve(reference) else {
            return refuse(place, NotStrictReason::Unresolved);
        };
        let Value::Object(members) = place.value else { return Ok(None) };
        let beside = members.iter().filter(|(name, _)| *name != "$ref" && !DOCUMENT.contains(&name.as_str()));
        let is_alone = beside.clone().next().is_none();
        // Inside of what it refers to it cannot be written out, which would never end.
        let is_inside = self.walk.active.contains(&target.address())
            && beside.clone().all(|(name, _)| ANNOTATIONS.contains(&name.as_str()));
        if !is_alone && !is_inside {
            return Ok(None);
        }
        for (name, value) in beside {
            self.walk.lose(&place.member(value, name).path, LossKind::Dropped);
        }
        let reference = self.walk.reference(&target);
        Ok(Some(json!({ "$ref": reference })))
    }

    fn choice(
        &mut self,
        node: &Node<'a>,
        branches: Vec<Branch<'a>>,
        depth: usize,
    ) -> Result<Value, NotStrictError> {
        let before = self.walk.active.len();
        self.walk.active.extend(&node.followed);
        let mut schemas: Vec<Value> = Vec::new();
        for branch in branches {
            schemas.push(match branch {
                Branch::Alone(place) => self.schema(&place, depth + 1)?,
                Branch::Joined(branch) => {
                    let place = Place { value: &Value::Null, path: branch.path.clone() };
                    if depth > DEEPEST {
                        self.walk.refuse_size(&place.path, "nested schemas", DEEPEST)?;
                    }
                    let form = form_of(&mut self.walk, branch)?;
                    self.form(form, &place, depth + 1)?
                }
            });
        }
        self.walk.active.truncate(before);
        let mut hints = node.hints.clone();
        self.walk.leave_annotations(node, &mut hints);
        let mut written = Map::from_iter([("anyOf".to_owned(), Value::Array(schemas))]);
        if let Some(text) = self.walk.description(node, &hints) {
            written.insert("description".to_owned(), text);
        }
        Ok(Value::Object(written))
    }

    fn node(&mut self, node: &Node<'a>, kinds: &[Kind], depth: usize) -> Result<Value, NotStrictError> {
        let before = self.walk.active.len();
        self.walk.active.extend(&node.followed);
        let mut hints = node.hints.clone();
        self.walk.leave_annotations(node, &mut hints);
        let (null, others) = match kinds {
            [others @ .., Kind::Null] if !others.is_empty() => (true, others),
            others => (false, others),
        };
        let mut schema = if let [kind] = others {
            Value::Object(self.typed(node, *kind, depth, &mut hints)?)
        } else {
            let mut schemas = Vec::new();
            for kind in others {
                let mut inner = Vec::new();
                let mut schema = self.typed(&node.only(*kind), *kind, depth + 1, &mut inner)?;
                if !inner.is_empty() {
                    schema.insert("description".to_owned(), json!(format!("({})", inner.join(", "))));
                }
                schemas.push(Value::Object(schema));
            }
            json!({ "anyOf": schemas })
        };
        self.walk.active.truncate(before);
        if let Some(text) = self.walk.description(node, &hints) {
            schema["description"] = text;
        }
        Ok(if null { or_null(schema) } else { schema })
    }

    fn typed(
        &mut self,
        node: &Node<'a>,
        kind: Kind,
        depth: usize,
        hints: &mut Vec<String>,
    ) -> Result<Map<String, Value>, NotStrictError> {
        let mut written = Map::from_iter([("type".to_owned(), json!(kind.name()))]);
        if let Some(values) = permitted(node) {
            let mut all = Vec::new();
            for value in values.into_iter().filter(|value| kind.takes(value)) {
                let place = Place { value, path: node.path.clone() };
                if matches!(kind, Kind::Array | Kind::Object) {
                    return refuse(&place, NotStrictReason::StructuredConstant);
                }
                if let Some(value) = self.walk.literal(&place) {
                    all.push(value);
                } else {
                    self.walk.refuse_size(&place.path, "enum values", limits::MOST_ENUM_VALUES)?;
                }
            }
            match all.as_slice() {
                [value] if node.value("const").is_some() => written.insert("const".to_owned(), value.clone()),
                _ => written.insert("enum".to_owned(), Value::Array(all)),
            };
        }
        for (name, place) in &node.keywords {
            if is_kept(name, place.value, kind) {
                if let Some(value) = self.walk.literal(place) {
                    written.insert((*name).to_owned(), value);
                }
            } else if !is_read_elsewhere(name, kind) {
                let concerns_another = Kind::spoken_of(name).is_some_and(|spoken| {
                    spoken != kind && !(spoken == Kind::Number && kind == Kind::Integer)
                });
                if concerns_another {
                    self.walk.lose(&place.path, LossKind::Dropped);
                } else {
                    self.walk.describe(name, place, hints);
                }
            }
        }
        match kind {
            Kind::Object => self.object(node, &mut written, depth)?,
            Kind::Array => {
                let here = Place { value: &Value::Null, path: node.path.clone() };
                let Some(items) = node.keywords.get("items") else {
                    return refuse(&here, NotStrictReason::AnyValue);
                };
                if node.keywords.contains_key("prefixItems") {
                    return refuse(&here, NotStrictReason::Unjoinable);
                }
                written.insert("items".to_owned(), self.schema(items, depth + 1)?);
            }
            _ => {}
        }
        Ok(written)
    }

    fn object(
        &mut self,
        node: &Node<'a>,
        written: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), NotStrictError> {
        let nothing = BTreeMap::new();
        let properties = node.properties.as_ref().unwrap_or(&nothing);
        let here = Place { value: &Value::Null, path: node.path.clone() };
        let further = node.value("additionalProperties").or_else(|| node.value("unevaluatedProperties"));
        let is_open = further != Some(&Value::Bool(false));
        let is_empty = properties.is_empty() && depth > 0;
        if (is_open && (further.is_some() || is_empty)) || node.keywords.contains_key("patternProperties") {
            return refuse(&here, NotStrictReason::FreeProperties);
        }
        if is_open {
            self.walk.lose(&node.path, LossKind::Closed);
        }
        if node.required.iter().any(|name| !properties.contains_key(name)) {
            return refuse(&here, NotStrictReason::UndescribedProperty);
        }
        let mut all = Map::new();
        for (name, places) in properties {
            if !self.walk.spend_text(2 * name.len()) {
                self.walk.refuse_size(
                    &node.path,
                    "characters in names and enum values",
                    limits::MOST_TEXT,
                )?;
            }
            for place in places {
                let schema = self.schema(place, depth + 1)?;
                let schema = if node.required.contains(name) { schema } else { or_null(schema) };
                all.insert((*name).to_owned(), schema);
            }
        }
        written.insert("required".to_owned(), all.keys().map(|name| json!(name)).collect());
        written.insert("properties".to_owned(), Value::Object(all));
        written.insert("additionalProperties".to_owned(), Value::Bool(false));
        Ok(())
    }
}

fn refuse<T>(place: &Place<'_>, reason: NotStrictReason) -> Result<T, NotStrictError> {
    Err(NotStrictError { pointer: place.path.pointer(), reason })
}

/// Tells whether a keyword that holds a literal is one that OpenAI takes for a type.
fn is_kept(name: &str, value: &Value, kind: Kind) -> bool {
    match (name, kind) {
        ("format", Kind::String) => value.as_str().is_some_and(|format| FORMATS.contains(&format)),
        // What its expressions lack is looking around and referring back.
        ("pattern", Kind::String) => value.as_str().is_some_and(|pattern| {
            pattern.len() <= MOST_PATTERN_BYTES
                && !["(?=", "(?!", "(?<"].iter().any(|group| pattern.contains(group))
                && !pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit())
        }),
        (
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf",
            Kind::Integer | Kind::Number,
        )
        | ("minItems" | "maxItems", Kind::Array) => true,
        _ => false,
    }
}

fn is_read_elsewhere(name: &str, kind: Kind) -> bool {
    ANNOTATIONS.contains(&name)
        || matches!(name, "type" | "enum" | "const")
        || (kind == Kind::Array && name == "items")
        || (kind == Kind::Object && matches!(name, "additionalProperties" | "unevaluatedProperties"))
}

/// Makes a schema take null as well, which stands for an absent property.
fn or_null(mut schema: Value) -> Value {
    let nothing = json!({ "type": "null" });
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        if !branches.contains(&nothing) {
            branches.push(nothing);
        }
        return schema;
    }
    let is_listed = schema.get("enum").is_some() || schema.get("const").is_some();
    match schema.get("type") {
        Some(Value::Array(_)) => return schema,
        Some(Value::String(kind)) if kind == "null" => return schema,
        Some(Value::String(kind)) if !is_listed && kind != "object" && kind != "array" => {
            let either = json!([kind, "null"]);
            schema["type"] = either;
            return schema;
        }
        _ => {}
    }
    let description = schema.as_object_mut().and_then(|members| members.remove("description"));
    let mut either = json!({ "anyOf": [schema, nothing] });
    if let Some(description) = description {
        either["description"] = description;
    }
    either
}
