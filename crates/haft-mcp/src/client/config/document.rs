use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// How deep lists and tables may stand in each other; a server needs five.
const DEEPEST: usize = 32;

/// Holds a value of a configuration file with where it is written, whichever language the file is in.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) value: NodeValue,
}

#[derive(Debug)]
pub(super) enum NodeValue {
    Nothing,
    Switch(bool),
    Number(String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<(Key, Node)>),
}

#[derive(Debug)]
pub(super) struct Key {
    pub(super) span: Range<usize>,
    pub(super) text: String,
}

/// Says that a text is not of its language; never quotes a value.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) at: usize,
    pub(super) message: String,
}

impl Node {
    /// What kind of value it is, for an error about another that is due.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            NodeValue::Nothing => "nothing",
            NodeValue::Switch(_) => "true or false",
            NodeValue::Number(_) => "a number",
            NodeValue::Text(_) => "a text",
            NodeValue::List(_) => "a list",
            NodeValue::Table(_) => "a table",
        }
    }
}

/// Reads TOML; all that is wrong with it otherwise.
pub(super) fn read_toml(text: &str) -> Result<Node, Vec<SyntaxError>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let span = document.span();
        return Ok(Node { span, value: toml_table(document.get_ref()) });
    }
    let errors = errors.iter().take(20);
    let told = |error: &toml::de::Error| SyntaxError {
        at: error.span().map_or(0, |span| span.start),
        message: format!("it is not TOML: {}", error.message()),
    };
    Err(errors.map(told).collect())
}

fn toml_table(table: &DeTable<'_>) -> NodeValue {
    let mut members: Vec<(Key, Node)> = table
        .iter()
        .map(|(key, value)| {
            let key = Key { span: key.span(), text: key.get_ref().to_string() };
            (key, Node { span: value.span(), value: toml_value(value.get_ref()) })
        })
        .collect();
    members.sort_by_key(|(key, _)| key.span.start);
    NodeValue::Table(members)
}

fn toml_value(value: &DeValue<'_>) -> NodeValue {
    match value {
        DeValue::Boolean(switch) => NodeValue::Switch(*switch),
        DeValue::Integer(number) => NodeValue::Number(number.to_string()),
        DeValue::Float(number) => NodeValue::Number(number.to_string()),
        DeValue::String(text) => NodeValue::Text(text.to_string()),
        DeValue::Datetime(time) => NodeValue::Text(time.to_string()),
        DeValue::Array(items) => {
            let node = |item: &toml::Spanned<DeValue<'_>>| Node {
                span: item.span(),
                value: toml_value(item.get_ref()),
            };
            NodeValue::List(items.iter().map(node).collect())
        }
        DeValue::Table(table) => toml_table(table),
    }
}

/// Reads JSON, with comments and commas before a closing bracket as editors allow them in their settings.
pub(super) fn read_json(text: &str) -> Result<Node, Vec<SyntaxError>> {
    let plain = without_comments(text.strip_prefix('\u{feff}').unwrap_or(text));
    let reader = JsonReader { plain: &plain, shift: text.len() - plain.len() };
    let read = reader.parse::<&RawValue>(&plain).and_then(|whole| reader.node(whole, 0));
    read.map_err(|error| vec![error])
}

struct JsonReader<'a> {
    plain: &'a str,
    /// How many bytes of the file stand before it.
    shift: usize,
}

impl JsonReader<'_> {
    /// The place in the file of a part of the text.
    fn span(&self, part: &str) -> Range<usize> {
        let start = part.as_ptr() as usize - self.plain.as_ptr() as usize + self.shift;
        start..start + part.len()
    }

    fn parse<'p, T: serde::Deserialize<'p>>(&self, part: &'p str) -> Result<T, SyntaxError> {
        serde_json::from_str(part).map_err(|error| {
            let before = error.line().saturating_sub(1);
            let lines: usize = part.split_inclusive('\n').take(before).map(str::len).sum();
            let at = (lines + error.column().saturating_sub(1)).min(part.len());
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            SyntaxError { at: self.span(part).start + at, message: format!("it is not JSON: {message}") }
        })
    }

    fn node(&self, raw: &RawValue, depth: usize) -> Result<Node, SyntaxError> {
        let text = raw.get();
        let span = self.span(text);
        if depth > DEEPEST {
            let message = format!("lists and tables stand in each other more than {DEEPEST} deep");
            return Err(SyntaxError { at: span.start, message });
        }
        let value = match text.as_bytes().first() {
            Some(b'n') => NodeValue::Nothing,
            Some(b't') => NodeValue::Switch(true),
            Some(b'f') => NodeValue::Switch(false),
            Some(b'"') => NodeValue::Text(self.parse(text)?),
            Some(b'[') => {
                let Items(items) = self.parse(text)?;
                let items: Result<_, _> = items.into_iter().map(|item| self.node(item, depth + 1)).collect();
                NodeValue::List(items?)
            }
            Some(b'{') => {
                let Members(members) = self.parse(text)?;
                let member = |(key, value): (&RawValue, &RawValue)| {
                    let key = Key { span: self.span(key.get()), text: self.parse(key.get())? };
                    Ok((key, self.node(value, depth + 1)?))
                };
                let members: Result<_, _> = members.into_iter().map(member).collect();
                NodeValue::Table(members?)
            }
            _ => NodeValue::Number(text.to_owned()),
        };
        Ok(Node { span, value })
    }
}

/// Replaces what is not JSON by blanks of the same length, so that places stay.
fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut comma: Option<usize> = None;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                comma = None;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if matches!(bytes.get(at + 1), Some(b'/' | b'*')) => {
                let rest = &text.as_bytes()[at + 2..];
                let length = if bytes[at + 1] == b'/' {
                    rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
                } else {
                    rest.windows(2).position(|pair| pair == b"*/").map_or(rest.len(), |end| end + 2)
                };
                let comment = &mut bytes[at..at + 2 + length];
                comment.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
                at += length + 1;
            }
            b',' => comma = Some(at),
            b']' | b'}' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    // Only whole characters were replaced: a comment begins and ends with ASCII.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Holds the members of an object as they are written, those of the same name too.
struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

struct Items<'a>(Vec<&'a RawValue>);

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

impl<'de> serde::Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Items<'de>, A::Error> {
                let mut read = Vec::new();
                while let Some(item) = items.next_element()? {
                    read.push(item);
                }
                Ok(Items(read))
            }
        }
        deserializer.deserialize_seq(Reader)
    }
}
