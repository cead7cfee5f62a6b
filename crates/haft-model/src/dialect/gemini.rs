use super::form::{Branch, Form, form, form_of, permitted};
use super::place::{ANNOTATIONS, Node, Place};
use super::projection::{LossKind, Losses, NotStrictError};
use super::value::Kind;
use super::walk::{DEEPEST, Walk};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Says of a text that it stands for an object, which Gemini takes only with its properties listed.
const AS_TEXT: &str = "(JSON object as text)";

/// Writes the schema in the subset of OpenAPI 3.0 that Gemini's `parameters` takes.
pub(super) fn project(top: &Value) -> (Value, Losses) {
    let mut gemini = Gemini { walk: Walk::new(top, false) };
    let schema = gemini.top().expect("a walk that is not strict refuses nothing");
    (schema, gemini.walk.losses)
}

struct Gemini<'a> {
    walk: Walk<'a>,
}

impl<'a> Gemini<'a> {
    fn top(&mut self) -> Result<Value, NotStrictError> {
        let place = self.walk.top();
        let Some(mut node) = self.walk.settle(&place)? else {
            return Ok(json!({ "type": "OBJECT", "properties": {} }));
        };
        let mut hints = Vec::new();
        self.walk.flatten(&mut node, &mut hints)?;
        node.hints.append(&mut hints);
        node.properties.get_or_insert_default();
        self.node(&node, &[Kind::Object], 0)
    }

    fn schema(&mut self, place: &Place<'a>, depth: usize) -> Result<Value, NotStrictError> {
        let form = form(&mut self.walk, place, depth)?;
        self.form(form, depth)
    }

    fn form(&mut self, form: Form<'a>, depth: usize) -> Result<Value, NotStrictError> {
        match form {
            Form::Typed { kinds, node } => self.node(&node, &kinds, depth),
            Form::Choice { node, branches } => self.choice(&node, branches, depth),
            Form::Any(node) => {
                self.walk.lose(&node.path.clone(), LossKind::Typed);
                let mut hints = node.hints.clone();
                self.walk.leave_annotations(&node, &mut hints);
                let text = self.walk.description(&node, &hints);
                Ok(with_description(any(), text))
            }
            Form::Cut => Ok(any()),
        }
    }

    fn choice(
        &mut self,
        node: &Node<'a>,
        branches: Vec<Branch<'a>>,
        depth: usize,
    ) -> Result<Value, NotStrictError> {
        let before = self.walk.active.len();
        self.walk.active.extend(&node.followed);
        let schemas: Result<Vec<Value>, NotStrictError> =
            branches.into_iter().map(|branch| self.branch(branch, depth)).collect();
        let schemas = schemas?;
        self.walk.active.truncate(before);
        let mut hints = node.hints.clone();
        self.walk.leave_annotations(node, &mut hints);
        let text = self.walk.description(node, &hints);
        Ok(with_description(one_of(schemas), text))
    }

    fn branch(&mut self, branch: Branch<'a>, depth: usize) -> Result<Value, NotStrictError> {
        match branch {
            Branch::Alone(place) => self.schema(&place, depth + 1),
            Branch::Joined(branch) if depth > DEEPEST => {
                self.walk.refuse_size(&branch.path, "nested schemas", DEEPEST)?;
                Ok(any())
            }
            Branch::Joined(branch) => {
                let form = form_of(&mut self.walk, branch)?;
                self.form(form, depth + 1)
            }
        }
    }

    fn node(&mut self, node: &Node<'a>, kinds: &[Kind], depth: usize) -> Result<Value, NotStrictError> {
        let before = self.walk.active.len();
        self.walk.active.extend(&node.followed);
        let mut hints = node.hints.clone();
        self.walk.leave_annotations(node, &mut hints);
        let schema = if let [kind] = kinds {
            Value::Object(self.typed(node, *kind, depth, &mut hints)?)
        } else {
            let mut schemas = Vec::new();
            for kind in kinds {
                if *kind == Kind::Object && is_free(node) && kinds.contains(&Kind::String) {
                    // Its text would be taken for the text that is permitted as well.
                    self.walk.lose(&node.path, LossKind::Typed);
                    continue;
                }
                let mut inner = Vec::new();
                let schema = self.typed(&node.only(*kind), *kind, depth + 1, &mut inner)?;
                hints.append(&mut inner);
                schemas.push(Value::Object(schema));
            }
            one_of(schemas)
        };
        self.walk.active.truncate(before);
        let text = self.walk.description(node, &hints);
        Ok(with_description(schema, text))
    }

    fn typed(
        &mut self,
        node: &Node<'a>,
        kind: Kind,
        depth: usize,
        hints: &mut Vec<String>,
    ) -> Result<Map<String, Value>, NotStrictError> {
        let mut written = Map::from_iter([("type".to_owned(), json!(kind.name().to_ascii_uppercase()))]);
        let is_text = kind == Kind::Object && depth > 0 && is_free(node);
        for (name, place) in &node.keywords {
            let concerns_another = Kind::spoken_of(name)
                .is_some_and(|spoken| spoken != kind && !(spoken == Kind::Number && kind == Kind::Integer));
            match *name {
                "type" => {}
                name if ANNOTATIONS.contains(&name) => {}
                "items" | "prefixItems" if kind == Kind::Array => {}
                "enum" | "const" => self.values(node, name, place, kind, &mut written, hints),
                "exclusiveMinimum" | "exclusiveMaximum" if kind == Kind::Integer => {
                    let step = if *name == "exclusiveMinimum" { 1 } else { -1 };
                    let inclusive = if *name == "exclusiveMinimum" { "minimum" } else { "maximum" };
                    match place.value.as_i64().and_then(|bound| bound.checked_add(step)) {
                        Some(bound) if !node.keywords.contains_key(inclusive) => {
                            written.insert(inclusive.to_owned(), json!(bound));
                        }
                        _ => self.walk.describe(name, place, hints),
                    }
                }
                name if is_kept(name, place.value, kind) && !is_text => {
                    if let Some(value) = self.walk.literal(place) {
                        written.insert(name.to_owned(), value);
                    }
                }
                _ if concerns_another => self.walk.lose(&place.path, LossKind::Dropped),
                name => self.walk.describe(name, place, hints),
            }
        }
        match kind {
            Kind::Object => self.object(node, &mut written, depth)?,
            Kind::Array => {
                let items = self.items(node, depth, hints)?;
                written.insert("items".to_owned(), items);
            }
            _ => {}
        }
        Ok(written)
    }

    /// Writes the values that are permitted, which must be texts of one character at least.
    fn values(
        &mut self,
        node: &Node<'a>,
        name: &str,
        place: &Place<'a>,
        kind: Kind,
        written: &mut Map<String, Value>,
        hints: &mut Vec<String>,
    ) {
        if name == "enum" && node.keywords.contains_key("const") {
            return;
        }
        let values: Vec<&Value> =
            permitted(node).into_iter().flatten().filter(|value| kind.takes(value)).collect();
        if kind == Kind::Null {
            return;
        }
        if kind != Kind::String || values.iter().any(|value| value.as_str() == Some("")) {
            self.walk.describe(name, place, hints);
            return;
        }
        let mut all = Vec::new();
        for value in values {
            let Some(value) = self.walk.literal(&Place { value, path: place.path.clone() }) else { return };
            all.push(value);
        }
        written.insert("enum".to_owned(), Value::Array(all));
    }

    fn items(
        &mut self,
        node: &Node<'a>,
        depth: usize,
        hints: &mut Vec<String>,
    ) -> Result<Value, NotStrictError> {
        if let Some(first) = node.keywords.get("prefixItems") {
            self.walk.lose(&first.path, LossKind::Widened);
            hints.push("the items have different schemas in this order".to_owned());
            let mut schemas: Vec<Value> = Vec::new();
            let further = node.keywords.get("items").filter(|items| items.value.is_object()).cloned();
            for place in first.elements().into_iter().chain(further) {
                let schema = self.schema(&place, depth + 1)?;
                if !schemas.contains(&schema) {
                    schemas.push(schema);
                }
            }
            return Ok(one_of(schemas));
        }
        let Some(items) = node.keywords.get("items") else {
            self.walk.lose(&node.path, LossKind::Typed);
            return Ok(any());
        };
        self.schema(items, depth + 1)
    }

    fn object(
        &mut self,
        node: &Node<'a>,
        written: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), NotStrictError> {
        let mut all = Map::new();
        for (name, places) in node.properties.iter().flatten() {
            if !self.walk.spend_text(2 * name.len()) {
                self.walk.lose(&node.path.name(name), LossKind::Cut);
                continue;
            }
            let mut schemas = Vec::new();
            for place in places {
                schemas.push(self.schema(place, depth + usize::from(places.len() > 1) + 1)?);
            }
            all.insert((*name).to_owned(), one_of(schemas));
        }
        let mut required = Vec::new();
        for name in &node.required {
            if all.contains_key(*name) {
                required.push(json!(name));
            } else {
                self.walk.lose(&node.path.name("required"), LossKind::Dropped);
            }
        }
        if !required.is_empty() {
            written.insert("required".to_owned(), Value::Array(required));
        }
        if all.is_empty() && depth > 0 {
            // The validator's repair decodes it.
            self.walk.lose(&node.path, LossKind::Described);
            *written = Map::from_iter([
                ("type".to_owned(), json!("STRING")),
                ("description".to_owned(), json!(AS_TEXT)),
            ]);
        } else {
            written.insert("properties".to_owned(), Value::Object(all));
        }
        Ok(())
    }
}

/// Tells whether none of an object's properties are listed.
fn is_free(node: &Node<'_>) -> bool {
    node.properties.as_ref().is_none_or(BTreeMap::is_empty)
}

/// Tells whether a keyword that holds a literal is one that Gemini takes for a type.
fn is_kept(name: &str, value: &Value, kind: Kind) -> bool {
    match (name, kind) {
        ("format", Kind::String) => value == "date-time",
        ("format", Kind::Integer) => value == "int32" || value == "int64",
        ("format", Kind::Number) => value == "float" || value == "double",
        ("pattern" | "minLength" | "maxLength", Kind::String)
        | ("minItems" | "maxItems", Kind::Array)
        | ("minProperties" | "maxProperties", Kind::Object)
        | ("minimum" | "maximum", Kind::Integer | Kind::Number) => true,
        _ => false,
    }
}

/// Stands for any value: Gemini wants to know the types, and of an object all its properties.
fn any() -> Value {
    json!({ "anyOf": [
        { "type": "STRING" },
        { "type": "NUMBER" },
        { "type": "BOOLEAN" },
        { "type": "ARRAY", "items": { "type": "STRING" } },
    ] })
}

/// Joins alternatives; null among them becomes a property of the others.
fn one_of(schemas: Vec<Value>) -> Value {
    let is_null = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "NULL");
    let nullable = schemas.iter().any(is_null);
    let mut others: Vec<Value> = Vec::new();
    for mut schema in schemas {
        if is_null(&schema) {
            continue;
        }
        if nullable {
            make_nullable(&mut schema);
        }
        if !others.contains(&schema) {
            others.push(schema);
        }
    }
    match others.len() {
        0 => json!({ "type": "NULL" }),
        1 => others.swap_remove(0),
        _ => json!({ "anyOf": others }),
    }
}

fn make_nullable(schema: &mut Value) {
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        if schema.get("anyOf").is_some() {
            open.extend(schema["anyOf"].as_array_mut().into_iter().flatten());
        } else {
            schema["nullable"] = Value::Bool(true);
        }
    }
}

/// Adds a description; beside `anyOf` nothing else may stand, so there it goes into the first alternative.
fn with_description(mut schema: Value, text: Option<Value>) -> Value {
    let Some(Value::String(mut text)) = text else { return schema };
    let mut at = &mut schema;
    while at.get("anyOf").is_some() {
        at = &mut at["anyOf"][0];
    }
    if let Some(Value::String(own)) = at.get("description") {
        text.push(' ');
        text.push_str(own);
    }
    at["description"] = Value::String(text);
    schema
}
