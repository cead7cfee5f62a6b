/// Says what stands behind a keyword of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyword {
    Kind,
    Description,
    Text,
    Number,
    /// A bound that is a number, or says so of another one.
    Limit,
    Count,
    Flag,
    /// Any value.
    Any,
    Choices,
    Schema,
    Schemas,
    /// Schemas by name.
    Named,
    /// Lists of names by name.
    Lists,
    Items,
    /// It means nothing to who reads the schema, or is looked at elsewhere.
    Other,
}

impl Keyword {
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "type" => Self::Kind,
            "description" => Self::Description,
            "format" | "pattern" | "contentEncoding" | "contentMediaType" => Self::Text,
            "minimum" | "maximum" | "multipleOf" => Self::Number,
            "exclusiveMinimum" | "exclusiveMaximum" => Self::Limit,
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
            | "minContains" | "maxContains" => Self::Count,
            "uniqueItems" | "deprecated" => Self::Flag,
            "default" | "const" => Self::Any,
            "enum" => Self::Choices,
            "additionalProperties"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Self::Schema,
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => Self::Schemas,
            "properties" | "patternProperties" | "dependentSchemas" => Self::Named,
            "dependentRequired" => Self::Lists,
            "items" => Self::Items,
            _ => Self::Other,
        }
    }
}
