use super::place::Pointed;
use super::{Described, Notes, Source, is_reserved, swagger};
use crate::OpenApiProblem;
use crate::document::{Inner, Version};
use crate::plan::{Media, Parameter, Place, Style};
use std::borrow::Cow;
use std::collections::HashMap;

/// The most parameters of an operation, or of a path.
const MOST: usize = 1_000;

/// The most bytes of the name of a parameter, which is repeated for every item of a list.
const MOST_NAME_BYTES: usize = 1_000;

/// Reads the parameters of an operation: those of its path, unless it has its own of the same name and place.
pub(super) fn parameters<'d>(
    document: &'d Inner,
    item: &Pointed<'d>,
    operation: &Pointed<'d>,
    notes: &mut Notes,
) -> Result<Vec<(Parameter, Described<'d>)>, OpenApiProblem> {
    let mut found: Vec<(Parameter, Described<'d>)> = Vec::new();
    // Where each of them is, and whether the operation has said it itself.
    let mut known: HashMap<(Place, String), (usize, bool)> = HashMap::new();
    for (owner, is_own) in [(item, false), (operation, true)] {
        let Some(list) = owner.member("parameters") else { continue };
        if !list.value().is_array() && !list.value().is_null() {
            notes.push(|| list.note("the parameters are not a list; they are passed over"));
        }
        if list.value().as_array().is_some_and(|list| list.len() > MOST) {
            return Err(list.skipped(format!("there are more than {MOST} parameters")));
        }
        for stated in list.items() {
            notes.step();
            let Some(parameter) = parameter(document, operation, &stated, notes)? else { continue };
            let name = match parameter.0.place {
                Place::Header => parameter.0.name.to_ascii_lowercase(),
                _ => parameter.0.name.clone(),
            };
            match known.entry((parameter.0.place, name)) {
                std::collections::hash_map::Entry::Vacant(entry) => {
                    entry.insert((found.len(), is_own));
                    found.push(parameter);
                }
                std::collections::hash_map::Entry::Occupied(mut entry) if entry.get().1 != is_own => {
                    entry.get_mut().1 = is_own;
                    found[entry.get().0] = parameter;
                }
                std::collections::hash_map::Entry::Occupied(_) => {
                    notes.push(|| stated.note("the parameter is listed before; the first one counts"));
                }
            }
        }
    }
    Ok(found)
}

/// Reads one parameter; `None` where it is no argument.
fn parameter<'d>(
    document: &'d Inner,
    operation: &Pointed<'d>,
    stated: &Pointed<'d>,
    notes: &mut Notes,
) -> Result<Option<(Parameter, Described<'d>)>, OpenApiProblem> {
    let parameter = stated.followed()?;
    if !parameter.value().is_object() {
        return Err(parameter.skipped("a parameter must be an object"));
    }
    let is_required = parameter.is("required");
    let place = parameter.text("in");
    if document.version == Version::Swagger2 && matches!(place, Some("body" | "formData")) {
        return Ok(None);
    }
    let unusable = |why: &str, notes: &mut Notes| {
        if is_required {
            return Err(parameter.skipped(format!("a required parameter {why}")));
        }
        notes.push(|| parameter.note(format!("a parameter {why}; it is left out")));
        Ok(None)
    };
    let Some(place) = place.and_then(Place::parse) else {
        return unusable("does not say clearly where it belongs", notes);
    };
    let Some(name) = parameter.text("name").filter(|name| !name.is_empty()) else {
        return unusable("has no name", notes);
    };
    if is_reserved(place, name) {
        return Ok(None);
    }
    if name.len() > MOST_NAME_BYTES {
        return unusable("has a name that is too long", notes);
    }
    if document.secrets.has_key_at(&Pointed::root(document), operation, place, name) {
        notes.push(|| parameter.note(format!("the client sends a key as `{name}`; it is not an argument")));
        return Ok(None);
    }
    let is_token = || http::HeaderName::from_bytes(name.as_bytes()).is_ok();
    if matches!(place, Place::Header | Place::Cookie) && !is_token() {
        return unusable("has a name that no header can have", notes);
    }
    let media = media(&parameter)?;
    let (style, explode) = match document.version {
        Version::Swagger2 => swagger::style(&parameter, place),
        Version::V30 | Version::V31 => style(&parameter, place, notes),
    };
    let schema = match (&media, document.version) {
        (Some((_, schema)), _) => schema.clone(),
        (None, Version::Swagger2) => Some(swagger::inline_schema(&parameter)),
        (None, Version::V30 | Version::V31) => parameter.member("schema").map(|schema| Source::at(schema.at)),
    };
    let description = parameter.text("description").map(Cow::Borrowed);
    let described = Described { schema, description, deprecated: parameter.is("deprecated") };
    let parameter = Parameter {
        key: String::new(),
        name: name.to_owned(),
        place,
        style,
        explode,
        allow_reserved: parameter.is("allowReserved"),
        required: is_required || place == Place::Path,
        media: media.map(|(media, _)| media),
    };
    Ok(Some((parameter, described)))
}

/// Reads how a parameter of OpenAPI 3 is written.
fn style(parameter: &Pointed<'_>, place: Place, notes: &mut Notes) -> (Style, bool) {
    let usual = Style::usual(place);
    let word = parameter.get("style");
    let said =
        word.and_then(serde_json::Value::as_str).and_then(Style::parse).filter(|style| style.fits(place));
    if word.is_some() && said.is_none() {
        notes.push(|| {
            parameter.note(format!("no {} parameter has that style; the usual one is used", place.word()))
        });
    }
    let style = said.unwrap_or(usual);
    let explode = match parameter.get("explode") {
        Some(word) => super::place::is_true(word),
        None => matches!(style, Style::Form | Style::Cookie),
    };
    (style, explode)
}

/// Reads the media type of a parameter that has one, and its schema.
fn media<'d>(parameter: &Pointed<'d>) -> Result<Option<(Media, Option<Source<'d>>)>, OpenApiProblem> {
    let Some(content) = parameter.member("content") else { return Ok(None) };
    let Some((content_type, media)) = content.members().next() else { return Ok(None) };
    let media = media.followed()?;
    let schema = media.member("schema").map(|schema| Source::at(schema.at));
    Ok(Some((Media::of(content_type).unwrap_or(Media::Text), schema)))
}
