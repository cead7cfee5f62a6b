//! The files of a document, and where the references in them lead.

mod directory;
mod same_origin;

pub(crate) use directory::load_from;
pub(crate) use same_origin::load_same_origin;

use crate::text::line;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// The most references that may lead to each other, one after the other.
const MOST_HOPS: usize = 64;

/// Holds a document and the files that it refers to.
#[derive(Debug, Default)]
pub(crate) struct Store {
    files: Vec<File>,
    /// Which file a reference in a file leads to.
    links: HashMap<(usize, String), usize>,
}

/// Is one of the files; the first one is the document itself.
#[derive(Debug)]
struct File {
    /// What people call it; empty for the document itself.
    name: String,
    root: Value,
}

/// Is a value in one of the files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'d> {
    pub(crate) file: usize,
    pub(crate) value: &'d Value,
}

/// Is where a reference leads.
#[derive(Debug, Clone)]
pub(crate) struct Target<'d, 'r> {
    pub(crate) at: At<'d>,
    /// The pointer in that file.
    pub(crate) pointer: Cow<'r, str>,
}

impl Store {
    pub(crate) fn new(root: Value) -> Self {
        Self { files: vec![File { name: String::new(), root }], links: HashMap::new() }
    }

    pub(crate) fn root(&self) -> At<'_> {
        At { file: 0, value: &self.files[0].root }
    }

    /// Finds where a reference that stands in a file leads, without going on from there.
    pub(crate) fn resolve<'r>(&self, file: usize, reference: &'r str) -> Result<Target<'_, 'r>, String> {
        let (name, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let leads_nowhere = || format!("the reference `{}` leads nowhere", shortened(reference));
        let file = if name.is_empty() {
            file
        } else {
            let link = self.links.get(&(file, name.to_owned()));
            *link.ok_or_else(|| {
                format!("the reference `{}` leads to a file that is not read", shortened(reference))
            })?
        };
        let root = &self.files.get(file).ok_or_else(leads_nowhere)?.root;
        if let Some(value) = pointed(root, pointer) {
            return Ok(Target { at: At { file, value }, pointer: Cow::Borrowed(pointer) });
        }
        let pointer = percent_decoded(pointer);
        match pointed(root, &pointer) {
            Some(value) => Ok(Target { at: At { file, value }, pointer: Cow::Owned(pointer) }),
            None => Err(leads_nowhere()),
        }
    }

    /// Follows references until there is something else.
    pub(crate) fn follow<'d>(&'d self, mut at: At<'d>) -> Result<At<'d>, String> {
        for _ in 0..MOST_HOPS {
            let Some(reference) = reference(at.value) else { return Ok(at) };
            at = self.resolve(at.file, reference)?.at;
        }
        let reference = reference(at.value).unwrap_or_default();
        Err(format!("the reference `{}` leads back to itself", shortened(reference)))
    }

    /// Writes a place of a file for people.
    pub(crate) fn place(&self, file: usize, pointer: &str) -> String {
        match self.files.get(file) {
            Some(File { name, .. }) if !name.is_empty() => format!("{name}#{pointer}"),
            _ => pointer.to_owned(),
        }
    }

    fn add(&mut self, name: String, root: Value) -> usize {
        self.files.push(File { name, root });
        self.files.len() - 1
    }

    fn link(&mut self, from: usize, reference: String, to: usize) {
        self.links.insert((from, reference), to);
    }
}

/// Follows a JSON pointer as `Value::pointer` does, which makes a text of each step.
fn pointed<'d>(root: &'d Value, pointer: &str) -> Option<&'d Value> {
    if pointer.contains('~') {
        return root.pointer(pointer);
    }
    if pointer.is_empty() {
        return Some(root);
    }
    pointer.strip_prefix('/')?.split('/').try_fold(root, |value, step| match value {
        Value::Object(members) => members.get(step),
        Value::Array(items) => {
            let is_index =
                step.bytes().all(|digit| digit.is_ascii_digit()) && (step == "0" || !step.starts_with('0'));
            items.get(step.parse::<usize>().ok().filter(|_| is_index)?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// Borrows the target of an object that is a reference.
pub(crate) fn reference(value: &Value) -> Option<&str> {
    value.as_object()?.get("$ref")?.as_str()
}

/// Cuts a reference to what fits a message.
fn shortened(reference: &str) -> String {
    line(reference, 200)
}

/// Writes one step of a JSON pointer.
pub(crate) fn step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

pub(crate) fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::Store;
    use expect_test::{Expect, expect};
    use serde_json::json;

    #[track_caller]
    fn check(reference: &str, expected: &Expect) {
        let store = Store::new(json!({
            "a": { "b/c~{d}": [1, { "$ref": "#/a/to" }], "to": { "$ref": "#/end" }, "loop": { "$ref": "#/a/loop" } },
            "end": "here",
        }));
        let found = store.resolve(0, reference).and_then(|target| store.follow(target.at));
        let shown = found.map_or_else(|error| error, |at| at.value.to_string());
        expected.assert_eq(&shown);
    }

    #[test]
    fn pointers_are_followed_as_serde_json_does() {
        let root = json!({ "a": [1, { "": "x", "01": 2 }], "": { "": 3 }, "0": 4 });
        for pointer in [
            "", "/", "//", "/a", "/a/0", "/a/00", "/a/01", "/a/+1", "/a/1", "/a/1/", "/a/1/01", "/a/2",
            "/a/", "/0", "a", "/a/0/x",
        ] {
            assert_eq!(super::pointed(&root, pointer), root.pointer(pointer), "{pointer}");
        }
    }

    #[test]
    fn references_are_followed_to_their_end() {
        check("#/a/b~1c~0{d}/0", &expect!["1"]);
        check("#/a/b~1c~0%7Bd%7D/1", &expect![[r#""here""#]]);
        check("#/a/loop", &expect!["the reference `#/a/loop` leads back to itself"]);
        check("#/nowhere", &expect!["the reference `#/nowhere` leads nowhere"]);
        check("#anchor", &expect!["the reference `#anchor` leads nowhere"]);
        check("other.yaml#/a", &expect!["the reference `other.yaml#/a` leads to a file that is not read"]);
        check(
            &format!("#/{}", "é".repeat(1000)),
            &expect![
                "the reference `#/ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…` leads nowhere"
            ],
        );
    }
}
