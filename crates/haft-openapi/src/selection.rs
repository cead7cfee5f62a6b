use globset::{Glob, GlobBuilder, GlobMatcher};
use http::Method;
use std::collections::BTreeSet;

/// Chooses operations of a document.
///
/// An operation is chosen if it meets every kind of condition that is given, by any of its values, and none of the
/// exclusions. By default all are chosen that their vendor has not switched off.
///
/// ```
/// use haft_openapi::Selection;
///
/// let selection = Selection::default().tags(["pets"]).without_paths(["/pets/*/secrets/**"])?.without_deprecated();
/// # let _ = selection;
/// # Ok::<(), haft_openapi::PathFilterError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Selection {
    tags: BTreeSet<String>,
    not_tags: BTreeSet<String>,
    methods: Vec<Method>,
    paths: Vec<GlobMatcher>,
    not_paths: Vec<GlobMatcher>,
    ids: BTreeSet<String>,
    not_ids: BTreeSet<String>,
    no_deprecated: bool,
    vendor: Vendor,
}

/// Says what is made of `x-mcp` and `x-speakeasy-mcp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Vendor {
    /// What is switched off is left out.
    #[default]
    Honoured,
    /// Only what is switched on is chosen.
    Required,
    Ignored,
}

/// Says why a text is no pattern of paths.
///
/// ```
/// use haft_openapi::Selection;
///
/// let error = Selection::default().paths(["/pets/[ab"]).unwrap_err();
/// assert_eq!(error.to_string(), "cannot read the pattern of paths \"/pets/[ab\"");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the pattern of paths {pattern:?}")]
pub struct PathFilterError {
    pattern: String,
    source: globset::Error,
}

/// Is what a selection looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) name: &'a str,
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) deprecated: bool,
    /// What its vendor says of it as a tool.
    pub(crate) switched: Option<bool>,
}

impl Selection {
    /// Chooses operations with any of these tags.
    pub fn tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Leaves out operations with any of these tags.
    pub fn without_tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.not_tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Chooses operations with any of these methods.
    pub fn methods(mut self, methods: impl IntoIterator<Item = Method>) -> Self {
        self.methods.extend(methods);
        self
    }

    /// Chooses operations whose path, as it is written in the document, fits any of these patterns.
    ///
    /// `*` stands for a part of a segment, `**` for any number of segments.
    ///
    /// # Errors
    ///
    /// If one of them is no pattern.
    pub fn paths<'a>(mut self, patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, PathFilterError> {
        for pattern in patterns {
            self.paths.push(compile(pattern)?);
        }
        Ok(self)
    }

    /// Leaves out operations whose path fits any of these patterns, which are those of [`paths`](Self::paths).
    ///
    /// # Errors
    ///
    /// If one of them is no pattern.
    pub fn without_paths<'a>(
        mut self,
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, PathFilterError> {
        for pattern in patterns {
            self.not_paths.push(compile(pattern)?);
        }
        Ok(self)
    }

    /// Chooses operations with any of these ids or names.
    pub fn operations<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
        self.ids.extend(ids.into_iter().map(Into::into));
        self
    }

    /// Leaves out operations with any of these ids or names.
    pub fn without_operations<T: Into<String>>(mut self, ids: impl IntoIterator<Item = T>) -> Self {
        self.not_ids.extend(ids.into_iter().map(Into::into));
        self
    }

    /// Leaves out what is deprecated.
    pub fn without_deprecated(mut self) -> Self {
        self.no_deprecated = true;
        self
    }

    /// Chooses only what its vendor has switched on with `x-mcp` or `x-speakeasy-mcp`.
    pub fn only_switched_on(mut self) -> Self {
        self.vendor = Vendor::Required;
        self
    }

    /// Chooses also what its vendor has switched off.
    pub fn ignoring_switches(mut self) -> Self {
        self.vendor = Vendor::Ignored;
        self
    }

    /// Tells whether an operation is chosen.
    pub(crate) fn chooses<'a>(
        &self,
        candidate: Candidate<'_>,
        mut tags: impl Iterator<Item = &'a str> + Clone,
    ) -> bool {
        let named = |ids: &BTreeSet<String>| {
            ids.contains(candidate.name) || candidate.id.is_some_and(|id| ids.contains(id))
        };
        let fits = |globs: &[GlobMatcher]| globs.iter().any(|glob| glob.is_match(candidate.path));
        let vendor = match self.vendor {
            Vendor::Honoured => candidate.switched != Some(false),
            Vendor::Required => candidate.switched == Some(true),
            Vendor::Ignored => true,
        };
        vendor
            && !(self.no_deprecated && candidate.deprecated)
            && (self.methods.is_empty() || self.methods.contains(candidate.method))
            && (self.ids.is_empty() || named(&self.ids))
            && !named(&self.not_ids)
            && (self.paths.is_empty() || fits(&self.paths))
            && !fits(&self.not_paths)
            && !tags.clone().any(|tag| self.not_tags.contains(tag))
            && (self.tags.is_empty() || tags.any(|tag| self.tags.contains(tag)))
    }
}

/// Braces stand for parameters in paths, and for alternatives in patterns; so they are taken as they are.
fn compile(pattern: &str) -> Result<GlobMatcher, PathFilterError> {
    let mut escaped = String::with_capacity(pattern.len());
    for character in pattern.chars() {
        match character {
            '{' => escaped.push_str("[{]"),
            '}' => escaped.push_str("[}]"),
            other => escaped.push(other),
        }
    }
    let glob: Result<Glob, globset::Error> =
        GlobBuilder::new(&escaped).literal_separator(true).backslash_escape(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|source| PathFilterError { pattern: pattern.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::{Candidate, Selection};
    use http::Method;

    #[track_caller]
    fn check(selection: &Selection, switched: Option<bool>, expected: bool) {
        let candidate = Candidate {
            id: Some("pets/show"),
            name: "pets_show",
            method: &Method::GET,
            path: "/pets/{id}",
            deprecated: true,
            switched,
        };
        assert_eq!(selection.chooses(candidate, ["pets", "read"].into_iter()), expected, "{selection:?}");
    }

    #[test]
    fn every_kind_of_condition_has_to_be_met_by_any_of_its_values() {
        let all = Selection::default();
        check(&all, None, true);
        check(&all.clone().tags(["cats", "pets"]), None, true);
        check(&all.clone().tags(["cats"]), None, false);
        check(&all.clone().tags(["pets"]).methods([Method::PUT]), None, false);
        check(&all.clone().without_tags(["read"]), None, false);
        check(&all.clone().operations(["pets/show"]), None, true);
        check(&all.clone().operations(["pets_show"]), None, true);
        check(&all.clone().without_operations(["pets_show"]), None, false);
        check(&all.without_deprecated(), None, false);
    }

    #[test]
    fn patterns_of_paths_take_braces_as_they_are() {
        let all = Selection::default();
        check(&all.clone().paths(["/pets/*"]).unwrap(), None, true);
        check(&all.clone().paths(["/pets/{id}"]).unwrap(), None, true);
        check(&all.clone().paths(["/*"]).unwrap(), None, false);
        check(&all.clone().without_paths(["/**"]).unwrap(), None, false);
        assert!(all.paths(["[z-a]"]).is_err());
    }

    #[test]
    fn the_switches_of_a_vendor_count() {
        let all = Selection::default();
        check(&all, Some(false), false);
        check(&all.clone().ignoring_switches(), Some(false), true);
        check(&all.clone().only_switched_on(), None, false);
        check(&all.only_switched_on(), Some(true), true);
    }
}
