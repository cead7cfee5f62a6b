use super::bounds::weigh;
use serde_json::{Map, Value};

/// Keywords that say of a value nothing it could break; `format` is another one where no text is taken.
const NOTES: [&str; 5] = ["title", "description", "default", "examples", "deprecated"];

/// Recognises the arguments of most calls: a flat object with properties of which nothing but the type is asked, between
/// which numbers a whole number is, or how long a text is at most.
///
/// It only ever says that arguments fit. Of all others, also of those that fit for another reason, the whole schema has to
/// tell, so nothing here has to follow what combines or refers to schemas. For a call with few arguments, looking at them
/// once takes a fifth of the work.
pub(super) struct PlainObject {
    /// The properties that are plain, in the order in which the schema has them.
    properties: Vec<Property>,
}

struct Property {
    name: Box<str>,
    is_required: bool,
    takes: Takes,
}

/// Says what a property may be.
#[derive(Debug, Clone, Copy, Default)]
struct Takes {
    /// A text of so many bytes: no text has more characters than bytes.
    text: Option<usize>,
    boolean: bool,
    null: bool,
    /// Any number.
    number: bool,
    /// A whole number from the first to the second.
    whole: Option<(i128, i128)>,
}

impl PlainObject {
    /// Reads a schema; `None` if it asks for anything that is not understood here.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let schema = schema.as_object()?;
        let is_known = |(keyword, value): (&String, &Value)| match keyword.as_str() {
            // What is allowed besides the properties is not recognised here anyway.
            "additionalProperties" => value.is_boolean(),
            "type" => value == "object",
            // What nothing refers to asks nothing, and a property that refers to it is not plain.
            "$schema" | "$defs" | "properties" | "required" => true,
            keyword => NOTES.contains(&keyword),
        };
        if !schema.iter().all(is_known) {
            return None;
        }
        let required = match schema.get("required") {
            Some(required) => required.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?,
            None => Vec::new(),
        };
        let plain = |(name, schema): (&String, &Value)| {
            let is_required = required.contains(&name.as_str());
            Some(Property { name: name.as_str().into(), is_required, takes: Takes::of(schema.as_object()?)? })
        };
        let properties: Vec<_> = schema.get("properties")?.as_object()?.iter().filter_map(plain).collect();
        // Arguments without one that is required do not fit, and with one that is not plain they are not recognised.
        let is_plain = |name: &&str| properties.iter().any(|property| &*property.name == *name);
        required.iter().all(is_plain).then_some(Self { properties })
    }

    /// Tells whether arguments surely fit the schema and have at most so many bytes, as [`weigh`] counts them.
    pub(super) fn recognises(&self, input: &Value, most_bytes: usize) -> bool {
        let (Some(members), Some(mut left)) = (input.as_object(), most_bytes.checked_sub(1)) else {
            return false;
        };
        // Members have the order of the properties, or are not recognised.
        let mut properties = self.properties.iter();
        for (name, value) in members {
            let property = loop {
                match properties.next() {
                    Some(property) if *property.name == **name => break property,
                    Some(Property { is_required: false, .. }) => {}
                    Some(_) | None => return false,
                }
            };
            let rest = left.checked_sub(name.len()).and_then(|left| weigh(value, 0, left).ok());
            match rest {
                Some(rest) if property.takes.accepts(value) => left = rest,
                _ => return false,
            }
        }
        properties.all(|property| !property.is_required)
    }
}

impl Takes {
    fn of(schema: &Map<String, Value>) -> Option<Self> {
        let mut takes = Self::default();
        let types = schema.get("type")?;
        for name in types.as_array().map_or(std::slice::from_ref(types), Vec::as_slice) {
            match name.as_str()? {
                "string" => takes.text = Some(usize::MAX),
                "boolean" => takes.boolean = true,
                "null" => takes.null = true,
                "number" => takes.number = true,
                "integer" => takes.whole = Some((i128::MIN, i128::MAX)),
                _ => return None,
            }
        }
        for (keyword, value) in schema {
            match (keyword.as_str(), &mut takes) {
                ("type", _) | ("format", Self { text: None, .. }) => {}
                ("maxLength", Self { text: Some(most), .. }) => {
                    *most = usize::try_from(value.as_u64()?).ok()?;
                }
                ("minimum", Self { number: false, whole: Some((least, _)), .. }) => *least = whole(value)?,
                ("maximum", Self { number: false, whole: Some((_, most)), .. }) => *most = whole(value)?,
                (keyword, _) if NOTES.contains(&keyword) => {}
                _ => return None,
            }
        }
        Some(takes)
    }

    fn accepts(self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.text.is_some_and(|most| text.len() <= most),
            Value::Bool(_) => self.boolean,
            Value::Null => self.null,
            Value::Number(_) if self.number => true,
            Value::Number(_) => self
                .whole
                .zip(whole(value))
                .is_some_and(|((least, most), number)| (least..=most).contains(&number)),
            Value::Array(_) | Value::Object(_) => false,
        }
    }
}

/// Reads a whole number that is written as one.
fn whole(value: &Value) -> Option<i128> {
    value.as_u64().map(i128::from).or_else(|| value.as_i64().map(i128::from))
}

#[cfg(test)]
mod tests;
