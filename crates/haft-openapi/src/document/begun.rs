use super::{Document, Inner, Version};
use crate::lower::{self, Servers};
use crate::read::Read;
use crate::store::{Store, load_from};
use crate::{LoadError, LoadOptions, Problem, References, list};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Is a document whose own text is read, and what it refers to is not.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) store: Store,
    /// What references to other files are met in it.
    pub(super) outward: Vec<String>,
    pub(super) problems: Vec<Problem>,
    version: Version,
}

impl Begun {
    pub(super) fn of(read: Read) -> Result<Self, LoadError> {
        let Read { value, outward, repeated } = read;
        let (version, guessed) = version(&value)?;
        let mut problems: Vec<Problem> = guessed.into_iter().collect();
        problems.extend(repeated.into_iter().map(|key| {
            Problem::note(
                "",
                format!("the key `{}` stands twice in one object; the last one counts", shortened(&key)),
            )
        }));
        Ok(Self { store: Store::new(value), outward, problems, version })
    }

    /// Reads the files that it refers to, from a folder on, and all operations.
    pub(super) fn finished(mut self, folder: Option<&Path>, options: &LoadOptions) -> Document {
        if let (References::Directory(directory), Some(folder)) = (&options.references, folder)
            && !self.outward.is_empty()
        {
            let outward = std::mem::take(&mut self.outward);
            self.problems.extend(load_from(&mut self.store, directory, folder, outward, options));
        }
        self.read(options)
    }

    /// Reads all operations.
    pub(super) fn read(self, options: &LoadOptions) -> Document {
        let Self { store, mut problems, version, .. } = self;
        let secrets = list::secrets(&store);
        let mut inner = Inner {
            store,
            version,
            servers: Servers::new(options),
            forms: options.forms,
            most_schema_bytes: options.most_schema_bytes,
            secrets,
            entries: Vec::new(),
            problems: Vec::new(),
        };
        let (candidates, more) = list::candidates(&inner);
        problems.extend(more);
        let mut entries = Vec::with_capacity(candidates.len());
        for entry in candidates {
            let told = |problem: Problem| problem.of(&entry.place());
            match lower::lower(&inner, &entry) {
                Ok(lowered) => {
                    problems.extend(lowered.notes.into_iter().map(told));
                    entries.push(entry);
                }
                Err(problem) => problems.push(told(problem)),
            }
        }
        list::name(&inner, &mut entries);
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        entries.shrink_to_fit();
        inner.entries = entries;
        inner.problems = problems;
        Document(Arc::new(inner))
    }
}

/// Tells which rules a document follows; where it does not say so, what is most likely, and a word on that.
fn version(value: &Value) -> Result<(Version, Option<Problem>), LoadError> {
    let Value::Object(members) = value else { return Err(LoadError::NotOpenApi("it is no object")) };
    let said = |name: &str| match members.get(name) {
        Some(Value::String(text)) => Some(text.trim().to_owned()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    match (said("openapi"), said("swagger")) {
        (Some(version), _) if version.starts_with("3.0") || version == "3" => Ok((Version::V30, None)),
        (Some(version), _) if version.starts_with("3.") => Ok((Version::V31, None)),
        (None, Some(version)) if version.starts_with('2') => Ok((Version::Swagger2, None)),
        (None, Some(_)) if !members.contains_key("paths") => {
            Err(LoadError::NotOpenApi("it is of Swagger 1, which had other files"))
        }
        _ if members.contains_key("paths") => {
            let is_older = members.contains_key("swagger") || members.contains_key("definitions");
            let version = if is_older { Version::Swagger2 } else { Version::V31 };
            let word = if is_older { "2.0" } else { "3.1" };
            let problem =
                Problem::note("", format!("it does not say which version it is of; read as {word}"));
            Ok((version, Some(problem)))
        }
        _ => Err(LoadError::NotOpenApi("it says neither a known version nor paths")),
    }
}

fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(100)]
}
