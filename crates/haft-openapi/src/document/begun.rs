use super::{Document, Inner, Version};
use crate::lower::Notes;
use crate::lower::{self, Servers};
use crate::problem::Problems;
use crate::read::Read;
use crate::secrets::Secrets;
use crate::store::{Store, load_from};
use crate::text::line;
use crate::{LoadError, LoadOptions, OpenApiProblem, References, list};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The most that is said of a document.
const MOST_PROBLEMS: usize = 10_000;

/// The most parts of a document that are looked at while its operations are read, such as parameters and media types.
///
/// Operations share them by references, so a small document can have operations without end. The largest real ones come to
/// some hundred thousands.
const MOST_STEPS: usize = 1_000_000;

/// Is a document whose own text is read, and what it refers to is not.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) store: Store,
    /// What references to other files are met in it.
    pub(super) outward: Vec<String>,
    pub(super) problems: Vec<OpenApiProblem>,
    version: Version,
}

impl Begun {
    pub(super) fn of(read: Read) -> Result<Self, LoadError> {
        let Read { value, outward, repeated, .. } = read;
        let (version, guessed) = version(&value)?;
        let mut problems: Vec<OpenApiProblem> = guessed.into_iter().collect();
        problems.extend(repeated.into_iter().map(|key| {
            OpenApiProblem::note(
                "",
                format!("the key `{}` stands twice in one object; the last one counts", line(&key, 100)),
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
        let Self { store, problems: known, version, .. } = self;
        let mut problems = Problems::new(MOST_PROBLEMS);
        problems.extend(known);
        let secrets = Arc::new(Secrets::of(&store));
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
        let candidates = list::candidates(&inner, &mut problems);
        let mut entries = Vec::with_capacity(candidates.len());
        let mut steps = 0;
        let mut candidates = candidates.into_iter();
        for entry in candidates.by_ref() {
            let mut notes = Notes::default();
            let lowered = lower::lower_noting(&inner, &entry, &mut notes);
            steps += notes.steps();
            let told = |problem: OpenApiProblem| problem.of(&entry.place());
            problems.extend(notes.done().into_iter().map(told));
            match lowered {
                Ok(_) => entries.push(entry),
                Err(problem) => problems.push(told(problem)),
            }
            if steps > MOST_STEPS {
                break;
            }
        }
        if candidates.len() > 0 {
            problems.push(OpenApiProblem::skipped(
                "/paths",
                format!("the operations have too much in them; the last {} are left out", candidates.len()),
            ));
        }
        list::name(&inner, &mut entries);
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        entries.shrink_to_fit();
        inner.entries = entries;
        inner.problems = problems.done();
        Document(Arc::new(inner))
    }
}

/// Tells which rules a document follows; where it does not say so, what is most likely, and a word on that.
fn version(value: &Value) -> Result<(Version, Option<OpenApiProblem>), LoadError> {
    let Value::Object(members) = value else { return Err(LoadError::NotOpenApi("it is not an object")) };
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
                OpenApiProblem::note("", format!("it does not say which version it is of; read as {word}"));
            Ok((version, Some(problem)))
        }
        _ => Err(LoadError::NotOpenApi("it says neither a known version nor paths")),
    }
}
