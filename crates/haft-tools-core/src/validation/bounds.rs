use crate::input::pointer_step;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The most levels of arrays and objects that a schema or arguments may have: as many as `serde_json` reads of a text.
const MOST_LEVELS: usize = 128;

/// The most schemas that may hand one value on to each other, one after the other.
const MOST_CHAINED: usize = 100;

/// The most times that schemas may be met on all the ways one value takes from a schema on.
///
/// The check walks every one of these ways, so a few dozen schemas that each hand their value on to the next one twice would
/// keep it busy for ever with an empty object. The largest choices of real APIs have some hundreds of them.
const MOST_MET: u64 = 10_000;

/// The most schemas that may be on the stack while arguments are checked.
///
/// The check calls itself for every level of the arguments and, at each of them, for every schema that hands the same
/// value on to another one, and so does whatever reads its errors. A stack of 2 MiB, which is what a thread of tokio has,
/// holds more than twice as many of the frames of a build without optimisation, measured with `jsonschema` 0.60.
const MOST_FRAMES: usize = 600;

/// Keywords that hand the same value on to one other schema.
const ONE: [&str; 4] = ["not", "if", "then", "else"];

/// Keywords that hand the same value on to several other schemas.
const SEVERAL: [&str; 5] = ["allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"];

/// Keywords that hand the same value on to a schema which stands elsewhere.
pub(super) const REFERENCE: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Says how many schemas may hand one value on to each other, one after the other.
///
/// Gives the reason where a schema would need more stack, or more time for one value, than there is: a server could end the
/// process with it, or stop it for good.
pub(super) fn longest_chain(schema: &Value) -> Result<usize, String> {
    if weigh(schema, MOST_LEVELS, usize::MAX).is_err() {
        return Err(format!("it is nested more than {MOST_LEVELS} levels deep"));
    }
    let mut chains = Chains { root: schema, known: HashMap::new() };
    match chains.longest_within(schema, true) {
        Ok(longest) => Ok(longest),
        // No chain is longer than all its links together, and there are no more ways than all its forks make.
        Err(Untold::Unfollowed) => match count(schema) {
            Links { count, ways }
                if count <= MOST_CHAINED && ways.saturating_mul(count as u64) <= MOST_MET =>
            {
                Ok(count)
            }
            Links { count: count @ ..=MOST_CHAINED, .. } => Err(format!(
                "it combines or refers to other schemas {count} times, most of them with several at once, and not all of its \
                 references can be followed"
            )),
            Links { count, .. } => Err(format!(
                "it combines or refers to other schemas {count} times, and not all of its references can be followed; \
                 {MOST_CHAINED} are the most then"
            )),
        },
        Err(Untold::TooLong) => {
            Err(format!("more than {MOST_CHAINED} of its schemas refer to each other, one after the other"))
        }
        Err(Untold::TooMany(place)) => {
            let place = pointer_to(schema, place).unwrap_or_default();
            Err(format!(
                "at `{place}`: it combines or refers to other schemas that do so again, which comes to more than {MOST_MET} \
                 schemas for one value; let them refer to each other less often"
            ))
        }
    }
}

/// Says why arguments are not checked at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unfit {
    TooDeep,
    TooLarge,
}

/// Tells whether arguments can be checked against a schema with such a chain without running out of stack, and have at
/// most so many bytes: those of texts and names, and one for everything else.
pub(super) fn check_bounds(input: &Value, longest_chain: usize, most_bytes: usize) -> Result<(), Unfit> {
    weigh(input, MOST_LEVELS.min(MOST_FRAMES / (longest_chain + 1)), most_bytes).map(drop)
}

/// Tells whether a value has at most so many levels of arrays and objects, and so many bytes.
pub(crate) fn is_within(value: &Value, levels: usize, most_bytes: usize) -> bool {
    weigh(value, levels, most_bytes).is_ok()
}

/// Takes the bytes of a value off those that are left.
#[inline]
pub(super) fn weigh(value: &Value, levels: usize, left: usize) -> Result<usize, Unfit> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => take(left, 1),
        Value::String(text) => take(left, text.len()),
        Value::Array(_) | Value::Object(_) => weigh_inside(value, levels, left),
    }
}

/// Weighs a value that may hold others. It is a function of its own so that those which hold none cost no call.
fn weigh_inside(value: &Value, levels: usize, left: usize) -> Result<usize, Unfit> {
    let inside = levels.checked_sub(1).ok_or(Unfit::TooDeep)?;
    let mut left = take(left, 1)?;
    match value {
        Value::Array(items) => {
            for item in items {
                left = weigh(item, inside, left)?;
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                left = weigh(member, inside, take(left, name.len())?)?;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    Ok(left)
}

fn take(left: usize, bytes: usize) -> Result<usize, Unfit> {
    left.checked_sub(bytes).ok_or(Unfit::TooLarge)
}

/// Is what is known of the links of a schema that cannot all be followed.
struct Links {
    count: usize,
    /// The most ways that a value can take, if every fork is met on each of them.
    ways: u64,
}

fn count(schema: &Value) -> Links {
    let together = |all: Links, more: Links| Links {
        count: all.count + more.count,
        ways: all.ways.saturating_mul(more.ways),
    };
    let none = Links { count: 0, ways: 1 };
    match schema {
        Value::Array(items) => items.iter().map(count).fold(none, together),
        Value::Object(members) => {
            let inside = members.values().map(count).fold(none, together);
            let references = REFERENCE.iter().filter(|keyword| members.contains_key(**keyword)).count();
            let leads_on = |next: &&Value| next.as_object().is_some_and(is_linked);
            let fork = references + neighbours(members).filter(leads_on).count();
            let own = Links { count: references + neighbours(members).count(), ways: (fork as u64).max(1) };
            together(inside, own)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => none,
    }
}

/// Tells whether a schema hands its value on.
fn is_linked(members: &Map<String, Value>) -> bool {
    REFERENCE.iter().any(|keyword| members.contains_key(*keyword)) || neighbours(members).next().is_some()
}

/// Finds the place of a value within another one.
fn pointer_to(within: &Value, wanted: *const Value) -> Option<String> {
    if std::ptr::eq(within, wanted) {
        return Some(String::new());
    }
    let below = |step: &str, value: &Value| Some(format!("/{step}{}", pointer_to(value, wanted)?));
    match within {
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| below(&index.to_string(), item))
        }
        Value::Object(members) => {
            members.iter().find_map(|(name, member)| below(&pointer_step(name), member))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Lists the schemas within this one to which it hands its value on.
pub(super) fn neighbours(members: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let one = ONE.iter().filter_map(|keyword| members.get(*keyword));
    let several = SEVERAL.iter().filter_map(|keyword| members.get(*keyword)).flat_map(|schemas| {
        let (items, named) = (schemas.as_array(), schemas.as_object());
        items.into_iter().flatten().chain(named.into_iter().flat_map(Map::values))
    });
    one.chain(several)
}

/// Finds the longest chains of a schema, each once.
struct Chains<'a> {
    root: &'a Value,
    /// What is reached from a place of the schema on; `None` while it is looked for.
    known: HashMap<*const Value, Option<Reach>>,
}

/// Is what one value is handed on to from a schema.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// How many other schemas, one after the other.
    longest: usize,
    /// How often schemas are met on all ways, this one included.
    met: u64,
}

/// Says why the longest chain cannot be told.
enum Untold {
    /// A reference leads out of the schema, or back to where it came from.
    Unfollowed,
    TooLong,
    /// From this schema on.
    TooMany(*const Value),
}

impl<'a> Chains<'a> {
    /// The longest chain from any place within a schema.
    fn longest_within(&mut self, schema: &'a Value, is_root: bool) -> Result<usize, Untold> {
        match schema {
            Value::Array(items) => {
                items.iter().try_fold(0, |most, item| Ok(self.longest_within(item, false)?.max(most)))
            }
            Value::Object(members) => {
                // Below an identifier of its own, references start from there and no longer from the root.
                if !is_root && ["$id", "id"].iter().any(|id| members.get(*id).is_some_and(Value::is_string)) {
                    return Err(Untold::Unfollowed);
                }
                let own = self.reach_from(schema, 0)?.longest;
                members
                    .values()
                    .try_fold(own, |most, member| Ok(self.longest_within(member, false)?.max(most)))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(0),
        }
    }

    /// What is reached from a schema that has so many before it.
    fn reach_from(&mut self, schema: &'a Value, before: usize) -> Result<Reach, Untold> {
        let mut reach = Reach { longest: 0, met: 1 };
        let Value::Object(members) = schema else { return Ok(reach) };
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(known)) if before + known.longest > MOST_CHAINED => return Err(Untold::TooLong),
            Some(Some(known)) => return Ok(*known),
            Some(None) => return Err(Untold::Unfollowed),
            None if before > MOST_CHAINED => return Err(Untold::TooLong),
            None => {}
        }
        self.known.insert(schema, None);
        for next in neighbours(members) {
            reach.take(self.reach_from(next, before + 1)?);
        }
        for reference in REFERENCE.iter().filter_map(|keyword| members.get(*keyword)) {
            let pointer = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
            let target = pointer.and_then(|pointer| self.root.pointer(pointer)).ok_or(Untold::Unfollowed)?;
            reach.take(self.reach_from(target, before + 1)?);
        }
        if reach.met > MOST_MET {
            return Err(Untold::TooMany(schema));
        }
        self.known.insert(schema, Some(reach));
        Ok(reach)
    }
}

impl Reach {
    fn take(&mut self, next: Self) {
        self.longest = self.longest.max(1 + next.longest);
        self.met = self.met.saturating_add(next.met);
    }
}
