use crate::auth::Requirement;
use crate::document::{Entry, Inner};
use crate::lower::{Pointed, find, lower};
use crate::plan::Plan;
use crate::schema::{self, OperationSchema};
use crate::selection::Candidate;
use crate::text::{cleaned, line};
use crate::{EncodeError, RequestParts, Selection, encode, names};
use haft_core::{Origin, Schema, ToolHints, ToolName, ToolSpec};
use http::Method;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The most bytes of a title.
const MOST_TITLE_BYTES: usize = 100;

/// The most bytes of a description.
const MOST_DESCRIPTION_BYTES: usize = 2_000;

/// Is an operation of a [`Document`](crate::Document).
///
/// It is a place in the document, and cheap to clone. What it takes to make requests is read when the first one is made, and
/// kept with the document.
///
/// ```
/// use haft_openapi::{Document, LoadOptions};
/// use serde_json::json;
///
/// # let value = json!({
/// #     "openapi": "3.1.0", "servers": [{ "url": "https://pets.example" }],
/// #     "paths": { "/pets/{id}": { "delete": {
/// #         "operationId": "removePet", "summary": "Removes a pet.",
/// #         "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }],
/// #     } } },
/// # });
/// let document = Document::from_value(value, &LoadOptions::default())?;
/// let operation = document.operation("removePet").ok_or("no such operation")?;
/// assert_eq!((operation.method().as_str(), operation.path()), ("DELETE", "/pets/{id}"));
/// assert!(operation.hints().destructive);
/// assert_eq!(operation.encode(&json!({ "id": 7 }))?.url(), "https://pets.example/pets/7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Operation {
    document: Arc<Inner>,
    index: usize,
}

/// Is what it takes to make requests.
#[derive(Debug)]
pub(crate) struct Prepared {
    plan: Result<Plan, String>,
    /// What properties are called in the API, by what they are called in the schema; made when one of them may be meant.
    renamed: OnceLock<HashMap<String, String>>,
}

impl Operation {
    pub(crate) fn new(document: Arc<Inner>, index: usize) -> Self {
        Self { document, index }
    }

    /// The name of its tool, which no other operation of the document has.
    ///
    /// It is made of the operation's id, or of its method and path, and does not depend on the order of the document.
    pub fn name(&self) -> &ToolName {
        &self.entry().name
    }

    /// Its id in the document, if it has one.
    pub fn id(&self) -> Option<&str> {
        self.text("operationId")
    }

    /// Its method.
    pub fn method(&self) -> &Method {
        &self.entry().method
    }

    /// Its path as it is written in the document.
    pub fn path(&self) -> &str {
        &self.entry().path
    }

    /// What people call it: its summary, cleaned, on one line of at most 100 bytes.
    pub fn title(&self) -> Option<String> {
        self.text("summary").map(|summary| line(summary, MOST_TITLE_BYTES)).filter(|title| !title.is_empty())
    }

    /// What a model is told of it: its summary and description, cleaned, of at most 2,000 bytes.
    pub fn description(&self) -> String {
        let vendor = self.vendor("description").and_then(Value::as_str);
        let summary = start(self.text("summary"));
        let description = start(vendor.or_else(|| self.text("description")));
        let text = match (summary, description) {
            ("", "") => self.entry().place(),
            (summary, "") => summary.to_owned(),
            (summary, description) if summary.is_empty() || description.starts_with(summary) => {
                description.to_owned()
            }
            (summary, description) => format!("{summary}\n\n{description}"),
        };
        cleaned(&text, MOST_DESCRIPTION_BYTES)
    }

    /// Its tags.
    pub fn tags(&self) -> impl Iterator<Item = &str> + Clone {
        let tags = self.member("tags").and_then(Value::as_array);
        tags.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Tells whether it should not be used any more.
    pub fn is_deprecated(&self) -> bool {
        self.member("deprecated") == Some(&Value::Bool(true))
    }

    /// What its method says of its behaviour; whether that is true is the API's affair.
    pub fn hints(&self) -> ToolHints {
        let method = self.method();
        let reads = matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY");
        ToolHints {
            read_only: reads,
            destructive: *method == Method::DELETE,
            idempotent: reads || *method == Method::PUT || *method == Method::DELETE,
            open_world: true,
            streaming: false,
        }
    }

    /// Makes the schema of its arguments, in JSON Schema 2020-12.
    ///
    /// It has definitions for what is referred to, and is shortened where it would be larger than the document's options say.
    /// It is made anew every time.
    pub fn input_schema(&self) -> OperationSchema {
        match lower(&self.document, self.entry()) {
            Ok(lowered) => schema::input(&self.document, &lowered),
            // It was read when the document was loaded, and nothing has changed since.
            Err(_) => schema::input_of_nothing(),
        }
    }

    /// Makes the schema of a good reply, if the document describes one that is a JSON object.
    ///
    /// Replies do not always keep to it: it is a help to read one, no reason to refuse one.
    pub fn output_schema(&self) -> Option<OperationSchema> {
        let lowered = lower(&self.document, self.entry()).ok()?;
        schema::output(&self.document, &lowered)
    }

    /// Describes it as a tool that comes from a document of this name.
    pub fn spec(&self, document: &str) -> ToolSpec {
        self.spec_with(document, self.input_schema().into_schema())
    }

    pub(crate) fn spec_with(&self, document: &str, input: Schema) -> ToolSpec {
        let operation = self.id().map_or_else(|| self.entry().place(), str::to_owned);
        let origin = Origin::OpenApi { document: document.to_owned(), operation };
        let spec = ToolSpec::new(self.name().clone(), self.description(), input)
            .with_hints(self.hints())
            .with_origin(origin);
        match self.title() {
            Some(title) => spec.with_title(title),
            None => spec,
        }
    }

    /// Makes a request of arguments, which should fit the [schema](Self::input_schema).
    ///
    /// It depends on nothing but the operation and the arguments. Whatever these are, the host, the number of segments of the
    /// path and the names of the parameters stay what the document says.
    ///
    /// # Errors
    ///
    /// If an argument is missing or cannot be sent, or if it is not known which server the operation is on.
    pub fn encode(&self, arguments: &Value) -> Result<RequestParts, EncodeError> {
        let prepared = self.prepared();
        let plan = prepared.plan.as_ref().map_err(|why| EncodeError::Server(why.clone()))?;
        let Value::Object(arguments) = arguments else {
            return Err(EncodeError::argument("", "the arguments must be an object"));
        };
        if !arguments.values().any(may_be_renamed) {
            return encode::encode(plan, arguments);
        }
        let renamed = prepared.renamed.get_or_init(|| self.input_schema().renamed);
        let arguments: Map<String, Value> =
            arguments.iter().map(|(key, value)| (key.clone(), with_real_names(value, renamed))).collect();
        encode::encode(plan, &arguments)
    }

    /// What it takes to make requests; nothing where that is not known.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.prepared().plan.as_ref().ok()
    }

    /// What it wants to be shown.
    pub(crate) fn requirement(&self) -> Requirement {
        match find(&self.document, self.entry()) {
            Ok((_, operation)) => Requirement::of(&Pointed::root(&self.document), &operation),
            // It was found when the document was loaded, and nothing has changed since.
            Err(_) => Requirement::default(),
        }
    }

    fn prepared(&self) -> &Prepared {
        self.entry().prepared.get_or_init(|| {
            Box::new(Prepared {
                plan: lower(&self.document, self.entry())
                    .map(|lowered| lowered.plan)
                    .map_err(|problem| problem.message().to_owned()),
                renamed: OnceLock::new(),
            })
        })
    }

    pub(crate) fn is_chosen_by(&self, selection: &Selection) -> bool {
        let candidate = Candidate {
            id: self.id(),
            name: self.name().as_str(),
            method: self.method(),
            path: self.path(),
            deprecated: self.is_deprecated(),
            switched: self.switched(),
        };
        selection.chooses(candidate, self.tags())
    }

    /// Says whether its vendor has switched it on or off as a tool; what is nearest to it counts.
    fn switched(&self) -> Option<bool> {
        let (item, operation) = find(&self.document, self.entry()).ok()?;
        let levels = [operation.value(), item.value(), self.document.store.root().value];
        levels.into_iter().find_map(|level| {
            ["x-mcp", "x-speakeasy-mcp"].into_iter().find_map(|name| {
                let said = |member: &str| level.get(name)?.get(member)?.as_bool();
                match level.get(name)? {
                    Value::Bool(on) => Some(*on),
                    Value::Object(_) => {
                        let off = said("disabled").or_else(|| said("ignore")).or_else(|| said("hidden"));
                        Some(said("enabled").or_else(|| off.map(|off| !off)).unwrap_or(true))
                    }
                    _ => None,
                }
            })
        })
    }

    fn vendor(&self, member: &str) -> Option<&Value> {
        ["x-mcp", "x-speakeasy-mcp"].into_iter().find_map(|name| self.member(name)?.get(member))
    }

    fn entry(&self) -> &Entry {
        &self.document.entries[self.index]
    }

    fn member(&self, name: &str) -> Option<&Value> {
        let (_, operation) = find(&self.document, self.entry()).ok()?;
        operation.value().get(name)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.member(name)?.as_str()
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("name", self.name())
            .field("method", self.method())
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}

/// Gives as much of a text as matters where only its beginning is shown.
fn start(text: Option<&str>) -> &str {
    let text = text.unwrap_or_default();
    text[..text.floor_char_boundary(4 * MOST_DESCRIPTION_BYTES)].trim()
}

/// Tells whether there is a property in a value whose name may stand for another one.
fn may_be_renamed(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.iter().any(|(name, member)| names::has_suffix(name) || may_be_renamed(member))
        }
        Value::Array(items) => items.iter().any(may_be_renamed),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn with_real_names(value: &Value, renamed: &HashMap<String, String>) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, member)| {
                (renamed.get(name).unwrap_or(name).clone(), with_real_names(member, renamed))
            });
            Value::Object(members.collect())
        }
        Value::Array(items) => items.iter().map(|item| with_real_names(item, renamed)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
