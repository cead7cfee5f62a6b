use super::place::Place;
use super::tree::{Extent, Start};
use haft_core::is_hidden;

/// Writes the pattern for the files beside one that is read: a directory's own, without what lies deeper.
///
/// A file that hides, or that is in the working directory itself, is named alone.
pub(super) fn for_reading(place: &Place<'_>) -> Option<String> {
    let names: Vec<&str> = place.names().collect();
    match (place.start, place.extent, &*names) {
        (_, _, []) | (Start::Top, Extent::Tree, _) => None,
        (_, Extent::Itself, [directories @ .., file])
            if place.start == Start::Inside && !directories.is_empty() && !file.starts_with('.') =>
        {
            path(Start::Inside, directories, "/*")
        }
        (start, Extent::Itself, names) => path(start, names, ""),
        (start, Extent::Tree, names) => path(start, names, "/**"),
    }
}

/// Writes the pattern for the one file that is written. Of trees and of what lies outside, each write is asked about.
pub(super) fn for_writing(place: &Place<'_>) -> Option<String> {
    let names: Vec<&str> = place.names().collect();
    if names.is_empty() || place.start == Start::Top || place.extent == Extent::Tree {
        return None;
    }
    path(Start::Inside, &names, "")
}

/// Writes a path and what stands behind it, so that it means no other; `None` where a person could not read it as what it is.
fn path(start: Start, names: &[&str], behind: &str) -> Option<String> {
    let mut pattern = match (start, names) {
        (Start::Top, _) => "/".to_owned(),
        // Without a `/` it would match at any depth.
        (Start::Inside, [_]) if behind.is_empty() => "./".to_owned(),
        // A rule would take it for a resource.
        (Start::Inside, [first, ..]) if first.contains(':') => "./".to_owned(),
        (Start::Inside, _) => String::new(),
    };
    for (index, name) in names.iter().enumerate() {
        if index > 0 {
            pattern.push('/');
        }
        for character in name.chars() {
            if is_hidden(character) {
                return None;
            }
            let is_first = pattern.is_empty();
            if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\')
                || (is_first && matches!(character, '!' | '~'))
            {
                pattern.push('\\');
            }
            pattern.push(character);
        }
    }
    pattern.push_str(behind);
    Some(pattern)
}
