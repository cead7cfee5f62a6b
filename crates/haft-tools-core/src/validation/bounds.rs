use serde_json::{Map, Value};
use std::collections::HashMap;

/// The most levels of arrays and objects that a schema or arguments may have: as many as `serde_json` reads of a text.
const MOST_LEVELS: usize = 128;

/// The most schemas that may hand one value on to each other, one after the other.
const MOST_CHAINED: usize = 100;

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
/// Gives the reason where a schema would need more stack than there is: a server could end the process with it.
pub(super) fn longest_chain(schema: &Value) -> Result<usize, String> {
    if weigh(schema, MOST_LEVELS, usize::MAX).is_err() {
        return Err(format!("it is nested more than {MOST_LEVELS} levels deep"));
    }
    let mut chains = Chains { root: schema, known: HashMap::new() };
    match chains.longest_within(schema, true) {
        Ok(longest) => Ok(longest),
        // No chain is longer than all its links together.
        Err(Untold::Unfollowed) => match count(schema) {
            count @ ..=MOST_CHAINED => Ok(count),
            count => Err(format!(
                "it combines or refers to other schemas {count} times, and not all of its references can be followed; \
                 {MOST_CHAINED} are the most then"
            )),
        },
        Err(Untold::TooLong) => {
            Err(format!("more than {MOST_CHAINED} of its schemas refer to each other, one after the other"))
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

/// Takes the bytes of a value off those that are left.
fn weigh(value: &Value, levels: usize, left: usize) -> Result<usize, Unfit> {
    let take = |left: usize, bytes: usize| left.checked_sub(bytes).ok_or(Unfit::TooLarge);
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => take(left, 1),
        Value::String(text) => take(left, text.len()),
        Value::Array(_) | Value::Object(_) if levels == 0 => Err(Unfit::TooDeep),
        Value::Array(items) => {
            items.iter().try_fold(take(left, 1)?, |left, item| weigh(item, levels - 1, left))
        }
        Value::Object(members) => members.iter().try_fold(take(left, 1)?, |left, (name, member)| {
            weigh(member, levels - 1, take(left, name.len())?)
        }),
    }
}

fn count(schema: &Value) -> usize {
    match schema {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => {
            let inside: usize = members.values().map(count).sum();
            let references = REFERENCE.iter().filter(|keyword| members.contains_key(**keyword)).count();
            inside + references + neighbours(members).count()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
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
    /// The longest chain from a place of the schema on; `None` while it is looked for.
    known: HashMap<*const Value, Option<usize>>,
}

/// Says why the longest chain cannot be told.
enum Untold {
    /// A reference leads out of the schema, or back to where it came from.
    Unfollowed,
    TooLong,
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
                let own = self.longest_from(schema, 0)?;
                members
                    .values()
                    .try_fold(own, |most, member| Ok(self.longest_within(member, false)?.max(most)))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(0),
        }
    }

    /// The longest chain that starts at a schema which has so many before it.
    fn longest_from(&mut self, schema: &'a Value, before: usize) -> Result<usize, Untold> {
        let Value::Object(members) = schema else { return Ok(0) };
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(longest)) if before + longest > MOST_CHAINED => return Err(Untold::TooLong),
            Some(Some(longest)) => return Ok(*longest),
            Some(None) => return Err(Untold::Unfollowed),
            None if before > MOST_CHAINED => return Err(Untold::TooLong),
            None => {}
        }
        self.known.insert(schema, None);
        let mut longest = 0;
        for next in neighbours(members) {
            longest = longest.max(1 + self.longest_from(next, before + 1)?);
        }
        for reference in REFERENCE.iter().filter_map(|keyword| members.get(*keyword)) {
            let pointer = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
            let target = pointer.and_then(|pointer| self.root.pointer(pointer)).ok_or(Untold::Unfollowed)?;
            longest = longest.max(1 + self.longest_from(target, before + 1)?);
        }
        self.known.insert(schema, Some(longest));
        Ok(longest)
    }
}
