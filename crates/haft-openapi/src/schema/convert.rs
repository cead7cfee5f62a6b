use super::Direction;
use super::detail::Detail;
use super::file;
use super::hidden::{hidden, is_hidden};
use super::keyword::Keyword;
use super::values;
use crate::OpenApiProblem;
use crate::document::{Inner, Version};
use crate::lower::Described;
use crate::names::{is_allowed, nested_key};
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

/// Rewrites schemas of a document, and collects those that they refer to.
#[derive(Debug)]
pub(super) struct Converter<'d> {
    pub(super) document: &'d Inner,
    pub(super) detail: Detail,
    /// Whether something was left open or out for want of room.
    pub(super) has_cut: bool,
    /// Whether a schema says less than it does in the document, for want of room or because it cannot be read.
    pub(super) has_left_open: bool,
    /// Whether properties were left out of the schema that is being converted.
    has_cut_names: bool,
    direction: Direction,
    /// What the definitions are called that there are already.
    names: HashMap<(usize, String), String>,
    taken: HashSet<String>,
    /// The last number that was put behind a name which several want.
    numbers: HashMap<String, usize>,
    queue: VecDeque<(String, At<'d>)>,
    bytes: usize,
    notes: Vec<OpenApiProblem>,
    renamed: HashMap<String, String>,
}

impl<'d> Converter<'d> {
    pub(super) fn new(document: &'d Inner, direction: Direction, detail: Detail) -> Self {
        Self {
            document,
            detail,
            has_cut: false,
            has_left_open: false,
            has_cut_names: false,
            direction,
            names: HashMap::new(),
            taken: HashSet::new(),
            numbers: HashMap::new(),
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

    /// Tells whether nothing more is added that can be left out: nothing at all where another attempt is made anyway.
    fn is_full(&self) -> bool {
        let times = if self.detail.opens { 2 } else { 1 };
        self.bytes > self.document.most_schema_bytes.saturating_mul(times)
    }

    fn leave_open(&mut self) {
        self.has_cut = true;
        self.has_left_open = true;
    }

    pub(super) fn done(self) -> (Vec<OpenApiProblem>, HashMap<String, String>) {
        (self.notes, self.renamed)
    }

    /// Converts the schema of an argument; what has none may be anything.
    pub(super) fn described(&mut self, described: &Described<'_>) -> Value {
        match &described.schema {
            Some(source) => self.convert(source.file, &source.value, self.detail.depth),
            None => json!({}),
        }
    }

    /// Makes the schema of a field of a form that is a file, or a list of files.
    pub(super) fn file(&mut self, property: At<'_>) -> Value {
        let at = self.document.store.follow(property).unwrap_or(property);
        let mut schema = file::schema();
        if at.value.get("items").is_some() {
            schema = json!({ "type": "array", "items": schema });
        }
        let described = [property, at].into_iter().find_map(|at| at.value.get("description")?.as_str());
        if let (Some(text), Some(members)) = (described, schema.as_object_mut())
            && self.detail.description > 0
        {
            members.insert("description".to_owned(), cleaned(text, self.detail.description).into());
        }
        self.bytes += values::size(&schema);
        schema
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
            Value::Object(members) if depth == 0 || self.is_over() => self.stub(members),
            Value::Object(members) => Value::Object(self.object(file, members, depth - 1)),
            _ => {
                self.note(file, "a schema is neither an object nor a truth value; everything fits it");
                json!({})
            }
        }
    }

    /// Leaves a schema open, but for its type.
    fn stub(&mut self, members: &Map<String, Value>) -> Value {
        self.leave_open();
        let mut stub = Map::new();
        let is_nullable = ["nullable", "x-nullable"].iter().any(|name| members.contains_key(*name));
        if !is_nullable && let Some(kind @ Value::String(_)) = members.get("type").and_then(values::kind) {
            stub.insert("type".to_owned(), kind);
        }
        self.bytes += 20;
        Value::Object(stub)
    }

    fn object(&mut self, file: usize, members: &Map<String, Value>, depth: usize) -> Map<String, Value> {
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
        let is_cut_around = std::mem::take(&mut self.has_cut_names);
        for (name, value) in members {
            self.keyword(file, name, value, depth, &mut schema);
        }
        if std::mem::replace(&mut self.has_cut_names, is_cut_around) {
            // The properties that were left out would be unknown otherwise.
            schema.remove("additionalProperties");
        }
        if members.contains_key("prefixItems") && !schema.contains_key("prefixItems") {
            schema.remove("items");
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
            (Keyword::Any, _) => values::fits(value, values::MOST_DEFAULT_BYTES).then(|| value.clone()),
            (Keyword::Choices, Value::Array(choices)) => self.choices(choices),
            (Keyword::Schema | Keyword::Items, Value::Object(_) | Value::Bool(_)) => {
                Some(self.convert(file, value, depth))
            }
            (Keyword::Schemas, Value::Array(schemas)) => {
                if depth == 0 {
                    self.leave_open();
                    None
                } else {
                    self.several(file, schemas, depth)
                }
            }
            (Keyword::Named, Value::Object(named)) => {
                Some(self.named(file, named, depth, name == "properties"))
            }
            (Keyword::Lists, Value::Object(lists)) => {
                values::fits(value, MOST_TEXT_BYTES).then(|| self.lists(lists))
            }
            (Keyword::Items, Value::Array(items)) => {
                if let Some(list) = self.several(file, items, depth) {
                    self.bytes += 16;
                    schema.insert("prefixItems".to_owned(), list);
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

    /// Converts a list of schemas; gives none where there is no room for all.
    fn several(&mut self, file: usize, schemas: &[Value], depth: usize) -> Option<Value> {
        let mut list = Vec::new();
        for schema in schemas {
            if self.is_full() {
                self.leave_open();
                return None;
            }
            list.push(self.convert(file, schema, depth));
        }
        (!list.is_empty()).then_some(list.into())
    }

    /// Takes a list of choices, unless it is too long to be of use.
    fn choices(&mut self, choices: &[Value]) -> Option<Value> {
        let most = self.detail.choices * MOST_CHOICE_BYTES;
        if choices.len() > self.detail.choices || !values::all_fit(choices, most) {
            self.leave_open();
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
        let mut is_cut = false;
        for (name, schema) in named {
            if self.is_full() {
                self.leave_open();
                is_cut = true;
                break;
            }
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
        self.has_cut_names |= is_cut;
        Value::Object(converted)
    }

    /// Lists what must be there: texts, each once, and nothing that does not go this way.
    fn require(&mut self, file: usize, members: &Map<String, Value>, schema: &mut Map<String, Value>) {
        let Some(Value::Array(names)) = members.get("required") else { return };
        let hidden = hidden(&self.document.store, self.direction, file, members);
        let mut listed: Vec<String> = Vec::new();
        let mut known: HashSet<&str> = HashSet::new();
        for name in names.iter().filter_map(Value::as_str) {
            if self.is_full() {
                self.leave_open();
                break;
            }
            if !hidden.contains(name) && known.insert(name) {
                let key = self.key(name).into_owned();
                self.bytes += key.len() + 3;
                listed.push(key);
            }
        }
        if !listed.is_empty() {
            schema.insert("required".to_owned(), listed.into());
        }
    }

    /// Takes away what the parts of a schema require that another part has and that does not go this way.
    fn require_of_parts(&self, file: usize, members: &Map<String, Value>, schema: &mut Map<String, Value>) {
        let Some(Value::Array(parts)) = schema.get_mut("allOf") else { return };
        let hidden: HashSet<String> = hidden(&self.document.store, self.direction, file, members)
            .iter()
            .map(|name| self.written(name).into_owned())
            .collect();
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

    fn is_hidden(&self, file: usize, property: &Value) -> bool {
        is_hidden(&self.document.store, self.direction, At { file, value: property })
    }

    /// How the name of a property is written.
    fn written<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.direction {
            Direction::Input => nested_key(name),
            // A reply has the names that it has.
            Direction::Output => Cow::Borrowed(name),
        }
    }

    fn key<'n>(&mut self, name: &'n str) -> Cow<'n, str> {
        let key = self.written(name);
        if let Cow::Owned(key) = &key {
            self.renamed.insert(key.clone(), name.to_owned());
        }
        key
    }

    /// Rewrites lists of names by name.
    fn lists(&mut self, lists: &Map<String, Value>) -> Value {
        let mut rewritten = Map::new();
        for (name, list) in lists {
            let names = list.as_array().into_iter().flatten().filter_map(Value::as_str);
            let names: Vec<Value> = names.map(|name| self.key(name).into_owned().into()).collect();
            rewritten.insert(self.key(name).into_owned(), names.into());
        }
        rewritten.into()
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
        let allowed = |character: char| if is_allowed(character, true) { character } else { '_' };
        let mut name: String = step.chars().take(60).map(allowed).collect();
        if name.is_empty() {
            name.push_str("root");
        }
        if self.taken.insert(name.clone()) {
            return name;
        }
        let number = self.numbers.entry(name.clone()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{name}_{number}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }

    fn note(&mut self, file: usize, message: impl Into<String>) {
        self.has_left_open = true;
        if self.notes.len() < MOST_NOTES {
            self.notes
                .push(OpenApiProblem::note(self.document.store.place(file, ""), line(&message.into(), 300)));
        }
    }
}
