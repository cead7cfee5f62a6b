mod closing;

use crate::validation::cut;
use haft_core::{Schema, ToolError};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};
use serde_path_to_error::Segment;

/// Derives the input schema of a type: JSON Schema 2020-12, closed against unknown properties.
///
/// Serde passes over properties it does not know, so a misspelt optional one would be lost silently. The schema and
/// those of the types within it are therefore closed wherever the type does not say otherwise (by a flattened field or
/// a map), and the executor answers with the nearest name.
///
/// # Panics
///
/// When the type is not described as an object; a tool's input is one by definition, and this is found the first time
/// the tool is made.
///
/// ```
/// use haft_tools_core::input_schema;
/// use schemars::JsonSchema;
///
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Input {
///     /// The file to read.
///     path: String,
/// }
///
/// let schema = input_schema::<Input>();
/// assert_eq!(schema.as_value()["properties"]["path"]["description"], "The file to read.");
/// assert_eq!(schema.as_value()["additionalProperties"], false);
/// ```
pub fn input_schema<T: JsonSchema>() -> Schema {
    let mut schema = derive::<T>();
    closing::close(&mut schema);
    match Schema::new(schema) {
        Ok(schema) => schema,
        Err(error) => panic!("the input of a tool must be a struct or an enum of structs: {error}"),
    }
}

/// Derives the output schema of a type; `None` where the type is not described as an object.
pub(crate) fn output_schema<T: JsonSchema>() -> Option<Schema> {
    let schema = derive::<T>();
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    is_object.then(|| Schema::new(schema).ok()).flatten()
}

fn derive<T: JsonSchema>() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(members) = &mut schema {
        // The name of a Rust type and the dialect tell a model nothing and cost tokens.
        members.remove("title");
        members.remove("$schema");
        members.remove("description");
    }
    schema
}

/// Parses validated input into its type.
///
/// A number that is whole but written with a fraction (`5.0`) is taken for an integer, since JSON Schema makes no
/// difference between the two and serde does.
///
/// ```
/// use haft_tools_core::parse_input;
/// use serde_json::json;
///
/// #[derive(serde::Deserialize)]
/// struct Input {
///     path: String,
/// }
///
/// assert_eq!(parse_input::<Input>(&json!({ "path": "a.txt" }))?.path, "a.txt");
/// assert!(parse_input::<Input>(&json!({ "path": 1 })).is_err());
/// # Ok::<(), haft_core::ToolError>(())
/// ```
///
/// # Errors
///
/// When the type accepts less than its schema says; the text tells the model what was expected and, as far as that is
/// known, where.
pub fn parse_input<T: DeserializeOwned>(input: &Value) -> Result<T, ToolError> {
    T::deserialize(input).or_else(|_| {
        let mut whole = input.clone();
        make_whole(&mut whole);
        // Says where it fails, too, which takes longer.
        serde_path_to_error::deserialize(&whole).map_err(|error| {
            let (place, error) = (pointer(error.path()), error.into_inner());
            let at = if place.is_empty() { place } else { format!(" at `{}`", cut(&place)) };
            ToolError::invalid_input(format!(
                "the arguments do not fit{at}: {error}; correct them and call the tool again"
            ))
        })
    })
}

/// Writes a place as a JSON pointer, as far as it is known.
fn pointer(path: &serde_path_to_error::Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.extend(["/", &index.to_string()]),
            Segment::Map { key } | Segment::Enum { variant: key } => {
                pointer.extend(["/", &pointer_step(key)]);
            }
            Segment::Unknown => break,
        }
    }
    pointer
}

/// Writes a name as one step of a JSON pointer (RFC 6901, section 3).
pub(crate) fn pointer_step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Writes every whole number without a fraction.
fn make_whole(value: &mut Value) {
    // Beyond 2^53 a float no longer holds every integer, so which one was meant cannot be known.
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => {
            let is_whole =
                |float: &f64| number.is_f64() && float.fract() == 0.0 && (-LIMIT..=LIMIT).contains(float);
            if let Some(float) = number.as_f64().filter(is_whole) {
                #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
                let integer = float as i64;
                *number = Number::from(integer);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_whole),
        Value::Object(members) => members.values_mut().for_each(make_whole),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}
