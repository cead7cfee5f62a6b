use serde_json::Value;

/// How deep a literal, such as a default, may be nested.
const DEEPEST_LITERAL: usize = 16;

/// The most bytes of a value that a description quotes.
const MOST_QUOTED: usize = 200;

/// The most elements of a value that a description quotes.
const MOST_QUOTED_ELEMENTS: usize = 64;

/// What a value holds, as far as it was looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub(super) elements: usize,
    /// The bytes of all strings and names.
    pub(super) bytes: usize,
}

/// Measures a value that may be copied, compared or printed; `None` where it is too deep or has too many elements.
pub(super) fn extent(value: &Value, most_elements: usize) -> Option<Extent> {
    let mut extent = Extent { elements: 0, bytes: 0 };
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        extent.elements += 1;
        if extent.elements + open.len() > most_elements || depth > DEEPEST_LITERAL {
            return None;
        }
        match value {
            Value::String(text) => extent.bytes += text.len(),
            Value::Array(elements) if elements.len() > most_elements => return None,
            Value::Array(elements) => open.extend(elements.iter().map(|value| (value, depth + 1))),
            Value::Object(members) if members.len() > most_elements => return None,
            Value::Object(members) => {
                extent.bytes += members.keys().map(String::len).sum::<usize>();
                open.extend(members.values().map(|value| (value, depth + 1)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => extent.bytes += 8,
        }
    }
    Some(extent)
}

/// Compares two values as far as that is cheap; those that are large or deep count as different unless they are one.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    std::ptr::eq(one, other) || (extent(one, 1000).is_some() && extent(other, 1000).is_some() && one == other)
}

/// Prints a keyword for a description; `None` where its value is too large to be quoted.
pub(super) fn quoted(keyword: &str, value: &Value) -> Option<String> {
    let extent = extent(value, MOST_QUOTED_ELEMENTS)?;
    if extent.bytes > MOST_QUOTED {
        return None;
    }
    let text = value.to_string();
    (text.len() <= MOST_QUOTED).then(|| format!("{keyword}: {text}"))
}

/// Tells whether a keyword's value has the form that JSON Schema gives it; true for all that hold schemas.
pub(super) fn is_well_formed(keyword: &str, value: &Value) -> bool {
    let is_count = |value: &Value| value.as_f64().is_some_and(|count| count >= 0.0 && count.fract() == 0.0);
    let is_names = |value: &Value| value.as_array().is_some_and(|names| names.iter().all(Value::is_string));
    match keyword {
        "type" => match value {
            Value::String(name) => Kind::named(name).is_some(),
            Value::Array(names) => {
                let kinds: Option<Vec<Kind>> = names.iter().map(|name| Kind::named(name.as_str()?)).collect();
                kinds.is_some_and(|kinds| {
                    !kinds.is_empty()
                        && kinds.iter().enumerate().all(|(at, kind)| !kinds[..at].contains(kind))
                })
            }
            _ => false,
        },
        "title" | "description" | "format" | "pattern" | "contentEncoding" | "contentMediaType" | "$ref" => {
            value.is_string()
        }
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "examples" => value.is_array(),
        "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
            value.as_array().is_some_and(|schemas| !schemas.is_empty())
        }
        "patternProperties" | "dependentSchemas" | "dependencies" => value.is_object(),
        "dependentRequired" => value.as_object().is_some_and(|members| members.values().all(is_names)),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => is_count(value),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        "items" => matches!(value, Value::Object(_) | Value::Bool(_) | Value::Array(_)),
        "not"
        | "if"
        | "then"
        | "else"
        | "additionalProperties"
        | "propertyNames"
        | "contains"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "additionalItems" => matches!(value, Value::Object(_) | Value::Bool(_)),
        _ => true,
    }
}

/// The types of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Null, Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// Tells whether a value is of the type.
    pub(super) fn takes(self, value: &Value) -> bool {
        let found = Self::of(value);
        found == self
            || (self == Self::Number && found == Self::Integer)
            || (self == Self::Integer && value.as_f64().is_some_and(|number| number.fract() == 0.0))
    }

    /// Names the type that a keyword speaks of, where it speaks of one.
    pub(super) fn spoken_of(keyword: &str) -> Option<Self> {
        match keyword {
            "additionalProperties"
            | "patternProperties"
            | "propertyNames"
            | "minProperties"
            | "maxProperties"
            | "dependentRequired"
            | "dependentSchemas"
            | "dependencies"
            | "unevaluatedProperties" => Some(Self::Object),
            "items" | "prefixItems" | "additionalItems" | "minItems" | "maxItems" | "uniqueItems"
            | "contains" | "minContains" | "maxContains" | "unevaluatedItems" => Some(Self::Array),
            "pattern" | "minLength" | "maxLength" | "contentEncoding" | "contentMediaType" => {
                Some(Self::String)
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                Some(Self::Number)
            }
            _ => None,
        }
    }
}
