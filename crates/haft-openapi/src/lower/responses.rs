use super::place::Pointed;
use super::{Source, swagger};
use crate::document::{Inner, Version};
use crate::plan::Media;

/// The most media types that are asked for.
const MOST_ACCEPTED: usize = 6;

/// Is what an operation may answer.
#[derive(Debug)]
pub(super) struct Responses<'d> {
    pub(super) accept: String,
    pub(super) schema: Option<Source<'d>>,
}

/// Reads what a good reply looks like. What cannot be read says nothing, since a reply is taken as it comes.
pub(super) fn responses<'d>(document: &'d Inner, operation: &Pointed<'d>) -> Responses<'d> {
    let listed = operation.member("responses");
    let mut good: Vec<(&str, Pointed<'d>)> = listed
        .iter()
        .flat_map(Pointed::members)
        .filter(|(code, _)| code.starts_with('2') || *code == "default")
        .filter_map(|(code, response)| Some((code, response.followed().ok()?)))
        .collect();
    good.sort_by_key(|(code, _)| (*code == "default", *code));
    let mut types: Vec<&str> = Vec::new();
    let mut schema = None;
    for (code, response) in &good {
        match document.version {
            Version::Swagger2 => {
                types.extend(swagger::produced(document, operation));
                schema = schema.or_else(|| response.member("schema").map(|schema| Source::at(schema.at)));
            }
            Version::V30 | Version::V31 => {
                for (content_type, media) in response.member("content").iter().flat_map(Pointed::members) {
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
