//! Reads one operation out of a document.

mod body;
mod notes;
mod parameter;
mod place;
mod responses;
mod server;
mod swagger;
mod template;

pub(crate) use notes::Notes;
pub(crate) use place::Pointed;
pub(crate) use server::Servers;

use crate::document::{Entry, Inner, Version};
use crate::plan::{Body, Parameter, Place, Plan, Shape};
use crate::store::At;
use crate::{OpenApiProblem, names};
pub(crate) use template::{is_dots, is_same};

use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// Is an operation with everything that schemas are made of.
#[derive(Debug)]
pub(crate) struct Lowered<'d> {
    pub(crate) plan: Plan,
    /// One for each parameter of the plan.
    pub(crate) parameters: Vec<Described<'d>>,
    pub(crate) body: Option<Described<'d>>,
    /// What a good reply holds, if it is JSON.
    pub(crate) reply: Option<Source<'d>>,
}

/// Is what a document says of an argument.
#[derive(Debug, Clone, Default)]
pub(crate) struct Described<'d> {
    pub(crate) schema: Option<Source<'d>>,
    pub(crate) description: Option<Cow<'d, str>>,
    pub(crate) deprecated: bool,
}

/// Is a schema and the file that its references are resolved in.
#[derive(Debug, Clone)]
pub(crate) struct Source<'d> {
    pub(crate) value: Cow<'d, Value>,
    pub(crate) file: usize,
}

/// Finds the operation of an entry again, and the path it belongs to.
pub(crate) fn find<'d>(
    document: &'d Inner,
    entry: &Entry,
) -> Result<(Pointed<'d>, Pointed<'d>), OpenApiProblem> {
    let root = Pointed::root(document);
    let paths = root.member(entry.paths).ok_or_else(|| OpenApiProblem::skipped("/paths", "it is gone"))?;
    let stated = paths.member(&entry.path).ok_or_else(|| OpenApiProblem::skipped("/paths", "it is gone"))?;
    let item = stated.followed()?;
    let operation = match item.member(&entry.member) {
        Some(operation) => operation,
        None => item
            .member("additionalOperations")
            .and_then(|more| more.member(&entry.member))
            .ok_or_else(|| OpenApiProblem::skipped("/paths", "it is gone"))?,
    };
    Ok((item, operation))
}

/// Reads an operation of which everything was said before.
pub(crate) fn lower<'d>(document: &'d Inner, entry: &Entry) -> Result<Lowered<'d>, OpenApiProblem> {
    lower_noting(document, entry, &mut Notes::default())
}

/// Reads an operation, and notes what is read in another way than it is written.
pub(crate) fn lower_noting<'d>(
    document: &'d Inner,
    entry: &Entry,
    notes: &mut Notes,
) -> Result<Lowered<'d>, OpenApiProblem> {
    let (item, operation) = find(document, entry)?;
    if !operation.value().is_object() {
        return Err(operation.skipped("an operation must be an object"));
    }
    notes.step();
    let mut found = parameter::parameters(document, &item, &operation, notes)?;
    let template = template::parse(&entry.path);
    template::complete(&template, &mut found, &operation, notes)?;
    found.sort_by(|(one, _), (other, _)| (one.place, &one.name).cmp(&(other.place, &other.name)));
    let mut body = match document.version {
        Version::Swagger2 => swagger::body(document, &item, &operation, notes)?,
        Version::V30 | Version::V31 => body::body(document, &operation, notes)?,
    };
    name_arguments(&mut found, body.as_mut().map(|(body, _)| body));
    let replies = responses::responses(document, &operation, notes);
    let server = document.servers.of(document, &item, &operation);
    let (parameters, described) = found.into_iter().unzip();
    let (body, body_source) = body.unzip();
    let plan = Plan {
        method: entry.method.clone(),
        path: template,
        server,
        parameters,
        body,
        accept: replies.accept,
        forms: document.forms,
        secrets: Arc::clone(&document.secrets),
    };
    Ok(Lowered { plan, parameters: described, body: body_source, reply: replies.schema })
}

/// Gives every argument a key of its own.
fn name_arguments(parameters: &mut [(Parameter, Described<'_>)], body: Option<&mut Body>) {
    let wanted = parameters.iter().map(|(parameter, _)| (parameter.name.as_str(), parameter.place.word()));
    let keys = match &body {
        None => names::keys(wanted),
        Some(Body { shape: Shape::Whole(_), .. }) => names::keys(wanted.chain([("body", "request")])),
        Some(Body { shape: Shape::Flat(properties), .. }) => {
            let properties = properties.iter().map(|property| (property.name.as_str(), "body"));
            names::keys(wanted.chain(properties))
        }
    };
    let mut keys = keys.into_iter();
    for ((parameter, _), key) in parameters.iter_mut().zip(keys.by_ref()) {
        parameter.key = key;
    }
    match body.map(|body| &mut body.shape) {
        None => {}
        Some(Shape::Whole(key)) => *key = keys.next().unwrap_or_else(|| "body".to_owned()),
        Some(Shape::Flat(properties)) => {
            for (property, key) in properties.iter_mut().zip(keys) {
                property.key = key;
            }
        }
    }
}

impl<'d> Source<'d> {
    pub(crate) fn at(at: At<'d>) -> Self {
        Self { value: Cow::Borrowed(at.value), file: at.file }
    }

    pub(crate) fn owned(value: Value, file: usize) -> Self {
        Self { value: Cow::Owned(value), file }
    }
}

/// Tells whether a parameter is none of the model's business, since the client says it.
pub(crate) fn is_reserved(place: Place, name: &str) -> bool {
    /// Headers that the document may not describe, and those that make up the message itself.
    const HEADERS: [&str; 16] = [
        "accept",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "cookie",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
    ];
    place == Place::Header && HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header))
}

#[cfg(test)]
mod tests;
