use super::rule::{Matcher, PatternRule, Reach, Rule};
use super::syntax::{PatternSet, PatternSyntax};
use crate::selector::{Anchor, origin_words};
use crate::{Access, AccessMode, Resource, Scheme, Selector};
use haft_core::ToolSpec;
use std::collections::HashMap;
use std::sync::Arc;

/// Finds the first of many rules that matches, without trying each of them.
///
/// Rules that name tools are found by the tool's name or origin, those over resources by the paths above the resource, and
/// those over patterns by what their domain compiled them to.
#[derive(Debug, Clone, Default)]
pub(super) struct RuleIndex {
    by_name: HashMap<Box<str>, Vec<usize>, ahash::RandomState>,
    by_origin: HashMap<Box<str>, Vec<usize>, ahash::RandomState>,
    /// Rules that have to be tried one by one.
    others: Vec<usize>,
    modes: [ModeIndex; 5],
}

/// Finds rules of one mode.
#[derive(Debug, Clone, Default)]
struct ModeIndex {
    resources: Vec<(Scheme, ResourceIndex)>,
    patterns: Vec<CompiledPatterns>,
}

/// Finds rules over resources of one scheme.
#[derive(Debug, Clone, Default)]
struct ResourceIndex {
    by_path: HashMap<Box<str>, AtPath, ahash::RandomState>,
    /// All paths in order, with the first rule at each, to find what lies below one.
    in_order: Vec<(Box<str>, usize)>,
}

/// The first rules over exactly a path, and over it with all below.
#[derive(Debug, Clone, Copy, Default)]
struct AtPath {
    exact: Option<usize>,
    tree: Option<usize>,
}

#[derive(Debug, Clone)]
struct CompiledPatterns {
    set: Arc<dyn PatternSet>,
    /// The place of each pattern's rule in the list.
    places: Vec<usize>,
}

/// Gathers the rules whose patterns are of one syntax, with their places.
type OfSyntax<'a> = (Arc<dyn PatternSyntax>, Vec<(usize, &'a PatternRule)>);

impl RuleIndex {
    pub(super) fn of(rules: &[Rule]) -> Self {
        let mut index = Self::default();
        let mut patterns: [Vec<OfSyntax<'_>>; 5] = Default::default();
        for (place, rule) in rules.iter().enumerate() {
            match &rule.matcher {
                Matcher::Tools(selector) | Matcher::Calls(selector) | Matcher::Opaque(Some(selector)) => {
                    index.add_selector(selector, place);
                }
                Matcher::Opaque(None) => index.others.push(place),
                Matcher::Access { mode, within } => index.modes[*mode as usize].add(within, place),
                Matcher::Pattern(rule) => {
                    let of_mode = &mut patterns[rule.mode as usize];
                    match of_mode.iter_mut().find(|(syntax, _)| Arc::ptr_eq(syntax, &rule.syntax)) {
                        Some((_, rules)) => rules.push((place, rule)),
                        None => of_mode.push((Arc::clone(&rule.syntax), vec![(place, rule)])),
                    }
                }
            }
        }
        for (mode, patterns) in index.modes.iter_mut().zip(patterns) {
            for resources in &mut mode.resources {
                resources.1.in_order.sort_unstable();
            }
            for (syntax, rules) in patterns {
                let texts: Vec<Box<str>> = rules.iter().map(|(_, rule)| rule.text.clone()).collect();
                if let Ok(set) = syntax.compile(&texts) {
                    let places = rules.iter().map(|(place, _)| *place).collect();
                    mode.patterns.push(CompiledPatterns { set: Arc::from(set), places });
                } else {
                    // Each was compiled by itself before, so they can be tried one by one.
                    index.others.extend(rules.iter().map(|(place, _)| *place));
                }
            }
        }
        index
    }

    fn add_selector(&mut self, selector: &Selector, place: usize) {
        match selector.anchor() {
            Anchor::Name(name) => self.by_name.entry(name.into()).or_default().push(place),
            Anchor::Origin(origin) => self.by_origin.entry(origin.into()).or_default().push(place),
            Anchor::None => self.others.push(place),
        }
    }

    pub(super) fn first(
        &self,
        rules: &[Rule],
        tool: &ToolSpec,
        access: Option<&Access>,
        reach: Reach,
    ) -> Option<usize> {
        let first_of = |places: Option<&Vec<usize>>| {
            let mut places = places?.iter().copied();
            places.find(|place| rules[*place].matches(tool, access, reach))
        };
        let by_name = first_of(self.by_name.get(tool.name().as_str()));
        let by_origin = origin_words(tool.origin()).map(|word| first_of(self.by_origin.get(word?)));
        let by_resource = access.and_then(|access| Some((access.mode()?, access.resource()?))).and_then(
            |(mode, resource): (AccessMode, &Resource)| self.modes[mode as usize].first(resource, reach),
        );
        let found = [by_name, by_origin[0], by_origin[1], by_resource, first_of(Some(&self.others))];
        found.into_iter().flatten().min()
    }
}

impl ModeIndex {
    fn add(&mut self, within: &Resource, place: usize) {
        let known = self.resources.iter().position(|(scheme, _)| scheme == within.scheme());
        let known = known.unwrap_or_else(|| {
            self.resources.push((within.scheme().clone(), ResourceIndex::default()));
            self.resources.len() - 1
        });
        self.resources[known].1.add(within, place);
    }

    fn first(&self, resource: &Resource, reach: Reach) -> Option<usize> {
        let of_scheme = self.resources.iter().find(|(scheme, _)| scheme == resource.scheme());
        let by_resource = of_scheme.and_then(|(_, index)| index.first(resource, reach));
        let by_pattern = self.patterns.iter().filter_map(|CompiledPatterns { set, places }| {
            let found = match reach {
                Reach::All | Reach::AllByItself | Reach::Whole => set.first_containing(resource),
                Reach::Part => set.first_touching(resource),
            };
            places.get(found?).copied()
        });
        by_pattern.chain(by_resource).min()
    }
}

impl ResourceIndex {
    fn add(&mut self, within: &Resource, place: usize) {
        let at = self.by_path.entry(within.path().into()).or_default();
        if at.exact.is_none() && at.tree.is_none() {
            self.in_order.push((within.path().into(), place));
        }
        let first = if within.is_subtree() { &mut at.tree } else { &mut at.exact };
        first.get_or_insert(place);
    }

    fn first(&self, resource: &Resource, reach: Reach) -> Option<usize> {
        let path = resource.path();
        let at = |path: &str| self.by_path.get(path).copied().unwrap_or_default();
        let directories = path.match_indices('/').map(|(slash, _)| &path[..slash]);
        let above = std::iter::once("").chain(directories).chain([path]);
        let containing = above.filter_map(|path| at(path).tree).min();
        let same = at(path).exact.filter(|_| !resource.is_subtree());
        let below = (reach == Reach::Part && resource.is_subtree()).then(|| self.first_below(path)).flatten();
        [containing, same, below].into_iter().flatten().min()
    }

    /// Finds the first rule at a path or below it.
    fn first_below(&self, path: &str) -> Option<usize> {
        let from = self.in_order.partition_point(|(known, _)| &**known < path);
        let within = self.in_order[from..].iter().take_while(|(known, _)| known.starts_with(path));
        within
            .filter(|(known, _)| {
                path.is_empty() || known.len() == path.len() || known.as_bytes()[path.len()] == b'/'
            })
            .map(|(_, place)| *place)
            .min()
    }
}
