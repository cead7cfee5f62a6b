mod form;
mod gemini;
mod limits;
mod loose;
mod place;
mod projection;
mod reference;
mod strict;
mod value;
mod walk;

pub use projection::{Loss, LossKind, NotStrictError, NotStrictReason, Projection};

use haft_core::{Schema, ToolSpec};
use loose::Refusals;
use projection::Losses;
use serde_json::{Value, json};

/// Names the part of JSON Schema that a provider takes for a tool's arguments.
///
/// A projection is for the model to read. Arguments are always validated against the tool's own schema, so nothing is
/// lost where a projection says less: the validator refuses what the model could not know, and says why. Every
/// difference is listed as a [`Loss`]. A keyword that a dialect lacks is told in the description, if that is short:
/// `(minLength: 1, default: "main")`.
///
/// In the strict dialect every property is required, and one that was optional takes null; the model sends that null
/// where it would leave the property out. The validator's repair takes it as absent, up to 4,096 times in one call, so
/// repair must not be switched off for a tool that is offered like this.
///
/// Projecting is pure and gives the same bytes every time. It goes 24 schemas deep, reads 50,000 keywords and
/// properties, and writes 1 MiB of text and references; what lies beyond is shown as any value, and refused in the
/// strict dialect. References to elsewhere are not followed.
///
/// ```
/// use haft_core::Schema;
/// use haft_model::Dialect;
/// use serde_json::json;
///
/// let schema = Schema::new(json!({
///     "properties": { "path": { "type": "string", "minLength": 1 }, "limit": { "type": "integer" } },
///     "required": ["path"],
///     "additionalProperties": false,
/// }))?;
/// let projection = Dialect::OpenAiStrict.project(&schema)?;
/// assert_eq!(
///     projection.schema,
///     json!({
///         "type": "object",
///         "properties": {
///             "path": { "type": "string", "description": "(minLength: 1)" },
///             "limit": { "type": ["integer", "null"] },
///         },
///         "required": ["limit", "path"],
///         "additionalProperties": false,
///     }),
/// );
/// assert_eq!(projection.losses[0].to_string(), "`/properties/path/minLength`: moved into the description");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// OpenAI's structured outputs: what the model sends is made to fit, if the schema is within their subset.
    ///
    /// Every object lists all its properties, requires them all and takes no others; there is no choice at the top and
    /// none of `oneOf`, `allOf`, `not`, `if` or the lengths of texts; at most 10 levels of objects, 5,000 properties,
    /// 1,000 enum values, and 120,000 characters in names and values (15,000 in one enum of over 250 values). Parts
    /// that hold together are joined into one, `oneOf` becomes `anyOf`, and a reference with keywords beside it is
    /// written out. A level is counted for each object; each definition counts from its own top.
    ///
    /// Source: <https://platform.openai.com/docs/guides/structured-outputs#supported-schemas>. That `$ref` stands alone
    /// and `default` and `uniqueItems` are refused is known from the API's answers.
    OpenAiStrict,
    /// OpenAI's function calling without that promise, which takes nearly all of JSON Schema.
    ///
    /// The API refuses `oneOf`, `anyOf`, `allOf`, `enum` and `not` at the top level and arrays without `items`. The
    /// properties of alternatives at the top are shown as optional ones.
    ///
    /// Source: <https://platform.openai.com/docs/guides/function-calling>, and the API's answer "schema must have type
    /// 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level".
    OpenAi,
    /// Anthropic's tool use: draft 2020-12 without a choice at the top level.
    ///
    /// What older drafts wrote otherwise is rewritten. A property whose name is not 1 to 64 characters of
    /// `[A-Za-z0-9_.-]`, for which the API refuses the whole request, is spoken of in the description.
    ///
    /// Source: <https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview>, and the API's answers
    /// "`input_schema` does not support oneOf, allOf, or anyOf at the top level" and "property keys should match
    /// pattern '^[a-zA-Z0-9_.-]{1,64}$'".
    Anthropic,
    /// The subset of OpenAPI 3.0 that `parameters` of a Gemini function declaration is.
    ///
    /// There are no references, so they are written out, and cut where they repeat themselves. Every schema has one
    /// type or stands as `anyOf` alone; null is said with `nullable`, only texts are enumerated, and the formats are
    /// `date-time`, `int32`, `int64`, `float` and `double`. Below the top, an object of which no properties are listed
    /// is refused, so it is asked for as JSON text, which the validator's repair decodes.
    ///
    /// Newer models also take JSON Schema in `parametersJsonSchema`, for which [`Dialect::OpenAi`] is the closer form.
    ///
    /// Source: <https://ai.google.dev/api/caching#Schema>.
    Gemini,
}

impl Dialect {
    /// Projects a schema, and lists what the projection says otherwise.
    ///
    /// # Errors
    ///
    /// Only [`Dialect::OpenAiStrict`] fails: where it could say a schema only by forbidding what the schema is about
    /// (such as properties of any name), or where a limit is exceeded.
    pub fn project(self, schema: &Schema) -> Result<Projection, NotStrictError> {
        let schema = schema.as_value();
        let (schema, losses) = match self {
            Self::OpenAiStrict => strict::project(schema)?,
            Self::OpenAi => openai(schema),
            Self::Anthropic => {
                let refusals = Refusals { at_the_top: &[], property_name: loose::is_plain_name };
                loose::project(schema, refusals)
            }
            Self::Gemini => gemini::project(schema),
        };
        Ok(Projection::new(schema, losses))
    }

    /// Writes a tool as the provider takes it in the list of tools.
    ///
    /// For OpenAI this is the form of chat completions; the Responses API wants the members of `function` beside
    /// `type`. A tool whose schema cannot be strict is written as [`Dialect::OpenAi`] writes it, with `strict: false`;
    /// [`Dialect::project`] tells why. For Gemini it is one entry of `functionDeclarations`, without `parameters` if
    /// there are none; note that a name there must not begin with a digit or `-`.
    ///
    /// ```
    /// use haft_core::{Schema, ToolSpec};
    /// use haft_model::Dialect;
    /// use serde_json::json;
    ///
    /// let spec = ToolSpec::new("now".parse()?, "Tells the time.", Schema::empty());
    /// let tool = Dialect::Gemini.tool(&spec);
    /// assert_eq!(tool, json!({ "name": "now", "description": "Tells the time." }));
    /// # Ok::<(), haft_core::NameError>(())
    /// ```
    pub fn tool(self, spec: &ToolSpec) -> Value {
        let (name, description) = (spec.name(), spec.description());
        let (schema, is_strict) = match self.project(spec.input_schema()) {
            Ok(projection) => (projection.schema, self == Self::OpenAiStrict),
            Err(_) => (openai(spec.input_schema().as_value()).0, false),
        };
        match self {
            Self::OpenAiStrict | Self::OpenAi => json!({
                "type": "function",
                "function": {
                    "name": name, "description": description, "parameters": schema, "strict": is_strict,
                },
            }),
            Self::Anthropic => json!({ "name": name, "description": description, "input_schema": schema }),
            Self::Gemini if schema["properties"].as_object().is_none_or(serde_json::Map::is_empty) => {
                json!({ "name": name, "description": description })
            }
            Self::Gemini => json!({ "name": name, "description": description, "parameters": schema }),
        }
    }
}

fn openai(schema: &Value) -> (Value, Losses) {
    loose::project(schema, Refusals { at_the_top: &["enum", "not"], property_name: loose::is_any_name })
}
