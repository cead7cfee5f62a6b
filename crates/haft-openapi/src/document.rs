mod begun;
mod fetched;
#[cfg(feature = "openapiv3")]
mod of_spec;

use crate::lower::Servers;
use crate::operation::{Operation, Prepared};
use crate::read::{Read, adopt, read};
use crate::secrets::Secrets;
use crate::store::Store;
use crate::{FormStyle, LoadError, LoadOptions, OpenApiProblem, References, Selection};
use begun::Begun;
use haft_core::ToolName;
use http::Method;
use serde_json::Value;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Holds an API's description and the operations in it.
///
/// It is cheap to clone; the clones and their [`Operation`]s share it. Every operation was read once when it was loaded, so
/// what is listed can be called and what cannot is in [`problems`](Self::problems).
///
/// ```
/// use haft_openapi::{Document, LoadOptions};
///
/// let text = r#"
/// openapi: 3.1.0
/// info: { title: Pets, version: "1" }
/// paths:
///   /pets:
///     get: { operationId: listPets }
///     post: { operationId: addPet, parameters: [ 3 ] }
/// "#;
/// let document = Document::from_text(text, &LoadOptions::default())?;
/// let names: Vec<String> = document.operations().map(|operation| operation.name().to_string()).collect();
/// assert_eq!((document.title(), names), ("Pets", vec!["listPets".to_owned()]));
/// assert_eq!(document.problems()[0].operation(), Some("POST /pets"));
/// # Ok::<(), haft_openapi::LoadError>(())
/// ```
#[derive(Clone)]
pub struct Document(Arc<Inner>);

/// Is what all operations of a document share.
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) version: Version,
    pub(crate) servers: Servers,
    pub(crate) forms: FormStyle,
    pub(crate) most_schema_bytes: usize,
    pub(crate) secrets: Arc<Secrets>,
    /// Sorted by name.
    pub(crate) entries: Vec<Entry>,
    problems: Vec<OpenApiProblem>,
}

/// Says which rules a document follows, as far as they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Swagger2,
    V30,
    /// And what came after it.
    V31,
}

/// Is an operation's place in a document.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: ToolName,
    pub(crate) method: Method,
    /// The member of the document that has the path.
    pub(crate) paths: &'static str,
    pub(crate) path: Box<str>,
    /// The member of the path that has the operation.
    pub(crate) member: Box<str>,
    /// What it takes to make requests, once one was made.
    pub(crate) prepared: OnceLock<Box<Prepared>>,
}

impl Document {
    /// Reads a document from JSON or YAML; costs little more than reading the text.
    ///
    /// Files that it refers to are looked for from [`References::Directory`] on.
    ///
    /// # Errors
    ///
    /// If the text is too large, is neither JSON nor YAML, or is no OpenAPI document at all. What is wrong with one operation
    /// is no error: see [`problems`](Self::problems).
    pub fn from_text(text: &str, options: &LoadOptions) -> Result<Self, LoadError> {
        Self::of_read(read(text, options.most_bytes, options.most_nodes)?, options)
    }

    /// Takes a document that was read already.
    ///
    /// # Errors
    ///
    /// As [`from_text`](Self::from_text).
    pub fn from_value(value: Value, options: &LoadOptions) -> Result<Self, LoadError> {
        Self::of_read(adopt(value, options.most_nodes)?, options)
    }

    fn of_read(read: Read, options: &LoadOptions) -> Result<Self, LoadError> {
        let folder = match &options.references {
            References::Directory(directory) => Some(directory.as_path()),
            References::None | References::SameOrigin => None,
        };
        Ok(Begun::of(read)?.finished(folder, options))
    }

    /// Reads a document from a file; what it refers to is looked for from its own folder on. Blocks while it reads.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, and as [`from_text`](Self::from_text).
    pub fn from_file(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Self, LoadError> {
        use std::io::Read as _;
        let path = path.as_ref();
        let unreadable = |source| LoadError::Read { path: path.to_owned(), source };
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0).min(options.most_bytes));
        file.take((options.most_bytes as u64).saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        let text = String::from_utf8(bytes).map_err(|_| LoadError::Syntax("it is not UTF-8".to_owned()))?;
        let read = read(&text, options.most_bytes, options.most_nodes)?;
        drop(text);
        Ok(Begun::of(read)?.finished(path.parent(), options))
    }

    /// The name that the document gives the API; empty where it gives none.
    pub fn title(&self) -> &str {
        let info = self.0.store.root().value.get("info");
        info.and_then(|info| info.get("title")).and_then(Value::as_str).unwrap_or_default()
    }

    /// How many operations can be called.
    pub fn len(&self) -> usize {
        self.0.entries.len()
    }

    /// Tells whether no operation can be called.
    pub fn is_empty(&self) -> bool {
        self.0.entries.is_empty()
    }

    /// Lists the operations that can be called, by name.
    pub fn operations(&self) -> impl ExactSizeIterator<Item = Operation> + '_ {
        (0..self.0.entries.len()).map(|index| Operation::new(Arc::clone(&self.0), index))
    }

    /// Finds an operation by its name.
    pub fn operation(&self, name: &str) -> Option<Operation> {
        let index = self.0.entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok()?;
        Some(Operation::new(Arc::clone(&self.0), index))
    }

    /// Lists the operations that a selection chooses, by name.
    pub fn select<'a>(&'a self, selection: &'a Selection) -> impl Iterator<Item = Operation> + 'a {
        self.operations().filter(|operation| operation.is_chosen_by(selection))
    }

    /// Lists what was left out and what was read in another way than it is written, in the order of the document.
    ///
    /// These are at most 10,000, and 100 of each operation; the last one says how many more there are.
    pub fn problems(&self) -> &[OpenApiProblem] {
        &self.0.problems
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }
}

impl Entry {
    /// What people know the operation by.
    pub(crate) fn place(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A document is far too large to be shown.
impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("version", &self.version)
            .field("operations", &self.entries.len())
            .field("problems", &self.problems.len())
            .finish_non_exhaustive()
    }
}
