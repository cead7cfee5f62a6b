use super::name_glob::fold;
use super::parse::Step;
use super::place::{Case, Told};
use super::protection::{Places, Protection};
use super::tree::{AboveRoot, Entry, Extent, PathTree, Start};
use haft_tools_core::{PatternSet, Resource};
use std::sync::Arc;

/// One pattern of a list, where it starts resolved.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) index: usize,
    pub(super) start: Start,
    pub(super) steps: Vec<Step>,
    pub(super) means_trees: bool,
}

/// The patterns of one list of rules.
#[derive(Debug)]
pub(super) struct CompiledPaths {
    count: usize,
    /// Compared as they are written, for what must be contained.
    strict: PathTree,
    /// Compared whatever the letter case, and each with all below it, for what must not be touched.
    loose: PathTree,
    root: Option<Vec<Box<str>>>,
    protection: Option<Protection>,
    /// The first pattern that means all that is protected.
    all_protected: Option<usize>,
}

impl CompiledPaths {
    pub(super) fn new(
        count: usize,
        patterns: &[Ready],
        root: Option<&[Box<str>]>,
        places: Option<&Arc<Places>>,
        all_protected: Option<usize>,
    ) -> Self {
        let folded: Vec<Vec<Step>> =
            patterns.iter().map(|pattern| pattern.steps.iter().map(Step::folded).collect()).collect();
        let strict = || patterns.iter().map(Ready::entry);
        let loose =
            strict().zip(&folded).map(|(entry, steps)| Entry { steps, extent: Extent::Tree, ..entry });
        let folded_root: Option<Vec<Box<str>>> =
            root.map(|root| root.iter().map(|name| fold(name).into()).collect());
        Self {
            count,
            strict: PathTree::new(strict(), root, AboveRoot::Counts),
            loose: PathTree::new(loose, folded_root.as_deref(), AboveRoot::Counts),
            root: root.map(<[_]>::to_vec),
            protection: places.map(|places| Protection::new(places, strict(), root)),
            all_protected,
        }
    }
}

impl Ready {
    fn entry(&self) -> Entry<'_> {
        let extent = if self.means_trees { Extent::Tree } else { Extent::Itself };
        Entry { index: self.index, start: self.start, steps: &self.steps, extent }
    }
}

impl PatternSet for CompiledPaths {
    fn first_containing(&self, resource: &Resource) -> Option<usize> {
        let Told::Place(place) = Told::by(resource, self.root.as_deref(), Case::Matters) else { return None };
        let first = self.strict.containing(place.start, place.names(), place.extent);
        first.or(self.all_protected)?;
        match self.protection.as_ref().filter(|protection| protection.concerns(&place)) {
            None => first,
            Some(protection) => {
                let opening = first.and_then(|_| protection.first_opening(&place));
                opening.into_iter().chain(self.all_protected).min()
            }
        }
    }

    fn first_touching(&self, resource: &Resource) -> Option<usize> {
        let root = self.root.as_deref();
        let place = match Told::by(resource, root, Case::Ignored) {
            Told::Place(place) => place,
            Told::Unclear => return (self.count > 0).then_some(0),
            Told::Nothing => return None,
        };
        let first = self.loose.touching(place.start, place.names().map(fold), place.extent);
        // What starts in the working directory is touched by a tree around it, too.
        let is_around = root.is_some_and(|root| place.is_above(root, Case::Ignored));
        let inside = self.loose.first_inside().filter(|_| is_around);
        let is_protected = || self.protection.as_ref().is_some_and(|protection| protection.concerns(&place));
        let protected = self.all_protected.filter(|_| is_protected());
        [first, inside, protected].into_iter().flatten().min()
    }
}
