use super::percent::{Kept, encoded, literal};
use super::{given, pointer, scalar};
use crate::EncodeError;
use crate::lower::{is_dots, is_same};
use crate::plan::{Parameter, Piece, Place, Plan, Style};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// How often a name is repeated in a path, one for each item of a list; longer ones are written with commas.
const MOST_REPEATED: usize = 10_000;

/// Writes the path. It has as many segments as the document says, and none of them leads up.
pub(super) fn path(plan: &Plan, arguments: &Map<String, Value>) -> Result<String, EncodeError> {
    let mut path = String::with_capacity(64);
    if !matches!(plan.path.path.first(), Some(Piece::Text(text)) if text.starts_with('/')) {
        path.push('/');
    }
    // The arguments of the segment that is being written, of which the last is to blame if it is none.
    let mut last: Option<&Parameter> = None;
    for piece in &plan.path.path {
        match piece {
            Piece::Text(text) => {
                let text = literal(text);
                let (end, rest) = match text.split_once('/') {
                    Some((end, rest)) => (end, Some(rest)),
                    None => (text.as_ref(), None),
                };
                path.push_str(end);
                if let Some(rest) = rest {
                    check_segment(&path, last.take())?;
                    path.push('/');
                    path.push_str(rest);
                }
            }
            Piece::Parameter(name) => {
                let Some((parameter, value)) = of_path(plan, name, arguments)? else { continue };
                path.push_str(&segment(parameter, value));
                last = Some(parameter);
            }
        }
    }
    check_segment(&path, last)?;
    Ok(path)
}

/// Writes what the path says behind a `?`.
pub(super) fn query(plan: &Plan, arguments: &Map<String, Value>) -> Result<String, EncodeError> {
    let mut query = String::new();
    for piece in &plan.path.query {
        match piece {
            Piece::Text(text) => query.push_str(&literal(text)),
            Piece::Parameter(name) => {
                if let Some((_, value)) = of_path(plan, name, arguments)? {
                    query.push_str(&scalar::simple(value, false, Kept::Nothing));
                }
            }
        }
    }
    Ok(query)
}

fn of_path<'a>(
    plan: &'a Plan,
    name: &str,
    arguments: &'a Map<String, Value>,
) -> Result<Option<(&'a Parameter, &'a Value)>, EncodeError> {
    let mut parameters = plan.parameters.iter().filter(|parameter| parameter.place == Place::Path);
    let Some(parameter) = parameters.find(|parameter| is_same(name, &parameter.name)) else {
        return Ok(None);
    };
    Ok(given(parameter, arguments)?.map(|value| (parameter, value)))
}

fn segment<'a>(parameter: &Parameter, value: &'a Value) -> Cow<'a, str> {
    let kept = Kept::Nothing;
    if let Some(media) = parameter.media {
        return Cow::Owned(encoded(&scalar::written(media, value), kept).into_owned());
    }
    let name = encoded(&parameter.name, Kept::Nothing);
    match (parameter.style, value) {
        (Style::Label, Value::Array(items)) => {
            Cow::Owned(format!(".{}", scalar::list(items, if parameter.explode { "." } else { "," }, kept)))
        }
        (Style::Label, Value::Object(members)) if parameter.explode => {
            Cow::Owned(format!(".{}", scalar::pairs(members, "=", ".", kept)))
        }
        (Style::Label, value) => Cow::Owned(format!(".{}", scalar::simple(value, false, kept))),
        (Style::Matrix, Value::Array(items)) if parameter.explode && items.len() <= MOST_REPEATED => {
            Cow::Owned(format!(";{name}={}", scalar::list(items, &format!(";{name}="), kept)))
        }
        (Style::Matrix, Value::Object(members)) if parameter.explode => {
            Cow::Owned(format!(";{}", scalar::pairs(members, "=", ";", kept)))
        }
        (Style::Matrix, value) => Cow::Owned(format!(";{name}={}", scalar::simple(value, false, kept))),
        // Only Swagger 2.0 has other separators in paths.
        (style, Value::Array(items)) => Cow::Owned(scalar::list(items, style.between(), kept)),
        (_, value) => scalar::simple(value, parameter.explode, kept),
    }
}

/// Refuses an argument that would make its segment empty, or one that leads elsewhere.
fn check_segment(path: &str, last: Option<&Parameter>) -> Result<(), EncodeError> {
    let Some(parameter) = last else { return Ok(()) };
    let segment = path.rsplit('/').next().unwrap_or_default();
    // What the document itself encodes may be a dot, too.
    if segment.is_empty() || is_dots(segment) {
        let message = "it stands for a part of the path and cannot be empty, `.` or `..`";
        return Err(EncodeError::argument(pointer(&parameter.key), message));
    }
    Ok(())
}
