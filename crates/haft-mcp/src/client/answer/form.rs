use crate::shown::line;
use haft_core::{Schema, is_hidden};
use haft_tools_core::Question;
use serde_json::{Map, Value, json};

/// The most bytes of a form.
const MOST_BYTES: usize = 64 * 1024;

/// The most fields of a form.
const MOST_FIELDS: usize = 64;

/// The most bytes of a text in a form that is only read.
const MOST_TEXT_BYTES: usize = 1024;

/// What a field may say of itself besides its texts; the rest of JSON Schema is not allowed in forms.
const KEYWORDS: [&str; 14] = [
    "type",
    "default",
    "minLength",
    "maxLength",
    "format",
    "minimum",
    "maximum",
    "enum",
    "oneOf",
    "anyOf",
    "const",
    "items",
    "minItems",
    "maxItems",
];

/// Texts of a field that are only read.
const TEXTS: [&str; 2] = ["title", "description"];

/// What the name of a field that asks for a secret has in it.
const SECRETS: [&str; 9] =
    ["password", "passwd", "passphrase", "secret", "token", "apikey", "credential", "privatekey", "cvv"];

/// Is a form of a server, in the parts of JSON Schema that forms may have, with its texts made visible.
pub(super) struct Form {
    fields: Map<String, Value>,
    required: Vec<String>,
    defaults: Map<String, Value>,
}

impl Form {
    /// Reads a form; says what is wrong with it otherwise.
    pub(super) fn read(schema: &Value) -> Result<Self, String> {
        if schema.to_string().len() > MOST_BYTES {
            return Err(format!("a form has at most {} KiB", MOST_BYTES / 1024));
        }
        let told = schema.get("properties").and_then(Value::as_object);
        let told = told.ok_or("a form is an object with `properties`")?;
        if told.len() > MOST_FIELDS {
            return Err(format!("a form has at most {MOST_FIELDS} fields"));
        }
        let (mut fields, mut defaults) = (Map::new(), Map::new());
        for (name, field) in told {
            plain(name)?;
            let field = self::field(field, 0).map_err(|reason| format!("the field `{name}`: {reason}"))?;
            defaults.extend(field.get("default").map(|default| (name.clone(), default.clone())));
            fields.insert(name.clone(), field);
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required = required.filter_map(Value::as_str).filter(|name| fields.contains_key(*name));
        let required = required.map(str::to_owned).collect();
        Ok(Self { fields, required, defaults })
    }

    /// Puts the question whose answer is an object of the form; what has a default may be left out.
    pub(super) fn question(&self, text: &str) -> Result<Question, String> {
        self.question_without(text, |name| self.defaults.contains_key(name))
    }

    /// Fills in the defaults of what an answer leaves out; says what is wrong with the whole otherwise.
    pub(super) fn filled(&self, answer: Value) -> Result<Value, String> {
        let Value::Object(mut content) = answer else { return Err("it is not an object".to_owned()) };
        for (name, default) in &self.defaults {
            if !content.contains_key(name) {
                content.insert(name.clone(), default.clone());
            }
        }
        let content = Value::Object(content);
        match self.question_without("", |_| false)?.check(&content) {
            Ok(()) => Ok(content),
            Err(unfit) => Err(unfit.to_string()),
        }
    }

    /// Tells whether a field asks for something secret, by its name.
    pub(super) fn asks_for_secrets(&self) -> bool {
        let folded = |name: &str| -> String {
            name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
        };
        self.fields.keys().any(|name| SECRETS.iter().any(|secret| folded(name).contains(secret)))
    }

    fn question_without(&self, text: &str, optional: impl Fn(&str) -> bool) -> Result<Question, String> {
        let required: Vec<&String> = self.required.iter().filter(|name| !optional(name)).collect();
        let schema = json!({
            "type": "object",
            "properties": self.fields,
            "required": required,
            "additionalProperties": false,
        });
        let schema = Schema::new(schema).map_err(|error| error.to_string())?;
        Ok(Question::form(text, schema))
    }
}

/// Takes of a field what a form may have of it.
fn field(told: &Value, depth: usize) -> Result<Value, String> {
    let members = told.as_object().ok_or("it is not an object")?;
    let kind = members.get("type").and_then(Value::as_str);
    let is_of_choice = depth > 0 && kind.is_none();
    if !is_of_choice && !matches!(kind, Some("string" | "number" | "integer" | "boolean" | "array")) {
        return Err("it is neither a text, a number, a yes or no nor a list of choices".to_owned());
    }
    if kind == Some("array") && (depth > 0 || !members.get("items").is_some_and(Value::is_object)) {
        return Err("it is not a list of choices".to_owned());
    }
    let mut field = Map::new();
    for (keyword, value) in members {
        let taken = match (keyword.as_str(), value) {
            (keyword, Value::String(text)) if TEXTS.contains(&keyword) => line(text, MOST_TEXT_BYTES).into(),
            ("enum", Value::Array(values)) => {
                values.iter().filter_map(Value::as_str).try_for_each(plain)?;
                value.clone()
            }
            ("const", Value::String(text)) => {
                plain(text)?;
                value.clone()
            }
            ("oneOf" | "anyOf", Value::Array(choices)) if depth < 2 => {
                let choices: Result<Vec<Value>, String> =
                    choices.iter().map(|choice| self::field(choice, depth.max(1) + 1)).collect();
                choices?.into()
            }
            ("items", items) if depth == 0 => self::field(items, 1)?,
            ("default", Value::Null) => continue,
            ("oneOf" | "anyOf" | "items" | "enum" | "const", _) => {
                return Err(format!("its `{keyword}` is not what it can be in a form"));
            }
            (keyword, value) if KEYWORDS.contains(&keyword) => value.clone(),
            _ => continue,
        };
        field.insert(keyword.clone(), taken);
    }
    Ok(field.into())
}

/// Refuses what is written back as it is, and would not be seen.
fn plain(text: &str) -> Result<(), String> {
    if text.is_empty() || text.len() > MOST_TEXT_BYTES || text.chars().any(is_hidden) {
        return Err(
            "a name or a choice is empty, too long, or holds characters that cannot be seen".to_owned()
        );
    }
    Ok(())
}
