use super::place::Pointed;
use super::{Described, Notes, Source};
use crate::OpenApiProblem;
use crate::plan::{Parameter, Piece, Place, Style, Template};
use serde_json::json;

/// Reads a path. What stands behind a `#` tells operations of one address apart and is not sent.
pub(super) fn parse(path: &str) -> Template {
    let path = path.split('#').next().unwrap_or_default();
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    Template { path: pieces(path), query: pieces(query) }
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once('{') {
        let Some((name, after)) = from.split_once('}') else { break };
        if !before.is_empty() {
            pieces.push(Piece::Text(before.to_owned()));
        }
        pieces.push(Piece::Parameter(name.trim().to_owned()));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}

/// The most pieces of a path, places for parameters among them.
const MOST_PIECES: usize = 200;

/// Adds what the path names and nobody describes, and takes away what is described and has no place in the path.
pub(super) fn complete<'d>(
    template: &Template,
    found: &mut Vec<(Parameter, Described<'d>)>,
    operation: &Pointed<'d>,
    notes: &mut Notes,
) -> Result<(), OpenApiProblem> {
    let pieces = template.path.len() + template.query.len();
    if pieces > MOST_PIECES {
        return Err(operation.skipped("the path has too many places for parameters"));
    }
    if leads_elsewhere(template) {
        return Err(operation.skipped(
            "the path has a segment `.` or `..`, which leads elsewhere; write the path that is meant",
        ));
    }
    let named = |wanted: &str| {
        let mut names = template.path.iter().chain(&template.query).filter_map(|piece| match piece {
            Piece::Parameter(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        });
        names.any(|name| is_same(name, wanted))
    };
    found.retain(|(parameter, _)| {
        let is_there = parameter.place != Place::Path || named(&parameter.name);
        if !is_there {
            notes.push(|| {
                operation.note(format!("the path has no place for its parameter `{}`", parameter.name))
            });
        }
        is_there
    });
    for piece in template.path.iter().chain(&template.query) {
        let Piece::Parameter(name) = piece else { continue };
        let is_known = found
            .iter()
            .any(|(parameter, _)| parameter.place == Place::Path && is_same(name, &parameter.name));
        if is_known {
            continue;
        }
        notes.push(|| {
            operation.note(format!("nothing describes `{name}` in the path; it is taken for a text"))
        });
        let parameter = Parameter {
            key: String::new(),
            name: name.clone(),
            place: Place::Path,
            style: Style::Simple,
            explode: false,
            allow_reserved: false,
            required: true,
            media: None,
        };
        let schema = Some(Source::owned(json!({ "type": "string" }), 0));
        found.push((parameter, Described { schema, ..Described::default() }));
    }
    Ok(())
}

/// Tells whether a segment without parameters is one that those who read addresses take out, also where its dots are encoded.
fn leads_elsewhere(template: &Template) -> bool {
    let mut path = String::new();
    for piece in &template.path {
        match piece {
            Piece::Text(text) => path.push_str(text),
            // What an argument makes of its segment is looked at when there is one.
            Piece::Parameter(_) => path.push('{'),
        }
    }
    path.split('/').any(is_dots)
}

/// Tells whether a segment stands for the same or the upper one.
pub(crate) fn is_dots(segment: &str) -> bool {
    matches!(segment.replace("%2e", ".").replace("%2E", ".").as_str(), "." | "..")
}

/// Tells whether a place of a path is that of a parameter: `{+name}`, `{name+}` and `{name*}` are, of `name`.
pub(crate) fn is_same(place: &str, parameter: &str) -> bool {
    place == parameter || place.trim_start_matches('+').trim_end_matches(['+', '*']) == parameter
}
