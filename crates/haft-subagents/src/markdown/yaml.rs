use super::AgentFileError;
use super::error::{reason, shown};
use super::quoting::quoted;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use std::cell::Cell;
use std::fmt;

/// The most values, levels and bytes of text that front matter may have, aliases written out.
const MOST_VALUES: usize = 5_000;
const MOST_LEVELS: usize = 48;
const MOST_TEXT: usize = 128 * 1024;

/// The most brackets that may be open at once: the parser takes longer for each, the more there are.
const MOST_OPEN: usize = 200;

/// Holds what was read of front matter.
#[derive(Debug)]
pub(super) struct Front {
    pub(super) members: Map<String, Value>,
    /// The keys that were read as if their values were quoted, and the lines where, 1-based in the front matter.
    pub(super) quoted: Vec<(&'static str, usize)>,
}

/// Reads front matter as YAML.
///
/// What is written without the quotes that YAML wants, and can be meant in one way only, is read as it is meant: a description
/// with a colon in it, and selectors such as `@builtin` and `!bash`.
pub(super) fn read(front: &str, file: &str) -> Result<Front, AgentFileError> {
    let parse = |text: &str| match parse(text) {
        Ok(members) => Ok(members),
        Err(Failure { line, reason }) => {
            Err(AgentFileError::Syntax { file: file.to_owned(), line: line.unwrap_or(1) + 1, reason })
        }
    };
    match parse(front) {
        Ok(members) => Ok(Front { members, quoted: Vec::new() }),
        Err(error) => {
            let Some((text, quoted)) = quoted(front) else { return Err(error) };
            // What is still wrong is told of the text as it is written.
            parse(&text).map(|members| Front { members, quoted }).map_err(|_| error)
        }
    }
}

struct Failure {
    /// The line of the front matter, 1-based.
    line: Option<usize>,
    reason: String,
}

fn parse(front: &str) -> Result<Map<String, Value>, Failure> {
    let refuse = |reason: &str| Failure { line: None, reason: reason.to_owned() };
    if has_many_open(front) {
        return Err(refuse("it has more than 200 brackets open at once; write less deep an `output`"));
    }
    if front.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Err(refuse("it is empty; write at least `name: …` and `description: …`"));
    }
    let limits = Limits { values: Cell::new(MOST_VALUES), text: Cell::new(MOST_TEXT) };
    let reader = Reader { limits: &limits, levels: MOST_LEVELS };
    match reader.deserialize(yaml_serde::Deserializer::from_str(front)) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(refuse("it is not a list of keys; write lines such as `name: …` and `description: …`")),
        Err(error) => {
            let line = error.location().map(|location| location.line().max(1));
            let why = reason(&without_places(&error.to_string()));
            Err(Failure { line, reason: format!("{why}; put texts with special characters into quotes") })
        }
    }
}

/// Takes away where a fault is in the front matter, since the file has another count of its lines.
fn without_places(error: &str) -> String {
    let mut pieces = error.split(" at line ");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|one: char| one.is_ascii_digit());
        let rest = rest
            .strip_prefix(" column ")
            .map_or(rest, |rest| rest.trim_start_matches(|one: char| one.is_ascii_digit()));
        text.push_str(rest);
    }
    text
}

fn has_many_open(text: &str) -> bool {
    let mut open = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > MOST_OPEN
    })
}

struct Limits {
    values: Cell<usize>,
    text: Cell<usize>,
}

impl Limits {
    fn take<E: Error>(left: &Cell<usize>, count: usize) -> Result<(), E> {
        let rest = left.get().checked_sub(count).ok_or_else(|| E::custom("it holds more than is read"))?;
        left.set(rest);
        Ok(())
    }
}

/// Builds one value within limits; a key that stands twice, a tag, and a key that is no text are refused.
#[derive(Clone, Copy)]
struct Reader<'l> {
    limits: &'l Limits,
    levels: usize,
}

impl Reader<'_> {
    fn below<E: Error>(self) -> Result<Self, E> {
        let levels = self.levels.checked_sub(1);
        Ok(Self { levels: levels.ok_or_else(|| E::custom("it is nested too deeply"))?, ..self })
    }

    fn value<E: Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        Limits::take(&self.limits.values, 1)?;
        Ok(value.into())
    }

    fn text<E: Error>(self, text: &str) -> Result<(), E> {
        Limits::take(&self.limits.text, text.len())
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true, false, a list or keys")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.value(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.value(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.value(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        self.value(number.ok_or_else(|| E::custom("a number that is infinite or not a number is not read"))?)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.text(value)?;
        self.value(value)
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.value(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.value(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let item = self.below()?;
        let mut list = Vec::new();
        while let Some(value) = items.next_element_seed(item)? {
            list.push(value);
        }
        self.value(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let member = self.below()?;
        let mut map = Map::new();
        while let Some(key) = members.next_key_seed(member)? {
            let Value::String(key) = key else {
                let key = shown(&key.to_string());
                return Err(A::Error::custom(format_args!("the key `{key}` is not text")));
            };
            match map.entry(key) {
                Entry::Vacant(entry) => entry.insert(members.next_value_seed(member)?),
                Entry::Occupied(entry) => {
                    let key = shown(entry.key());
                    return Err(A::Error::custom(format_args!("the key `{key}` stands twice")));
                }
            };
        }
        self.value(map)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        let (tag, _) = data.variant_seed(self)?;
        let tag = shown(tag.as_str().unwrap_or_default().trim_start_matches('!'));
        Err(A::Error::custom(format_args!("`!{tag}` is a tag, and none is read")))
    }
}
