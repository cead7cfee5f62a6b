use super::ValidInput;
use haft_core::Repair;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, JsonTypeSet, ValidationError, Validator};
use serde_json::{Value, json};

/// How many rounds of mending are tried: one for each level at which JSON was encoded as a string again, and one more.
const MOST_ROUNDS: usize = 4;

/// With more violations than this the arguments are not a slip that could be mended.
const MOST_VIOLATIONS: usize = 32;

/// The most bytes of a value that a repair quotes.
const MOST_QUOTED: usize = 200;

/// Changes one place of the arguments; `None` removes it.
struct Fix {
    pointer: String,
    to: Option<Value>,
    note: &'static str,
}

/// Mends arguments where the schema's own violations say how, and only if the whole then fits.
pub(super) fn repair(validator: &Validator, input: &Value) -> Option<ValidInput> {
    let mut value = input.clone();
    let mut repairs = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let places = places_to_mend(validator, &value)?;
        let mut mended = false;
        for (pointer, wanted) in places {
            // A fix of this round may have taken the place away.
            let Some(found) = value.pointer(&pointer) else { continue };
            let fixes = fixes(&pointer, found, wanted);
            if let Some(fix) = best(validator, &value, fixes) {
                let from = abridged(found);
                repairs.push(Repair::new(pointer, from, fix.to.as_ref().map(abridged), fix.note));
                apply(&mut value, fix);
                mended = true;
            }
        }
        if validator.is_valid(&value) {
            return Some(ValidInput { value, repairs });
        }
        if !mended {
            return None;
        }
    }
    None
}

/// Lists each place whose type is wrong, with the types that would be right; `None` where there are too many.
fn places_to_mend(validator: &Validator, value: &Value) -> Option<Vec<(String, JsonTypeSet)>> {
    let mut places: Vec<(String, JsonTypeSet)> = Vec::new();
    for error in validator.iter_errors(value) {
        collect(&error, &mut places);
        if places.len() > MOST_VIOLATIONS {
            return None;
        }
    }
    Some(places)
}

fn collect(error: &ValidationError<'_>, places: &mut Vec<(String, JsonTypeSet)>) {
    let pointer = error.instance_path().as_str();
    let mut add = |types: JsonTypeSet| match places.iter_mut().find(|(known, _)| known == pointer) {
        Some((_, known)) => *known = types.iter().fold(*known, JsonTypeSet::insert),
        None => places.push((pointer.to_owned(), types)),
    };
    match error.kind() {
        ValidationErrorKind::Type { kind: TypeKind::Single(wanted) } => {
            add(JsonTypeSet::empty().insert(*wanted));
        }
        ValidationErrorKind::Type { kind: TypeKind::Multiple(wanted) } => add(*wanted),
        ValidationErrorKind::AnyOf { context }
        | ValidationErrorKind::OneOfNotValid { context }
        | ValidationErrorKind::OneOfMultipleValid { context } => {
            for error in context.iter().flatten() {
                collect(error, places);
            }
        }
        // A null where an enumeration is due stands for an absent property, too.
        _ if error.instance().is_null() => add(JsonTypeSet::empty()),
        _ => {}
    }
}

/// Lists the ways to make a value be of one of the types, the likeliest first.
fn fixes(pointer: &str, found: &Value, wanted: JsonTypeSet) -> Vec<Fix> {
    let fix = |to, note| Fix { pointer: pointer.to_owned(), to, note };
    let mut fixes = Vec::new();
    match found {
        Value::Null if pointer.is_empty() => fixes.push(fix(Some(json!({})), "took null as no arguments")),
        Value::Null => fixes.push(fix(None, "took null as absent")),
        Value::String(text) => {
            if let Ok(decoded) = serde_json::from_str::<Value>(text.trim())
                && is_one_of(&decoded, wanted)
            {
                let note = match decoded {
                    Value::Array(_) | Value::Object(_) => "decoded JSON that was sent as a string",
                    _ => "took a string as the value it spells",
                };
                fixes.push(fix(Some(decoded), note));
            }
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {}
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

/// Chooses the first fix after which nothing is wrong at its place, or else the first at all: what is wrong inside may
/// be mended in the next round.
fn best(validator: &Validator, value: &Value, mut fixes: Vec<Fix>) -> Option<Fix> {
    if fixes.len() < 2 {
        return fixes.pop();
    }
    let clean = fixes.iter().position(|fix| {
        let mut tried = value.clone();
        apply(&mut tried, Fix { pointer: fix.pointer.clone(), to: fix.to.clone(), note: fix.note });
        !validator.iter_errors(&tried).any(|error| error.instance_path().as_str().starts_with(&fix.pointer))
    });
    Some(fixes.swap_remove(clean.unwrap_or(0)))
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

/// Cuts a value to what is worth quoting.
fn abridged(value: &Value) -> Value {
    let text = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => return value.clone(),
        Value::String(text) if text.len() <= MOST_QUOTED => return value.clone(),
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.len() <= MOST_QUOTED {
                return value.clone();
            }
            text
        }
    };
    Value::String(format!("{}…", &text[..text.floor_char_boundary(MOST_QUOTED)]))
}
