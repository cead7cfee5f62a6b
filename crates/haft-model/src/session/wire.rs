use super::SessionTurn;
use super::turn::usual_stop;
use haft_core::{CallId, ReplyStatus, StopReason, ToolCall, Usage};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// One line of a session as it is read.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Line {
    run: String,
    text: String,
    reasoning: String,
    calls: Vec<Object<LineCall>>,
    usage: Object<LineUsage>,
    stop: Option<StopReason>,
    #[serde(deserialize_with = "without_repetition")]
    after: BTreeMap<CallId, ReplyStatus>,
    #[serde(deserialize_with = "without_repetition")]
    contains: BTreeMap<CallId, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LineCall {
    id: CallId,
    name: String,
    #[serde(default = "no_arguments")]
    input: Value,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct LineUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

/// One line of a session as it is written.
#[derive(Serialize)]
struct PrintedLine<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    run: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    text: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    reasoning: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    calls: &'a [ToolCall],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<StopReason>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    after: &'a BTreeMap<CallId, ReplyStatus>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    contains: &'a BTreeMap<CallId, String>,
}

/// Reads a turn from its line.
pub(super) fn parse(line: &str) -> serde_json::Result<SessionTurn> {
    let Object(line) = serde_json::from_str::<Object<Line>>(line)?;
    let calls: Vec<_> =
        line.calls.into_iter().map(|Object(call)| ToolCall::new(call.id, call.name, call.input)).collect();
    let Object(usage) = line.usage;
    Ok(SessionTurn {
        run: line.run,
        text: line.text,
        reasoning: line.reasoning,
        stop: line.stop.unwrap_or_else(|| usual_stop(&calls)),
        calls,
        usage: Usage {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
        },
        after: line.after,
        contains: line.contains,
    })
}

/// Writes a turn as its line.
pub(super) fn print(turn: &SessionTurn) -> String {
    let line = PrintedLine {
        run: &turn.run,
        text: &turn.text,
        reasoning: &turn.reasoning,
        calls: &turn.calls,
        usage: (turn.usage != Usage::default()).then_some(turn.usage),
        stop: (turn.stop != usual_stop(&turn.calls)).then_some(turn.stop),
        after: &turn.after,
        contains: &turn.contains,
    };
    serde_json::to_string(&line).expect("strings, numbers and maps keyed by strings are JSON")
}

fn no_arguments() -> Value {
    Value::Object(Map::new())
}

/// Reads a `T` from a JSON object only: what serde derives takes a list of the members' values, too.
#[derive(Default)]
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }

        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

/// Reads `after` or `contains`, where the last of two entries for one call would otherwise win in silence.
fn without_repetition<'de, D, V>(deserializer: D) -> Result<BTreeMap<CallId, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    struct ByCall<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for ByCall<V> {
        type Value = BTreeMap<CallId, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object with one entry for each call id")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = BTreeMap::new();
            while let Some((id, value)) = map.next_entry::<CallId, V>()? {
                if entries.contains_key(&id) {
                    return Err(A::Error::custom(format_args!("two entries for the call `{id}`")));
                }
                entries.insert(id, value);
            }
            Ok(entries)
        }
    }

    deserializer.deserialize_map(ByCall(PhantomData))
}
