use super::place::{Node, Place};
use super::projection::{LossKind, Losses, NotStrictError};
use super::value::Kind;
use super::walk::{DEEPEST, Walk};
use serde_json::{Map, Value, json};

/// What a provider that takes nearly all of JSON Schema does not take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refusals {
    /// Keywords that must not stand at the top level, beside those that combine schemas.
    pub(super) at_the_top: &'static [&'static str],
    /// Names that a property must not have.
    pub(super) property_name: fn(&str) -> bool,
}

/// Writes the schema as it is, as far as the provider takes it.
pub(super) fn project(top: &Value, refusals: Refusals) -> (Value, Losses) {
    let mut loose = Loose { walk: Walk::new(top, false), refusals };
    let schema = loose.document().expect("a walk that is not strict refuses nothing");
    (schema, loose.walk.losses)
}

struct Loose<'a> {
    walk: Walk<'a>,
    refusals: Refusals,
}

impl<'a> Loose<'a> {
    fn document(&mut self) -> Result<Value, NotStrictError> {
        let mut schema = self.top()?;
        let mut definitions = Map::new();
        while let Some((name, place)) = self.walk.next_definition() {
            let definition = self.schema(&place, 0)?;
            definitions.insert(name, definition);
        }
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), Value::Object(definitions));
        }
        Ok(Value::Object(schema))
    }

    fn top(&mut self) -> Result<Map<String, Value>, NotStrictError> {
        let place = self.walk.top();
        let mut hints = Vec::new();
        let mut schema = match self.walk.settle(&place)? {
            Some(mut node) => {
                self.walk.flatten(&mut node, &mut hints)?;
                for keyword in self.refusals.at_the_top {
                    if let Some(at) = node.keywords.remove(keyword) {
                        self.walk.describe(keyword, &at, &mut hints);
                    }
                }
                self.node(&node, 0, hints)?
            }
            None => Map::new(),
        };
        schema.insert("type".to_owned(), json!("object"));
        schema.entry("properties").or_insert_with(|| json!({}));
        Ok(schema)
    }

    fn schema(&mut self, place: &Place<'a>, depth: usize) -> Result<Value, NotStrictError> {
        match place.value {
            Value::Object(_) if depth > DEEPEST => {
                self.walk.lose(&place.path, LossKind::Cut);
                Ok(json!({}))
            }
            Value::Object(members) => match self.walk.read(place, members)? {
                Some(node) => Ok(Value::Object(self.node(&node, depth, Vec::new())?)),
                None => Ok(json!({})),
            },
            // Said so that nobody needs to know boolean schemas.
            Value::Bool(false) => Ok(json!({ "not": {} })),
            Value::Bool(true) => Ok(json!({})),
            _ => {
                self.walk.lose(&place.path, LossKind::Malformed);
                Ok(json!({}))
            }
        }
    }

    fn node(
        &mut self,
        node: &Node<'a>,
        depth: usize,
        mut hints: Vec<String>,
    ) -> Result<Map<String, Value>, NotStrictError> {
        let mut written = Map::new();
        let mut odd_names = false;
        if let Some(properties) = &node.properties {
            let mut all = Map::new();
            for (name, places) in properties {
                if !(self.refusals.property_name)(name) {
                    odd_names = true;
                    for place in places.iter().take(1) {
                        let is_required = node.required.contains(name);
                        self.walk.describe_property(name, place, is_required, &mut hints);
                    }
                } else if self.walk.spend_text(name.len()) {
                    let schema = self.one_of(places, depth + 1)?;
                    all.insert((*name).to_owned(), schema);
                } else if let Some(place) = places.first() {
                    self.walk.lose(&place.path, LossKind::Cut);
                }
            }
            written.insert("properties".to_owned(), Value::Object(all));
        }
        let mut required = Vec::new();
        for name in &node.required {
            if (self.refusals.property_name)(name) && self.walk.spend_text(name.len()) {
                required.push(json!(name));
            } else {
                self.walk.lose(&node.path.name("required"), LossKind::Dropped);
            }
        }
        if !required.is_empty() {
            written.insert("required".to_owned(), Value::Array(required));
        }
        for (keyword, place) in &node.keywords {
            match *keyword {
                "description" => {}
                "additionalProperties" if odd_names && place.value == &Value::Bool(false) => {
                    self.walk.lose(&place.path, LossKind::Widened);
                }
                "$ref" => match place.value.as_str().and_then(|reference| self.walk.resolve(reference)) {
                    Some(target) => {
                        let reference = self.walk.reference(&target);
                        written.insert("$ref".to_owned(), reference);
                    }
                    None => self.walk.lose(&place.path, LossKind::Unresolved),
                },
                "dependencies" => self.dependencies(place, &mut written, depth)?,
                keyword => {
                    if let Some(value) = self.keyword(keyword, place, depth)? {
                        written.insert(keyword.to_owned(), value);
                    }
                }
            }
        }
        if (node.keywords.contains_key("description") || !hints.is_empty())
            && let Some(text) = self.walk.description(node, &hints)
        {
            written.insert("description".to_owned(), text);
        }
        let may_be_array = node.value("type").is_some_and(|kind| match kind {
            Value::Array(kinds) => kinds.iter().any(|kind| kind == Kind::Array.name()),
            kind => kind == Kind::Array.name(),
        });
        if may_be_array && !written.contains_key("prefixItems") {
            // OpenAI refuses an array without it, and it says nothing elsewhere.
            written.entry("items").or_insert_with(|| json!({}));
        }
        Ok(written)
    }

    fn one_of(&mut self, places: &[Place<'a>], depth: usize) -> Result<Value, NotStrictError> {
        if let [place] = places {
            return self.schema(place, depth);
        }
        let schemas: Result<Vec<Value>, NotStrictError> =
            places.iter().map(|place| self.schema(place, depth + 1)).collect();
        Ok(json!({ "anyOf": schemas? }))
    }

    fn keyword(
        &mut self,
        keyword: &str,
        place: &Place<'a>,
        depth: usize,
    ) -> Result<Option<Value>, NotStrictError> {
        Ok(match keyword {
            "not"
            | "if"
            | "then"
            | "else"
            | "items"
            | "additionalProperties"
            | "propertyNames"
            | "contains"
            | "unevaluatedItems"
            | "unevaluatedProperties" => match place.value {
                Value::Bool(value) => Some(Value::Bool(*value)),
                _ => Some(self.schema(place, depth + 1)?),
            },
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                let schemas: Result<Vec<Value>, NotStrictError> =
                    place.elements().iter().map(|place| self.schema(place, depth + 1)).collect();
                Some(Value::Array(schemas?))
            }
            "patternProperties" | "dependentSchemas" => {
                let mut schemas = Map::new();
                for (name, value) in place.value.as_object().into_iter().flatten() {
                    let at = place.member(value, name);
                    if self.walk.spend_text(name.len()) {
                        schemas.insert(name.clone(), self.schema(&at, depth + 1)?);
                    } else {
                        self.walk.lose(&at.path, LossKind::Cut);
                    }
                }
                Some(Value::Object(schemas))
            }
            "type" | "title" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly"
            | "format" | "pattern" | "minLength" | "maxLength" | "contentEncoding" | "contentMediaType"
            | "enum" | "const" | "dependentRequired" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" | "minContains" | "maxContains" | "minimum" | "maximum"
            | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "uniqueItems" => {
                self.walk.literal(place)
            }
            _ => {
                self.walk.lose(&place.path, LossKind::Dropped);
                None
            }
        })
    }

    /// Writes what older drafts have in one keyword as the two that came of it.
    fn dependencies(
        &mut self,
        place: &Place<'a>,
        written: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), NotStrictError> {
        for (name, value) in place.value.as_object().into_iter().flatten() {
            let at = place.member(value, name);
            let names_only = matches!(value, Value::Array(names) if names.iter().all(Value::is_string));
            let (keyword, value) = match value {
                _ if !self.walk.spend_text(name.len()) => {
                    self.walk.lose(&at.path, LossKind::Cut);
                    continue;
                }
                Value::Array(_) if names_only => ("dependentRequired", self.walk.literal(&at)),
                _ => ("dependentSchemas", Some(self.schema(&at, depth + 1)?)),
            };
            if let Some(value) = value
                && let Value::Object(members) = written.entry(keyword).or_insert_with(|| json!({}))
            {
                members.insert(name.clone(), value);
            }
        }
        Ok(())
    }
}

/// Tells whether Anthropic takes a name for a property: 1 to 64 characters of `[A-Za-z0-9_.-]`.
pub(super) fn is_plain_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

/// Takes any name for a property.
pub(super) fn is_any_name(_: &str) -> bool {
    true
}
