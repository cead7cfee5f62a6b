use super::name_glob::fold;
use super::parse::{Base, PathPattern, Step, parse};
use super::place::Place;
use super::protected::protected_places;
use super::tree::{AboveRoot, Entry, Extent, PathTree, Start};
use haft_core::is_hidden;
use std::borrow::Cow;
use std::sync::{Arc, LazyLock, OnceLock};

/// A protected place with its steps, folded.
#[derive(Debug, Clone)]
pub(super) struct Guarded {
    steps: Vec<Step>,
    extent: Extent,
    /// From where it is meant; from both where it is meant at any depth.
    starts: &'static [Start],
    shown: Box<str>,
    reason: &'static str,
}

impl Guarded {
    /// Makes one, shown as `shown`, of a pattern whose home is resolved.
    pub(super) fn new(pattern: &PathPattern, extent: Extent, shown: &str, reason: &'static str) -> Self {
        // Paths are looked up in the same spelling.
        let steps = pattern.steps.iter().map(|step| match step {
            Step::Name(name) => Step::Name(fold_leniently(name).into()),
            step => step.folded(),
        });
        let steps = steps.collect();
        let starts: &[Start] = match (pattern.base, pattern.steps.first()) {
            (Base::Root, Some(Step::Deep)) => &[Start::Inside, Start::Top],
            (Base::Root, _) => &[Start::Inside],
            (Base::Home | Base::Top, _) => &[Start::Top],
        };
        Self { steps, extent, starts, shown: shown.into(), reason }
    }

    /// The places that are protected everywhere.
    pub(super) fn everywhere() -> Vec<Self> {
        static READ: LazyLock<Vec<Guarded>> = LazyLock::new(|| {
            let guarded = protected_places().iter().map(|place| {
                let patterns = parse(place.pattern()).unwrap_or_default();
                patterns.into_iter().map(|mut pattern| {
                    if pattern.steps.first() != Some(&Step::Deep) {
                        pattern.steps.insert(0, Step::Deep);
                    }
                    Guarded::new(&pattern, place.extent(), place.pattern(), place.reason())
                })
            });
            guarded.flatten().collect()
        });
        READ.clone()
    }

    /// What is meant from `/` at any depth is met in a working directory too, if it is known where that is.
    fn entries(&self, index: usize, is_root_known: bool) -> impl Iterator<Item = Entry<'_>> {
        let starts = match self.starts {
            [_, Start::Top] if is_root_known => &[Start::Top],
            starts => starts,
        };
        let entry =
            move |start: &Start| Entry { index, start: *start, steps: &self.steps, extent: self.extent };
        starts.iter().map(entry)
    }

    /// Tells whether a pattern writes out the names of this place, one behind the other. One that means what lies below a
    /// place does not name the place itself.
    fn is_named_by(&self, steps: &[Step]) -> bool {
        let own = self.steps.strip_prefix(&[Step::Deep]).unwrap_or(&self.steps);
        (0..=steps.len()).any(|from| names(own, &steps[from..], self.extent))
    }
}

/// Tells whether steps begin with the names of a place. Where it has a form, a name of that form must be there.
fn names(place: &[Step], steps: &[Step], extent: Extent) -> bool {
    let (Some((expected, rest)), first) = (place.split_first(), steps.first()) else {
        return extent == Extent::Tree || steps.is_empty();
    };
    let is_name = |takes: &dyn Fn(&str) -> bool| match first {
        Some(Step::Name(name)) => takes(&fold_leniently(name)) && names(rest, &steps[1..], extent),
        _ => false,
    };
    match expected {
        Step::Name(expected) => is_name(&|name| **expected == *name),
        Step::Glob(glob) => is_name(&|name| glob.matches(name)),
        Step::Any => first.is_some() && names(rest, &steps[1..], extent),
        Step::Deep => (0..=steps.len()).any(|skipped| names(rest, &steps[skipped..], extent)),
    }
}

/// Finds protected places; one for all lists of patterns, since it is large.
///
/// The trees are made when something is looked up in them: most programs that read rules end before they decide about
/// writing.
#[derive(Debug)]
pub(super) struct Places {
    guarded: Vec<Guarded>,
    /// The names above and of the working directory, folded, where that is known.
    root: Option<Vec<Box<str>>>,
    all: OnceLock<PathTree>,
    /// Each place for itself.
    single: OnceLock<Vec<PathTree>>,
}

/// Keeps wildcards from opening protected places.
#[derive(Debug)]
pub(super) struct Protection {
    places: Arc<Places>,
    openers: Vec<Opener>,
}

/// A pattern that names protected places.
#[derive(Debug)]
struct Opener {
    index: usize,
    tree: PathTree,
    opens: Vec<usize>,
}

impl Places {
    pub(super) fn new(guarded: &[Guarded], root: Option<&[Box<str>]>) -> Self {
        let root = root.map(|root| root.iter().map(|name| fold_leniently(name).into()).collect());
        Self { guarded: guarded.to_vec(), root, all: OnceLock::new(), single: OnceLock::new() }
    }

    fn tree<'a>(&self, entries: impl Iterator<Item = Entry<'a>>) -> PathTree {
        PathTree::new(entries, self.root.as_deref(), AboveRoot::Ignored)
    }

    fn all(&self) -> &PathTree {
        let places = self.guarded.iter().enumerate();
        self.all.get_or_init(|| {
            self.tree(places.flat_map(|(index, place)| place.entries(index, self.root.is_some())))
        })
    }

    fn single(&self) -> &[PathTree] {
        let tree = |place: &Guarded| self.tree(place.entries(0, self.root.is_some()));
        self.single.get_or_init(|| self.guarded.iter().map(tree).collect())
    }

    /// Tells whether a place is protected, lies in one that is, or could have one in it.
    pub(super) fn concern(&self, place: &Place<'_>) -> bool {
        self.all().touching(place.start, folded(place), place.extent).is_some()
    }

    /// Says what is protected at a place, for people.
    pub(super) fn remark(&self, place: &Place<'_>) -> Option<String> {
        if !self.concern(place) {
            return None;
        }
        let remark = match self.around(place).first() {
            Some((_, Guarded { shown, reason, .. })) => {
                format!("`{shown}` is protected, because {reason}: only a pattern that writes out its name allows it")
            }
            None => "a tree could have protected places in it, such as `.git/hooks` or `.envrc`: no pattern of paths allows all of it"
                .to_owned(),
        };
        Some(remark)
    }

    /// The protected places that a place is, or lies in, by their number.
    fn around(&self, place: &Place<'_>) -> Vec<(usize, &Guarded)> {
        let is_in = |tree: &PathTree| tree.touching(place.start, folded(place), Extent::Itself).is_some();
        let places = self.single().iter().zip(&self.guarded).enumerate();
        places.filter(|(_, (tree, _))| is_in(tree)).map(|(index, (_, guarded))| (index, guarded)).collect()
    }
}

impl Protection {
    /// Lets the patterns that name protected places open them.
    pub(super) fn new<'a>(
        places: &Arc<Places>,
        patterns: impl IntoIterator<Item = Entry<'a>>,
        root: Option<&[Box<str>]>,
    ) -> Self {
        let openers = patterns.into_iter().filter_map(|entry| {
            let places = places.guarded.iter().enumerate();
            let opens = places.filter(|(_, place)| place.is_named_by(entry.steps));
            let opens: Vec<usize> = opens.map(|(index, _)| index).collect();
            let tree = |opens| Opener {
                index: entry.index,
                tree: PathTree::new([entry], root, AboveRoot::Counts),
                opens,
            };
            (!opens.is_empty()).then(|| tree(opens))
        });
        Self { places: Arc::clone(places), openers: openers.collect() }
    }

    /// Tells whether a place is protected, lies in one that is, or could have one in it.
    pub(super) fn concerns(&self, place: &Place<'_>) -> bool {
        self.places.concern(place)
    }

    /// Finds the first pattern that contains a place and names all that is protected there.
    ///
    /// What could be anywhere below is not asked about in a tree that lies in a protected one.
    pub(super) fn first_opening(&self, place: &Place<'_>) -> Option<usize> {
        let found = self.places.around(place);
        if place.extent == Extent::Tree && found.iter().all(|(_, guarded)| guarded.extent == Extent::Itself) {
            return None;
        }
        let opening = self.openers.iter().find(|opener| {
            found.iter().all(|(index, _)| opener.opens.contains(index))
                && opener.tree.containing(place.start, place.names(), place.extent).is_some()
        });
        opening.map(|opener| opener.index)
    }
}

fn folded<'a>(place: &Place<'a>) -> impl Iterator<Item = Cow<'a, str>> {
    place.names().map(fold_leniently)
}

/// Writes a name as the most lenient file system takes it: whatever the letter case, without what cannot be seen (HFS+),
/// without blanks and dots at the end (FAT), without a stream (NTFS), and with the short name of `.git` (FAT) as that.
///
/// The list is that of git's own `core.protectHFS` and `core.protectNTFS`.
fn fold_leniently(name: &str) -> Cow<'_, str> {
    let is_usual = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase() && !matches!(byte, b':' | b'~');
    if name.bytes().all(is_usual) && !name.ends_with([' ', '.']) {
        return Cow::Borrowed(name);
    }
    let is_seen = |character: &char| character.is_ascii() || !is_hidden(*character);
    let seen: String = name.chars().filter(is_seen).collect();
    let file = seen.split(':').next().unwrap_or_default().trim_end_matches([' ', '.']);
    // A name of these characters alone is no other's.
    let file = if file.is_empty() { &seen } else { file };
    let folded = fold(file);
    if folded == "git~1" { Cow::Borrowed(".git") } else { Cow::Owned(folded.into_owned()) }
}
