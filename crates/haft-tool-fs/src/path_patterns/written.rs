use super::PathPatterns;
use super::parse::{Base, Step};
use crate::resource::{FILE, OUTSIDE};
use haft_tools_core::{PatternError, Resource};

/// Reads one path, or one tree, as people write it: a pattern in which nothing stands for several names.
pub(super) fn resource(syntax: &PathPatterns, text: &str) -> Result<Resource, PatternError> {
    let (path, is_tree) = match text.strip_suffix("/**") {
        Some("") => ("/", true),
        Some(path) => (path, true),
        None if text == "**" => return Ok(Resource::subtree(FILE, "")),
        None => (text, false),
    };
    let refuse = || {
        let reason =
            "this stands for several paths; write one, as in `src/lib.rs`, or a tree, as in `src/**`";
        PatternError::new(0, 0..text.len(), reason)
    };
    let patterns = syntax.read(0, path)?;
    let [pattern] = &*patterns else { return Err(refuse()) };
    let mut steps = &*pattern.steps;
    let leads_inside = pattern.base != Base::Root && syntax.leads_inside(steps);
    if leads_inside {
        steps = &steps[syntax.root.as_ref().map_or(0, Vec::len)..];
    } else if pattern.base == Base::Root && !path.trim_end_matches('/').contains('/') {
        // A single name stands for itself here, and not for that name at any depth.
        steps = steps.strip_prefix(&[Step::Deep]).unwrap_or(steps);
    }
    let name = |step: &Step| match step {
        Step::Name(name) => Some(name.clone()),
        _ => None,
    };
    let names: Vec<Box<str>> = steps.iter().map(name).collect::<Option<_>>().ok_or_else(refuse)?;
    if pattern.base == Base::Root && names.is_empty() {
        return Err(refuse());
    }
    if leads_inside || pattern.base == Base::Root {
        let path = names.join("/");
        return Ok(if is_tree { Resource::subtree(FILE, path) } else { Resource::exact(FILE, path) });
    }
    let path = names.iter().fold(String::new(), |path, name| path + "/" + name);
    Ok(match (is_tree, &*path) {
        (true, _) => Resource::subtree(OUTSIDE, path),
        (false, "") => Resource::exact(OUTSIDE, "/"),
        (false, _) => Resource::exact(OUTSIDE, path),
    })
}
