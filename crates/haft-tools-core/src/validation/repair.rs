use super::{Mended, bounds};
use haft_core::Repair;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, JsonTypeSet, ValidationError, Validator};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// How many rounds of mending are tried: one for each level at which JSON was encoded as a string again, and one more.
const MOST_ROUNDS: usize = 4;

/// With more slips in one round than this the arguments are not meant for the tool.
///
/// A null that stands for an absent property is none: where a provider has every property be required, there is one for
/// each that was optional.
const MOST_SLIPS: usize = 32;

/// The most places that one round looks at, which is also the most nulls it takes away.
const MOST_PLACES: usize = 4096;

/// The most bytes that the pointers to these places have together.
const MOST_POINTER_BYTES: usize = 256 * 1024;

/// Changes one place of the arguments; `None` removes it.
struct Fix {
    pointer: String,
    to: Option<Value>,
    note: &'static str,
}

/// Mends arguments where the schema's own violations say how, and only if the whole then fits.
pub(super) fn repair(validator: &Validator, longest_chain: usize, input: &Value) -> Option<Mended> {
    let mut value = input.clone();
    let mut repairs = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let places = places_to_mend(validator, &value)?;
        let (mut mended, mut slips) = (false, 0);
        for (pointer, wanted) in places {
            // A fix of this round may have taken the place away.
            let Some(found) = value.pointer(&pointer) else { continue };
            let is_member = matches!(parent(&value, &pointer), Some(Value::Object(_)));
            let fixes = fixes(&pointer, found, is_member, wanted);
            slips += usize::from(fixes.iter().any(|fix| fix.to.is_some()));
            if slips > MOST_SLIPS {
                return None;
            }
            if let Some(fix) = best(validator, &value, fixes) {
                // Told whole: what is cut before secrets are replaced could tell the beginning of one.
                repairs.push(Repair::new(pointer, found.clone(), fix.to.clone(), fix.note));
                apply(&mut value, fix);
                mended = true;
            }
        }
        if !mended || bounds::check_bounds(&value, longest_chain, usize::MAX).is_err() {
            return None;
        }
        if validator.is_valid(&value) {
            return Some(Mended { value, repairs });
        }
    }
    None
}

/// Lists each place whose type is wrong, with the types that would be right; `None` where there are too many.
fn places_to_mend(validator: &Validator, value: &Value) -> Option<Vec<(String, JsonTypeSet)>> {
    let mut places = Places::default();
    validator.iter_errors(value).all(|error| places.collect(&error)).then_some(places.listed)
}

/// Gathers the places to mend, in the order in which they are found.
#[derive(Default)]
struct Places {
    listed: Vec<(String, JsonTypeSet)>,
    /// Where in the list each of them stands.
    known: HashMap<String, usize>,
    bytes: usize,
}

impl Places {
    /// Adds the places that an error speaks of; `false` where there are too many.
    fn collect(&mut self, error: &ValidationError<'_>) -> bool {
        match error.kind() {
            ValidationErrorKind::Type { kind: TypeKind::Single(wanted) } => {
                self.add(error, JsonTypeSet::empty().insert(*wanted))
            }
            ValidationErrorKind::Type { kind: TypeKind::Multiple(wanted) } => self.add(error, *wanted),
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                context
                    .iter()
                    .filter(|errors| can_be_mended(errors))
                    .flatten()
                    .all(|error| self.collect(error))
            }
            // A null where an enumeration is due stands for an absent property, too.
            _ if error.instance().is_null() => self.add(error, JsonTypeSet::empty()),
            _ => true,
        }
    }

    fn add(&mut self, error: &ValidationError<'_>, types: JsonTypeSet) -> bool {
        let pointer = error.instance_path().as_str();
        if let Some(at) = self.known.get(pointer) {
            let (_, known) = &mut self.listed[*at];
            *known = types.iter().fold(*known, JsonTypeSet::insert);
            return true;
        }
        self.bytes += pointer.len();
        self.known.insert(pointer.to_owned(), self.listed.len());
        self.listed.push((pointer.to_owned(), types));
        self.listed.len() <= MOST_PLACES && self.bytes <= MOST_POINTER_BYTES
    }
}

/// Tells whether everything that keeps an alternative from fitting is a matter of types.
///
/// The violations of an alternative that was not meant say nothing about what is wrong with the one that was.
fn can_be_mended(errors: &[ValidationError<'_>]) -> bool {
    let is_of_type = |error: &&ValidationError<'_>| matches!(error.kind(), ValidationErrorKind::Type { .. });
    let of_type: HashSet<&str> =
        errors.iter().filter(is_of_type).map(|error| error.instance_path().as_str()).collect();
    errors.iter().all(|error| match error.kind() {
        ValidationErrorKind::Type { .. } => true,
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            context.iter().any(|errors| can_be_mended(errors))
        }
        // A value of another type can have another value, and a null can be absent.
        _ => error.instance().is_null() || of_type.contains(error.instance_path().as_str()),
    })
}

/// Lists the ways to make a value be of one of the types, the likeliest first.
fn fixes(pointer: &str, found: &Value, is_member: bool, wanted: JsonTypeSet) -> Vec<Fix> {
    let fix = |to, note| Fix { pointer: pointer.to_owned(), to, note };
    let mut fixes = Vec::new();
    match found {
        Value::Null if pointer.is_empty() => fixes.push(fix(Some(json!({})), "took null as no arguments")),
        Value::String(text) if pointer.is_empty() && text.trim().is_empty() => {
            fixes.push(fix(Some(json!({})), "took an empty text as no arguments"));
        }
        Value::Null if is_member => fixes.push(fix(None, "took null as absent")),
        Value::String(text) => {
            if let Ok(decoded) = serde_json::from_str::<Value>(text.trim())
                && is_one_of(&decoded, wanted)
                && !has_lost_digits(&decoded, text)
            {
                let note = match decoded {
                    Value::Array(_) | Value::Object(_) => "decoded JSON that was sent as a string",
                    _ => "took a string as the value it spells",
                };
                fixes.push(fix(Some(decoded), note));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {}
    }
    if wanted.contains(JsonType::Array)
        && !matches!(found, Value::Null | Value::Array(_))
        && !pointer.is_empty()
    {
        fixes.push(fix(Some(json!([found])), "took a single value as a list of one"));
    }
    fixes
}

fn is_one_of(value: &Value, wanted: JsonTypeSet) -> bool {
    let integer = matches!(value, Value::Number(number) if !number.is_f64());
    wanted.contains(JsonType::from(value))
        || (integer && (wanted.contains(JsonType::Integer) || wanted.contains(JsonType::Number)))
}

/// Tells whether a text that spells a whole number spells one that is too large to be held exactly.
fn has_lost_digits(decoded: &Value, text: &str) -> bool {
    decoded.is_f64() && !text.contains(['.', 'e', 'E'])
}

/// Chooses the first fix after which nothing is wrong at its place, or else the first at all: what is wrong inside may
/// be mended in the next round.
fn best(validator: &Validator, value: &Value, mut fixes: Vec<Fix>) -> Option<Fix> {
    if fixes.len() < 2 {
        return fixes.pop();
    }
    let clean = fixes.iter().position(|fix| {
        let mut tried = value.clone();
        apply(&mut tried, Fix { pointer: fix.pointer.clone(), to: fix.to.clone(), note: fix.note });
        !validator.iter_errors(&tried).any(|error| is_within(error.instance_path().as_str(), &fix.pointer))
    });
    Some(fixes.swap_remove(clean.unwrap_or(0)))
}

/// Tells whether a place is another one or lies below it.
fn is_within(place: &str, other: &str) -> bool {
    place.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn parent<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    value.pointer(pointer.rsplit_once('/')?.0)
}

fn apply(value: &mut Value, fix: Fix) {
    if let Some(to) = fix.to {
        if let Some(place) = value.pointer_mut(&fix.pointer) {
            *place = to;
        }
    } else if let Some((parent, key)) = fix.pointer.rsplit_once('/')
        && let Some(Value::Object(members)) = value.pointer_mut(parent)
    {
        members.remove(&key.replace("~1", "/").replace("~0", "~"));
    }
}
