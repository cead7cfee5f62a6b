//! Finds the operations of a document.

use crate::document::{Entry, Inner};
use crate::problem::Problems;
use crate::store::{At, step};
use crate::{OpenApiProblem, lower, names};
use haft_core::ToolName;
use http::Method;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::OnceLock;

/// The members of a document that have paths: `x-ms-paths` has those that differ in their query only.
const PATHS: [&str; 2] = ["paths", "x-ms-paths"];

/// The members of a path that are operations, each the name of its method.
const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// The most operations that are taken from one document.
const MOST: usize = 100_000;

/// The most methods that have no member of their own and are looked at of one path.
const MOST_MORE: usize = 100;

/// Lists every operation, without having looked at it; no name is set.
pub(crate) fn candidates(document: &Inner, problems: &mut Problems) -> Vec<Entry> {
    let mut found = Vec::new();
    for member in PATHS {
        let Some(paths) = document.store.root().value.get(member) else { continue };
        let Some(paths) = paths.as_object() else {
            if !paths.is_null() {
                problems.push(OpenApiProblem::skipped(format!("/{member}"), "the paths must be an object"));
            }
            continue;
        };
        for (path, item) in paths {
            if found.len() > MOST {
                break;
            }
            let pointer = || format!("/{member}/{}", step(path));
            if path.starts_with("x-") {
                continue;
            }
            let item = match document.store.follow(At { file: 0, value: item }) {
                Ok(item) => item.value,
                Err(why) => {
                    problems.push(OpenApiProblem::skipped(pointer(), why));
                    continue;
                }
            };
            let Some(item) = item.as_object() else {
                problems.push(OpenApiProblem::skipped(pointer(), "a path must be an object"));
                continue;
            };
            if !path.starts_with('/') {
                problems.push(OpenApiProblem::note(
                    pointer(),
                    "the path does not begin with `/`; one is put before it",
                ));
            }
            let entry = |method: Method, name: &str| Entry {
                name: unnamed(),
                method,
                paths: member,
                path: path.as_str().into(),
                member: name.into(),
                prepared: OnceLock::new(),
            };
            for name in METHODS {
                let Some(_) = item.get(name) else { continue };
                if let Ok(method) = Method::from_bytes(name.to_ascii_uppercase().as_bytes()) {
                    found.push(entry(method, name));
                }
            }
            let more = item.get("additionalOperations").and_then(Value::as_object);
            for (name, _) in more.into_iter().flatten().take(MOST_MORE) {
                // What has a member of its own belongs there, and would be the same operation twice otherwise.
                let has_member = METHODS.iter().any(|method| name.eq_ignore_ascii_case(method));
                match Method::from_bytes(name.as_bytes()) {
                    Ok(method) if !has_member && method != Method::CONNECT => found.push(entry(method, name)),
                    _ => problems.push(OpenApiProblem::skipped(
                        format!("{}/additionalOperations/{}", pointer(), step(name)),
                        "this is not a method that can be used",
                    )),
                }
            }
        }
    }
    if found.len() > MOST {
        problems.push(OpenApiProblem::skipped(
            "/paths",
            format!("there are more than {MOST} operations; the rest is left out"),
        ));
        found.truncate(MOST);
    }
    found
}

/// Names the operations that can be called.
pub(crate) fn name(document: &Inner, entries: &mut [Entry]) {
    let wishes: Vec<(Cow<'_, str>, String)> =
        entries.iter().map(|entry| (wish(document, entry), identity(entry))).collect();
    let names = names::tool_names(wishes.iter().map(|(wish, place)| (wish.as_ref(), place.clone())));
    drop(wishes);
    for (entry, name) in entries.iter_mut().zip(names) {
        entry.name = name;
    }
}

/// Says what tells an operation from all others. A path may stand in both lists of paths.
fn identity(entry: &Entry) -> String {
    if entry.paths == PATHS[0] { entry.place() } else { format!("{} of {}", entry.place(), entry.paths) }
}

/// Says what an operation wants to be called.
fn wish<'d>(document: &'d Inner, entry: &Entry) -> Cow<'d, str> {
    let operation = lower::find(document, entry).map(|(_, operation)| operation).ok();
    let vendor = operation.as_ref().and_then(|operation| {
        let named =
            ["x-mcp", "x-speakeasy-mcp"].into_iter().find_map(|switch| operation.get(switch)?.get("name"));
        named.and_then(Value::as_str)
    });
    let id = || operation.as_ref().and_then(|operation| operation.text("operationId"));
    match vendor.or_else(id).filter(|id| !id.trim().is_empty()) {
        Some(id) => Cow::Borrowed(id),
        None => Cow::Owned(names::of_place(entry.method.as_str(), &entry.path)),
    }
}

fn unnamed() -> ToolName {
    ToolName::project("unnamed")
}
