use super::Direction;
use super::detail::Detail;
use super::file;
use super::keyword::Keyword;
use super::values;
use crate::Problem;
use crate::document::{Inner, Version};
use crate::lower::Described;
use crate::names::nested_key;
use crate::store::{At, Target};
use crate::text::{cleaned, line};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

/// The most notes that are kept of one schema.
const MOST_NOTES: usize = 20;

/// The longest pattern, or other text that is not for people, in bytes.
const MOST_TEXT_BYTES: usize = 4_000;

/// The most bytes of a choice, on average, where as many are listed as may be.
const MOST_CHOICE_BYTES: usize = 100;

/// The most schemas that one is made of, as far as it is looked at what they say of each other.
const MOST_PARTS: usize = 200;

/// Rewrites schemas of a document, and collects those that they refer to.
#[derive(Debug)]
pub(super) struct Converter<'d> {
    pub(super) document: &'d Inner,
    pub(super) detail: Detail,
    /// Whether binary texts are files.
    pub(super) has_files: bool,
    /// Whether something was left open for want of room.
    pub(super) has_cut: bool,
    direction: Direction,
    /// What the definitions are called that there are already.
    names: HashMap<(usize, String), String>,
    taken: HashSet<String>,
    queue: VecDeque<(String, At<'d>)>,
    bytes: usize,
    notes: Vec<Problem>,
    renamed: HashMap<String, String>,
}

impl<'d> Converter<'d> {
    pub(super) fn new(document: &'d Inner, direction: Direction, detail: Detail) -> Self {
        Self {
            document,
            detail,
            has_files: false,
            has_cut: false,
            direction,
            names: HashMap::new(),
            taken: HashSet::new(),
            queue: VecDeque::new(),
            bytes: 0,
            notes: Vec::new(),
            renamed: HashMap::new(),
        }
    }

    /// Tells whether the schema is larger than it may be.
    pub(super) fn is_over(&self) -> bool {
        self.bytes > self.document.most_schema_bytes
    }

    pub(super) fn done(self) -> (Vec<Problem>, HashMap<String, String>) {
        (self.notes, self.renamed)
    }

    /// Converts the schema of an argument; what has none may be anything.
    pub(super) fn described(&mut self, described: &Described<'_>) -> Value {
        match &described.schema {
            Some(source) => self.convert(source.file, &source.value, self.detail.depth),
            None => json!({}),
        }
    }

    /// Puts what was referred to beside the root, nearest first.
    pub(super) fn add_definitions(&mut self, root: &mut Map<String, Value>) {
        let mut definitions = Map::new();
        while let Some((name, at)) = self.queue.pop_front() {
            if self.is_over() && !self.detail.opens {
                return;
            }
            let depth = if self.is_over() { 0 } else { self.detail.depth };
            let definition = self.convert(at.file, at.value, depth);
            self.bytes += name.len() + 4;
            definitions.insert(name, definition);
        }
        if !definitions.is_empty() {
            root.insert("$defs".to_owned(), definitions.into());
        }
    }

    /// Converts one schema, and those within it, so many levels deep.
    pub(super) fn convert(&mut self, file: usize, schema: &Value, depth: usize) -> Value {
        if self.is_over() && !self.detail.opens {
            // Another attempt with less detail is made anyway.
            return json!({});
        }
        match schema {
            Value::Bool(_) => schema.clone(),
            Value::Object(members) if depth == 0 => self.stub(members),
            Value::Object(members) => Value::Object(self.object(file, members, depth - 1)),
            _ => {
                self.note(file, "a schema is neither an object nor a truth value; everything fits it");
                json!({})
            }
        }
    }

    /// Leaves a schema open, but for its type.
    fn stub(&mut self, members: &Map<String, Value>) -> Value {
        self.has_cut = true;
        let mut stub = Map::new();
        if let Some(kind @ Value::String(_)) = members.get("type").and_then(values::kind) {
            stub.insert("type".to_owned(), kind);
        }
        self.bytes += 20;
        Value::Object(stub)
    }

    fn object(&mut self, file: usize, members: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        if self.has_files && values::is_file(members) {
            let Value::Object(mut schema) = file::schema() else { return Map::new() };
            self.keyword(
                file,
                "description",
                members.get("description").unwrap_or(&Value::Null),
                depth,
                &mut schema,
            );
            return schema;
        }
        let mut schema = Map::new();
        if let Some(Value::String(reference)) = members.get("$ref") {
            self.reference(file, reference, &mut schema);
            // Before 3.1 nothing counts beside a reference.
            if self.document.version != Version::V31 {
                if let Some(description) = members.get("description") {
                    self.keyword(file, "description", description, depth, &mut schema);
                }
                return schema;
            }
        }
        for (name, value) in members {
            self.keyword(file, name, value, depth, &mut schema);
        }
        self.require(file, members, &mut schema);
        self.require_of_parts(file, members, &mut schema);
        values::tidy(members, self.document.version, &mut schema);
        if self.detail.examples
            && let Some(examples) = values::examples(members)
        {
            self.bytes += values::size(&examples) + 12;
            schema.insert("examples".to_owned(), examples);
        }
        schema
    }

    fn keyword(
        &mut self,
        file: usize,
        name: &str,
        value: &Value,
        depth: usize,
        schema: &mut Map<String, Value>,
    ) {
        let converted = match (Keyword::of(name), value) {
            (Keyword::Kind, _) => values::kind(value),
            (Keyword::Description, Value::String(text)) => {
                let is_wanted = self.detail.description > 0 && !text.trim().is_empty();
                is_wanted.then(|| cleaned(text, self.detail.description).into())
            }
            (Keyword::Text, Value::String(text)) => (text.len() <= MOST_TEXT_BYTES).then(|| value.clone()),
            (Keyword::Number, Value::Number(_))
            | (Keyword::Limit, Value::Bool(_) | Value::Number(_))
            | (Keyword::Flag, Value::Bool(true)) => Some(value.clone()),
            (Keyword::Count, _) => values::count(value),
            (Keyword::Any, _) => (values::size(value) <= values::MOST_DEFAULT_BYTES).then(|| value.clone()),
            (Keyword::Choices, Value::Array(choices)) => self.choices(choices),
            (Keyword::Schema | Keyword::Items, Value::Object(_) | Value::Bool(_)) => {
                Some(self.convert(file, value, depth))
            }
            (Keyword::Schemas, Value::Array(schemas)) => {
                if depth == 0 {
                    self.has_cut = true;
                    None
                } else {
                    let list: Vec<_> =
                        schemas.iter().map(|schema| self.convert(file, schema, depth)).collect();
                    (!list.is_empty()).then_some(list.into())
                }
            }
            (Keyword::Named, Value::Object(named)) => {
                Some(self.named(file, named, depth, name == "properties"))
            }
            (Keyword::Lists, Value::Object(lists)) => {
                (values::size(value) <= MOST_TEXT_BYTES).then(|| values::lists(lists))
            }
            (Keyword::Items, Value::Array(items)) => {
                let list: Vec<_> = items.iter().map(|item| self.convert(file, item, depth)).collect();
                if !list.is_empty() {
                    self.bytes += 16;
                    schema.insert("prefixItems".to_owned(), list.into());
                }
                None
            }
            _ => None,
        };
        if let Some(converted) = converted {
            self.bytes += name.len() + 4;
            if !matches!(
                Keyword::of(name),
                Keyword::Schema | Keyword::Schemas | Keyword::Named | Keyword::Items
            ) {
                self.bytes += values::size(&converted);
            }
            schema.insert(name.to_owned(), converted);
        }
    }

    /// Takes a list of choices, unless it is too long to be of use.
    fn choices(&mut self, choices: &[Value]) -> Option<Value> {
        let bytes: usize = choices.iter().map(values::size).sum();
        if choices.len() > self.detail.choices || bytes > self.detail.choices * MOST_CHOICE_BYTES {
            self.has_cut = true;
            return None;
        }
        (!choices.is_empty()).then(|| choices.to_vec().into())
    }

    /// Converts schemas by name; of properties, those that go this way.
    fn named(
        &mut self,
        file: usize,
        named: &Map<String, Value>,
        depth: usize,
        are_properties: bool,
    ) -> Value {
        let mut converted = Map::new();
        for (name, schema) in named {
            if are_properties && self.is_hidden(file, schema)
                || name.len() > MOST_TEXT_BYTES && !are_properties
            {
                continue;
            }
            let key = if are_properties { self.key(name) } else { Cow::Borrowed(name.as_str()) };
            self.bytes += key.len() + 6;
            let key = key.into_owned();
            let schema = self.convert(file, schema, depth);
            converted.insert(key, schema);
        }
        Value::Object(converted)
    }

    /// Lists what must be there: texts, each once, and nothing that does not go this way.
    fn require(&mut self, file: usize, members: &Map<String, Value>, schema: &mut Map<String, Value>) {
        let Some(Value::Array(names)) = members.get("required") else { return };
        let hidden = self.hidden(file, members);
        let mut listed: Vec<String> = Vec::new();
        for name in names.iter().filter_map(Value::as_str) {
            if !hidden.contains(name) {
                let key = self.key(name).into_owned();
                if !listed.contains(&key) {
                    self.bytes += key.len() + 3;
                    listed.push(key);
                }
            }
        }
        if !listed.is_empty() {
            schema.insert("required".to_owned(), listed.into());
        }
    }

    /// Takes away what the parts of a schema require that another part has and that does not go this way.
    fn require_of_parts(&self, file: usize, members: &Map<String, Value>, schema: &mut Map<String, Value>) {
        let Some(Value::Array(parts)) = schema.get_mut("allOf") else { return };
        let hidden = self.hidden(file, members);
        if hidden.is_empty() {
            return;
        }
        for part in parts.iter_mut().filter_map(Value::as_object_mut) {
            let is_empty = part.get_mut("required").and_then(Value::as_array_mut).is_some_and(|required| {
                required.retain(|name| name.as_str().is_none_or(|name| !hidden.contains(name)));
                required.is_empty()
            });
            if is_empty {
                part.remove("required");
            }
        }
    }

    /// Collects the properties of a schema, and of those that it is made of, that do not go this way.
    fn hidden(&self, file: usize, members: &Map<String, Value>) -> HashSet<String> {
        let mut hidden = HashSet::new();
        let mut seen = HashSet::new();
        let mut open = vec![(file, members)];
        while let Some((file, members)) = open.pop() {
            if !seen.insert(std::ptr::from_ref(members)) {
                continue;
            }
            for (name, property) in members.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                if self.is_hidden(file, property) {
                    hidden.insert(name.clone());
                }
            }
            let room = MOST_PARTS.saturating_sub(seen.len() + open.len());
            for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten().take(room) {
                let followed = self.document.store.follow(At { file, value: part });
                if let Ok(At { file, value: Value::Object(members) }) = followed {
                    open.push((file, members));
                }
            }
        }
        hidden
    }

    fn is_hidden(&self, file: usize, property: &Value) -> bool {
        let keyword = match self.direction {
            Direction::Input => "readOnly",
            Direction::Output => "writeOnly",
        };
        let says = |value: &Value| value.get(keyword) == Some(&Value::Bool(true));
        says(property)
            || self.document.store.follow(At { file, value: property }).is_ok_and(|at| says(at.value))
    }

    fn key<'n>(&mut self, name: &'n str) -> Cow<'n, str> {
        let key = nested_key(name);
        if self.direction == Direction::Output {
            // A reply has the names that it has.
            return Cow::Borrowed(name);
        }
        if let Cow::Owned(key) = &key {
            self.renamed.insert(key.clone(), name.to_owned());
        }
        key
    }

    fn reference(&mut self, file: usize, reference: &str, schema: &mut Map<String, Value>) {
        let store = &self.document.store;
        let Target { at, pointer } = match store.resolve(file, reference) {
            Ok(target) => target,
            Err(why) => return self.note(file, format!("{why}; everything fits there")),
        };
        if let Err(why) = store.follow(at) {
            return self.note(file, format!("{why}; everything fits there"));
        }
        let place = (at.file, pointer.into_owned());
        let known = self.names.get(&place).cloned();
        let name = known.unwrap_or_else(|| {
            let name = self.name_of(&place.1);
            self.names.insert(place, name.clone());
            self.queue.push_back((name.clone(), at));
            name
        });
        self.bytes += name.len() + 20;
        schema.insert("$ref".to_owned(), format!("#/$defs/{name}").into());
    }

    /// Names a definition after the last step of its place.
    fn name_of(&mut self, pointer: &str) -> String {
        let step = pointer.rsplit('/').next().unwrap_or_default();
        let allowed =
            |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.');
        let mut name: String =
            step.chars().take(60).map(|character| if allowed(character) { character } else { '_' }).collect();
        if name.is_empty() {
            name.push_str("root");
        }
        let plain = name.clone();
        let mut number = 2;
        while !self.taken.insert(name.clone()) {
            name = format!("{plain}_{number}");
            number += 1;
        }
        name
    }

    fn note(&mut self, file: usize, message: impl Into<String>) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(Problem::note(self.document.store.place(file, ""), line(&message.into(), 300)));
        }
    }
}
