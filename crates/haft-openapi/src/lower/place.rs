use crate::Problem;
use crate::document::Inner;
use crate::store::{At, reference, step};
use serde_json::Value;

/// Is a value of a document together with where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Pointed<'d> {
    document: &'d Inner,
    pub(crate) at: At<'d>,
    pointer: String,
}

impl<'d> Pointed<'d> {
    pub(crate) fn root(document: &'d Inner) -> Self {
        Self { document, at: document.store.root(), pointer: String::new() }
    }

    pub(crate) fn value(&self) -> &'d Value {
        self.at.value
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'d Value> {
        self.at.value.as_object()?.get(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&'d str> {
        self.get(name)?.as_str()
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.get(name).is_some_and(is_true)
    }

    pub(crate) fn member(&self, name: &str) -> Option<Self> {
        Some(self.below(self.get(name)?, &step(name)))
    }

    /// The items of a list, or nothing where there is none.
    pub(crate) fn items(&self) -> impl Iterator<Item = Self> + '_ {
        let items = self.at.value.as_array().into_iter().flatten();
        items.enumerate().map(|(index, item)| self.below(item, &index.to_string()))
    }

    /// The members of an object, or nothing where there is none.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&'d str, Self)> + '_ {
        let members = self.at.value.as_object().into_iter().flatten();
        members.map(|(name, member)| (name.as_str(), self.below(member, &step(name))))
    }

    /// Goes where a reference leads; stays where there is none.
    pub(crate) fn followed(&self) -> Result<Self, Problem> {
        let Some(target) = reference(self.at.value) else { return Ok(self.clone()) };
        let store = &self.document.store;
        // The pointer is that of the first place, since one that is reached by several steps has many.
        let pointer = store
            .resolve(self.at.file, target)
            .map(|target| target.pointer)
            .map_err(|why| self.skipped(why))?;
        let at = store.follow(self.at).map_err(|why| self.skipped(why))?;
        Ok(Self { at, pointer, document: self.document })
    }

    pub(crate) fn pointer(&self) -> String {
        self.document.store.place(self.at.file, &self.pointer)
    }

    pub(crate) fn note(&self, message: impl AsRef<str>) -> Problem {
        Problem::note(self.pointer(), message)
    }

    pub(crate) fn skipped(&self, message: impl AsRef<str>) -> Problem {
        Problem::skipped(self.pointer(), message)
    }

    fn below(&self, value: &'d Value, step: &str) -> Self {
        Self {
            document: self.document,
            at: At { file: self.at.file, value },
            pointer: format!("{}/{step}", self.pointer),
        }
    }
}

/// Tells whether a value says yes, in words if need be.
pub(crate) fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(yes) => *yes,
        Value::String(text) => text.eq_ignore_ascii_case("true"),
        _ => false,
    }
}
