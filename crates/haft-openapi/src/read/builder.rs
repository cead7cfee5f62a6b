use super::place::{Fate, Place};
use super::{MOST_LEVELS, Outward, Read};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};
use std::cell::{Cell, RefCell};
use std::fmt;

/// The longest example that is kept, in bytes.
const MOST_EXAMPLE_BYTES: usize = 100;

/// The most examples that are kept in one place.
const MOST_EXAMPLES: usize = 3;

/// The most repeated keys that are kept.
const MOST_REPEATED: usize = 20;

/// Says which of the two a text is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Yaml,
}

/// Counts what is read of one text.
#[derive(Debug)]
pub(super) struct Limits {
    syntax: Syntax,
    nodes: Counter,
    bytes: Counter,
    outward: RefCell<Outward>,
    repeated: RefCell<Vec<String>>,
}

/// Counts up to a limit.
#[derive(Debug)]
struct Counter {
    most: usize,
    counted: Cell<usize>,
}

impl Counter {
    fn new(most: usize) -> Self {
        Self { most, counted: Cell::new(0) }
    }

    /// Tells whether so many more are still within the limit.
    fn takes(&self, more: usize) -> bool {
        let counted = self.counted.get().saturating_add(more);
        self.counted.set(counted);
        counted <= self.most
    }
}

impl Limits {
    pub(super) fn new(syntax: Syntax, bytes: usize, nodes: usize) -> Self {
        Self {
            syntax,
            nodes: Counter::new(nodes),
            bytes: Counter::new(bytes),
            outward: RefCell::default(),
            repeated: RefCell::default(),
        }
    }

    pub(super) fn done(self, value: Option<Value>) -> Read {
        Read {
            value: value.unwrap_or_default(),
            outward: self.outward.into_inner().files,
            repeated: self.repeated.into_inner(),
            nodes: self.nodes.counted.get(),
            bytes: self.bytes.counted.get(),
        }
    }

    fn count_node<E: Error>(&self) -> Result<(), E> {
        if self.nodes.takes(1) { Ok(()) } else { Err(E::custom("it has more values than are read")) }
    }

    /// Counts the bytes of a text or a key; an alias of YAML stands for as many as what it is an alias of.
    fn count_bytes<E: Error>(&self, text: &str) -> Result<(), E> {
        if self.bytes.takes(text.len()) {
            Ok(())
        } else {
            Err(E::custom("its texts are larger than is read"))
        }
    }
}

/// Builds one value; nothing where it is not wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Builder<'l> {
    limits: &'l Limits,
    place: Place,
    levels: usize,
    only_if_short: bool,
}

impl<'l> Builder<'l> {
    pub(super) fn new(limits: &'l Limits, place: Place) -> Self {
        Self { limits, place, levels: MOST_LEVELS, only_if_short: false }
    }

    fn below<E: Error>(&self) -> Result<usize, E> {
        let below = self.levels.checked_sub(1);
        below.ok_or_else(|| E::custom(format_args!("it is nested more than {MOST_LEVELS} levels deep")))
    }

    /// How a member is built; `None` where it is passed over.
    fn member(self, name: &str, levels: usize) -> Option<Self> {
        match self.place.fate(name) {
            Fate::Kept(place) => Some(Self { place, levels, ..self }),
            Fate::KeptIfShort => Some(Self { place: Place::Data, levels, only_if_short: true, ..self }),
            Fate::Dropped => None,
        }
    }

    fn insert<E: Error>(
        &self,
        members: &mut Map<String, Value>,
        name: String,
        value: Value,
    ) -> Result<(), E> {
        match members.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(value);
            }
            Entry::Occupied(_) if self.limits.syntax == Syntax::Yaml => {
                return Err(E::custom("a key stands twice in one object"));
            }
            Entry::Occupied(mut entry) => {
                let mut repeated = self.limits.repeated.borrow_mut();
                if repeated.len() < MOST_REPEATED && !repeated.contains(entry.key()) {
                    repeated.push(entry.key().clone());
                }
                entry.insert(value);
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Builder<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        self.limits.count_node()?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Builder<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Some(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Some(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Some(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Some(value.into()))
    }

    #[expect(clippy::cast_precision_loss, reason = "JSON has no other number for it")]
    fn visit_i128<E: Error>(self, value: i128) -> Result<Self::Value, E> {
        self.visit_f64(value as f64)
    }

    #[expect(clippy::cast_precision_loss, reason = "JSON has no other number for it")]
    fn visit_u128<E: Error>(self, value: u128) -> Result<Self::Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        // Neither infinity nor what is no number can be written in JSON.
        Ok(Some(Number::from_f64(value).map_or_else(|| Value::String(value.to_string()), Value::Number)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        if self.only_if_short && value.len() > MOST_EXAMPLE_BYTES {
            return Ok(None);
        }
        self.limits.count_bytes(value)?;
        Ok(Some(Value::String(value.to_owned())))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Self::Value, E> {
        if self.only_if_short && value.len() > MOST_EXAMPLE_BYTES {
            return Ok(None);
        }
        self.limits.count_bytes(&value)?;
        Ok(Some(Value::String(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let levels = self.below()?;
        let place = match self.place {
            Place::Names | Place::Replies => Place::Node,
            place => place,
        };
        let item = Self { place, levels, ..self };
        let mut list = Vec::new();
        while let Some(value) = items.next_element_seed(item)? {
            if !self.only_if_short || list.len() < MOST_EXAMPLES {
                list.extend(value);
            }
        }
        if self.only_if_short && list.is_empty() {
            return Ok(None);
        }
        list.shrink_to_fit();
        Ok(Some(Value::Array(list)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let levels = self.below()?;
        if self.only_if_short {
            while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(None);
        }
        let mut members = Map::new();
        let mut merged = Vec::new();
        while let Some(name) = entries.next_key_seed(Name)? {
            self.limits.count_bytes(&name)?;
            let Some(builder) = self.member(&name, levels) else {
                entries.next_value::<IgnoredAny>()?;
                continue;
            };
            if self.limits.syntax == Syntax::Yaml && name == "<<" {
                // What is merged is a part of this very object.
                let builder = Self { place: self.place, levels, ..self };
                merged.extend(entries.next_value_seed(builder)?);
                continue;
            }
            let Some(value) = entries.next_value_seed(builder)? else { continue };
            if let ("$ref", Value::String(target)) = (name.as_str(), &value)
                && !target.starts_with('#')
            {
                self.limits.outward.borrow_mut().note(target);
            }
            self.insert(&mut members, name, value)?;
        }
        for value in merged {
            merge(&mut members, value).map_err(A::Error::custom)?;
        }
        Ok(Some(Value::Object(members)))
    }

    /// A tag of YAML means nothing here; what it stands at does.
    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Self::Value, A::Error> {
        let (_, value) = tagged.variant_seed(Name)?;
        value.newtype_variant_seed(self)
    }
}

/// Adds the members of a `<<` that the object does not have itself; of several, the first one counts.
fn merge(members: &mut Map<String, Value>, value: Value) -> Result<(), &'static str> {
    match value {
        Value::Object(more) => {
            for (name, value) in more {
                members.entry(name).or_insert(value);
            }
            Ok(())
        }
        Value::Array(several) => several.into_iter().try_for_each(|value| match value {
            Value::Object(_) => merge(members, value),
            _ => Err("`<<` takes objects only"),
        }),
        Value::Null => Ok(()),
        _ => Err("`<<` takes objects only"),
    }
}

/// Reads a key as it is written, whatever YAML would make of it as a value.
#[derive(Debug, Clone, Copy)]
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_string(self)
    }
}

impl Visitor<'_> for Name {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key that is not a list or object")
    }

    fn visit_str<E>(self, value: &str) -> Result<String, E> {
        Ok(value.to_owned())
    }

    fn visit_string<E>(self, value: String) -> Result<String, E> {
        Ok(value)
    }
}
