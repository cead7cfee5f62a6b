use super::body::MOST_MEDIA_TYPES;
use super::place::Pointed;
use super::{Notes, Source, swagger};
use crate::document::{Inner, Version};
use crate::plan::Media;

/// The most replies that are looked at of one operation.
const MOST_REPLIES: usize = 100;

/// The most media types that are asked for.
const MOST_ACCEPTED: usize = 6;

/// Is what an operation may answer.
#[derive(Debug)]
pub(super) struct Responses<'d> {
    pub(super) accept: String,
    pub(super) schema: Option<Source<'d>>,
}

/// Reads what a good reply looks like. What cannot be read says nothing, since a reply is taken as it comes.
pub(super) fn responses<'d>(
    document: &'d Inner,
    operation: &Pointed<'d>,
    notes: &mut Notes,
) -> Responses<'d> {
    let listed = operation.member("responses");
    let mut good: Vec<(&str, Pointed<'d>)> = listed
        .iter()
        .flat_map(Pointed::members)
        .filter(|(code, _)| code.starts_with('2') || *code == "default")
        .take(MOST_REPLIES)
        .filter_map(|(code, response)| Some((code, response.followed().ok()?)))
        .collect();
    // The default is what is answered in case of an error where it is said what a good reply is.
    if good.iter().any(|(code, _)| *code != "default") {
        good.retain(|(code, _)| *code != "default");
    }
    good.sort_by_key(|(code, _)| *code);
    let mut types: Vec<&str> = match document.version {
        Version::Swagger2 => swagger::produced(document, operation).collect(),
        Version::V30 | Version::V31 => Vec::new(),
    };
    let mut schema = None;
    for (code, response) in &good {
        notes.step();
        match document.version {
            Version::Swagger2 => {
                schema = schema.or_else(|| response.member("schema").map(|schema| Source::at(schema.at)));
            }
            Version::V30 | Version::V31 => {
                let content = response.member("content");
                let media_types = content.iter().flat_map(Pointed::members).take(MOST_MEDIA_TYPES);
                for (content_type, media) in media_types {
                    notes.step();
                    // The default is what is answered in case of an error, most of the time.
                    if *code != "default" {
                        types.push(content_type);
                    }
                    if schema.is_none() && Media::of(content_type) == Some(Media::Json) {
                        let media = media.followed().ok();
                        schema = media
                            .and_then(|media| media.member("schema"))
                            .map(|schema| Source::at(schema.at));
                    }
                }
            }
        }
    }
    Responses { accept: accept(&types), schema }
}

/// Asks for JSON where there is any, for what is said otherwise, and takes everything.
fn accept(types: &[&str]) -> String {
    let is_sendable = |content_type: &&str| {
        !content_type.contains(',') && http::HeaderValue::from_str(content_type).is_ok()
    };
    let (json, others): (Vec<&str>, Vec<&str>) = types
        .iter()
        .copied()
        .filter(is_sendable)
        .partition(|content_type| Media::of(content_type) == Some(Media::Json));
    let chosen = if json.is_empty() { others } else { json };
    let mut list: Vec<&str> = Vec::new();
    for content_type in chosen {
        if !list.contains(&content_type) && list.len() < MOST_ACCEPTED {
            list.push(content_type);
        }
    }
    if list.contains(&"*/*") {
        return "*/*".to_owned();
    }
    if list.is_empty() {
        return "application/json, */*;q=0.5".to_owned();
    }
    format!("{}, */*;q=0.5", list.join(", "))
}
