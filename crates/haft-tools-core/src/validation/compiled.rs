use super::bounds::{check_bounds, longest_chain};
use super::violation::violations;
use super::{MOST_VIOLATIONS, build};
use jsonschema::Validator;
use serde_json::Value;
use std::fmt;

/// Checks JSON values against one JSON Schema that was compiled once, such as that of a tool's structured output.
///
/// The schema may be of any values, not only of objects, and written by a party that is not trusted: nothing is fetched
/// for it, and neither it nor a value can make the check run out of stack.
///
/// ```
/// use haft_tools_core::CompiledSchema;
/// use serde_json::json;
///
/// let schema = CompiledSchema::compile(json!({ "type": "array", "items": { "type": "integer" } }))?;
/// assert!(schema.check(&json!([1, 2])).is_ok());
/// let error = schema.check(&json!([1, "2"])).unwrap_err();
/// assert_eq!(error.to_string(), "at `/1`: \"2\" is not an integer");
/// # Ok::<(), haft_tools_core::CompileSchemaError>(())
/// ```
pub struct CompiledSchema {
    schema: Value,
    validator: Validator,
    longest_chain: usize,
}

/// Says why a JSON Schema cannot be compiled; for people.
///
/// ```
/// use haft_tools_core::{CompileSchemaError, CompiledSchema};
/// use serde_json::json;
///
/// let error: CompileSchemaError = CompiledSchema::compile(json!({ "$ref": "#/$defs/none" })).unwrap_err();
/// assert_eq!(error.to_string(), "Pointer '/$defs/none' does not exist");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CompileSchemaError(String);

/// Says what is wrong with a value that does not fit a schema, and where; for a model.
///
/// ```
/// use haft_tools_core::{CompiledSchema, InvalidValueError};
/// use serde_json::json;
///
/// let schema = CompiledSchema::compile(json!({ "type": "string" }))?;
/// let error: InvalidValueError = schema.check(&json!(1)).unwrap_err();
/// assert_eq!(error.to_string(), "at the top: 1 is not a string");
/// # Ok::<(), haft_tools_core::CompileSchemaError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidValueError(String);

impl CompiledSchema {
    /// Compiles a schema; costs time that grows with it, so that a large one belongs on a thread that may block.
    ///
    /// # Errors
    ///
    /// When it is no schema, refers to something outside itself, or is nested too deeply; says which, for people.
    pub fn compile(schema: Value) -> Result<Self, CompileSchemaError> {
        let longest_chain = longest_chain(&schema).map_err(CompileSchemaError)?;
        let validator = build(&schema).map_err(CompileSchemaError)?;
        Ok(Self { schema, validator, longest_chain })
    }

    /// Borrows the schema.
    pub fn as_value(&self) -> &Value {
        &self.schema
    }

    /// Tells whether a value fits the schema.
    ///
    /// # Errors
    ///
    /// When it does not, with the first twelve things that are wrong and where, for a model.
    pub fn check(&self, value: &Value) -> Result<(), InvalidValueError> {
        if check_bounds(value, self.longest_chain, usize::MAX).is_err() {
            return Err(InvalidValueError("it is nested too deeply to be checked".to_owned()));
        }
        if self.validator.is_valid(value) {
            return Ok(());
        }
        let found = violations(&self.validator, &self.schema, value, MOST_VIOLATIONS);
        let more = (found.more > 0).then(|| format!("and {} more", found.more));
        Err(InvalidValueError(found.lines.into_iter().chain(more).collect::<Vec<_>>().join("; ")))
    }
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CompiledSchema").field(&self.schema).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::CompiledSchema;
    use expect_test::{Expect, expect};
    use serde_json::{Value, json};

    fn check(schema: Value, value: &Value, expect: &Expect) {
        let said = match CompiledSchema::compile(schema).map(|schema| schema.check(value)) {
            Ok(Ok(())) => "fits".to_owned(),
            Ok(Err(unfit)) => unfit.to_string(),
            Err(error) => error.to_string(),
        };
        expect.assert_eq(&said);
    }

    #[test]
    fn values_of_any_kind_are_checked() {
        check(json!({ "type": "string" }), &json!("a"), &expect!["fits"]);
        check(json!(true), &json!(null), &expect!["fits"]);
        check(json!({ "type": "string" }), &json!(1), &expect!["at the top: 1 is not a string"]);
        check(
            json!({ "type": "object", "required": ["a"], "properties": { "b": { "type": "integer" } } }),
            &json!({ "b": "x" }),
            &expect![[r#"at the top: the property `a` is missing; at `/b`: "x" is not an integer"#]],
        );
    }

    #[test]
    fn what_a_hostile_schema_refers_to_is_neither_fetched_nor_followed_for_ever() {
        let list = json!({ "$ref": "#/$defs/node", "$defs": { "node": { "properties": { "next": { "$ref": "#/$defs/node" } } } } });
        check(list, &json!({ "next": { "next": {} } }), &expect!["fits"]);
        check(
            json!({ "$ref": "http://127.0.0.1:1/schema.json" }),
            &json!(1),
            &expect![
                "Resource 'http://127.0.0.1:1/schema.json' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch http://127.0.0.1:1/schema.json"
            ],
        );
        check(json!({ "$ref": "#/$defs/none" }), &json!(1), &expect!["Pointer '/$defs/none' does not exist"]);
        check(json!({ "$ref": "#" }), &json!(1), &expect!["fits"]);
        check(json!(7), &json!(1), &expect![[r#"7 is not of types "boolean", "object""#]]);
    }

    #[test]
    fn a_value_that_is_nested_too_deeply_is_not_checked() {
        let deep = (0..1_000).fold(json!(1), |inside, _| json!([inside]));
        check(json!({}), &deep, &expect!["it is nested too deeply to be checked"]);
    }
}
