use crate::OpenApiProblem;
use crate::document::Inner;
use crate::store::{At, reference, step};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write as _;

/// How many steps are kept as they are.
const MOST_STEPS: usize = 10;

/// Is a value of a document together with where it stands.
///
/// Where it stands is written out only where something is wrong: most values are looked at once and nothing is said of them.
#[derive(Debug, Clone)]
pub(crate) struct Pointed<'d> {
    document: &'d Inner,
    pub(crate) at: At<'d>,
    /// The pointer that the steps begin at.
    base: Cow<'d, str>,
    steps: [Step<'d>; MOST_STEPS],
    count: usize,
}

#[derive(Debug, Clone, Copy)]
enum Step<'d> {
    Name(&'d str),
    Index(usize),
}

impl<'d> Pointed<'d> {
    pub(crate) fn root(document: &'d Inner) -> Self {
        Self::new(document, document.store.root(), Cow::Borrowed(""))
    }

    fn new(document: &'d Inner, at: At<'d>, base: Cow<'d, str>) -> Self {
        Self { document, at, base, steps: [Step::Index(0); MOST_STEPS], count: 0 }
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
        let (name, member) = self.at.value.as_object()?.get_key_value(name)?;
        Some(self.below(member, Step::Name(name)))
    }

    /// The items of a list, or nothing where there is none.
    pub(crate) fn items(&self) -> impl Iterator<Item = Self> + '_ {
        let items = self.at.value.as_array().into_iter().flatten();
        items.enumerate().map(|(index, item)| self.below(item, Step::Index(index)))
    }

    /// The members of an object, or nothing where there is none.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&'d str, Self)> + '_ {
        let members = self.at.value.as_object().into_iter().flatten();
        members.map(|(name, member)| (name.as_str(), self.below(member, Step::Name(name))))
    }

    /// Goes where a reference leads; stays where there is none.
    pub(crate) fn followed(&self) -> Result<Self, OpenApiProblem> {
        let Some(target) = reference(self.at.value) else { return Ok(self.clone()) };
        let store = &self.document.store;
        // The pointer is that of the first place, since one that is reached by several steps has many.
        let target = store.resolve(self.at.file, target).map_err(|why| self.skipped(why))?;
        let at = store.follow(target.at).map_err(|why| self.skipped(why))?;
        Ok(Self::new(self.document, at, target.pointer))
    }

    pub(crate) fn pointer(&self) -> String {
        self.document.store.place(self.at.file, &self.written())
    }

    pub(crate) fn note(&self, message: impl AsRef<str>) -> OpenApiProblem {
        OpenApiProblem::note(self.pointer(), message)
    }

    pub(crate) fn skipped(&self, message: impl AsRef<str>) -> OpenApiProblem {
        OpenApiProblem::skipped(self.pointer(), message)
    }

    fn written(&self) -> String {
        let mut pointer = self.base.clone().into_owned();
        for one in &self.steps[..self.count] {
            // Writing to a string cannot fail.
            let _ = match one {
                Step::Name(name) => write!(pointer, "/{}", step(name)),
                Step::Index(index) => write!(pointer, "/{index}"),
            };
        }
        pointer
    }

    fn below(&self, value: &'d Value, step: Step<'d>) -> Self {
        let at = At { file: self.at.file, value };
        let mut below = if self.count < MOST_STEPS {
            Self { at, ..self.clone() }
        } else {
            Self::new(self.document, at, Cow::Owned(self.written()))
        };
        below.steps[below.count] = step;
        below.count += 1;
        below
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
