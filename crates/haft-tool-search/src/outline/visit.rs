use super::Request;
use super::entry::Entry;
use super::grammar::Grammar;
use super::input::Role;
use super::kind::Kind;
use super::language;
use super::name_pattern::NamePattern;
use super::parse::{NoTree, TextParser, first_error_line};
use super::references::references;
use super::shape;
use super::source::{Source, count_lines, read};
use super::symbols::{Symbols, symbols};
use super::tally::Tally;
use crate::scan::{Place, Visit};
use crate::watch::{Halt, Stop};
use haft_workdir::{EntryKind, Error, WalkListing, WorkdirPath};
use std::collections::HashSet;
use std::fs::File;
use std::sync::{Mutex, PoisonError};
use tree_sitter::Tree;

/// How many symbols of one file of a directory are given; more of one would leave no room for others.
pub(super) const OF_ONE_FILE: usize = 40;

/// From which size on files are parsed one after the other, in bytes, so that few large trees are held at once.
const LARGE: usize = 512 << 10;

/// What a part of a search brings, in the order of the paths.
#[derive(Debug)]
pub(super) enum Item {
    Tally(Tally),
    Outlined(FileOutline),
    Named(FileNamed),
}

/// What a file defines. It is counted as searched by itself.
#[derive(Debug)]
pub(super) struct FileOutline {
    pub(super) path: WorkdirPath,
    pub(super) language: &'static str,
    pub(super) lines: usize,
    pub(super) error_line: Option<usize>,
    /// How many symbols there are to be given.
    pub(super) total: u64,
    /// How many of them are left out, since it is one file of many.
    pub(super) left_out: u64,
    /// Whether there are more than were counted.
    pub(super) has_more: bool,
    /// How many are before the first that is here.
    pub(super) from: u64,
    pub(super) entries: Vec<Entry>,
}

/// Where a file has a name. It is counted as searched by itself.
#[derive(Debug)]
pub(super) struct FileNamed {
    pub(super) path: WorkdirPath,
    pub(super) is_broken: bool,
    pub(super) definitions: Entries,
    pub(super) references: Entries,
}

/// How many there are, with the first of them, as many as could be needed.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pub(super) total: u64,
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug, Default)]
pub(super) struct Part(pub(super) Vec<Item>);

impl Part {
    fn tally(&mut self) -> &mut Tally {
        if !matches!(self.0.last(), Some(Item::Tally(_))) {
            self.0.push(Item::Tally(Tally::default()));
        }
        match self.0.last_mut() {
            Some(Item::Tally(tally)) => tally,
            _ => unreachable!("a tally was put there if none was"),
        }
    }
}

/// Looks into the files that a request asks for.
pub(super) struct OutlineVisit<'r> {
    pub(super) request: &'r Request,
    /// Held by who parses a large file.
    pub(super) large: Mutex<()>,
}

/// What a thread keeps from one file to the next.
pub(super) struct Buffers {
    parser: TextParser,
    text: Vec<u8>,
}

impl Visit for OutlineVisit<'_> {
    type Buffers = Buffers;
    type Part = Part;
    const IS_CHEAP: bool = false;

    fn buffers(&self) -> Buffers {
        Buffers { parser: TextParser::new(), text: Vec::new() }
    }

    fn choose(
        &self,
        _: &mut Buffers,
        start: &WorkdirPath,
        listing: &WalkListing,
        part: &mut Part,
    ) -> Vec<usize> {
        let tally = part.tally();
        tally.skipped += listing.skipped();
        let takes = self.request.filter.below(start, listing.path());
        let mut chosen = Vec::new();
        for (at, entry) in listing.entries().iter().enumerate() {
            let name = entry.name();
            if entry.kind() != EntryKind::File || entry.passed_over().is_some() || !takes(name) {
                continue;
            }
            if language::by_name(name).is_some() {
                chosen.push(at);
            } else {
                tally.add_other(language::extension(name), 1);
            }
        }
        chosen
    }

    fn unreadable(&self, part: &mut Part) {
        part.tally().skipped.unreadable += 1;
    }

    fn visit(
        &self,
        buffers: &mut Buffers,
        place: Place<'_>,
        part: &mut Part,
        halt: &Halt<'_>,
    ) -> Result<(), Stop> {
        let (file, path) = match self.open(place) {
            Ok(opened) => opened,
            Err(Error::NotFound { .. }) => return Ok(()),
            Err(_) => {
                part.tally().unreadable_files += 1;
                return Ok(());
            }
        };
        match read(file, &mut buffers.text, halt)? {
            Source::Text => {}
            Source::Binary => {
                part.tally().binary += 1;
                return Ok(());
            }
            Source::TooLarge => {
                part.tally().too_large += 1;
                return Ok(());
            }
            Source::Unreadable => {
                part.tally().unreadable_files += 1;
                return Ok(());
            }
        }
        let looked_into = match &self.request.name {
            None => self.outline(buffers, path, halt),
            Some((pattern, role)) => named(self.request, buffers, path, pattern, *role, &self.large, halt),
        };
        match looked_into {
            Ok(Some(item)) => part.0.push(item),
            Ok(None) => {
                part.tally().searched += 1;
                part.tally().empty += 1;
            }
            Err(NoTree::GaveUp) => part.tally().unreadable_files += 1,
            Err(NoTree::Stopped(stop)) => return Err(stop),
        }
        Ok(())
    }

    fn weight(part: &Part) -> usize {
        let weight = |item: &Item| match item {
            Item::Tally(_) => 0,
            Item::Outlined(file) => 1 + file.entries.len(),
            Item::Named(file) => 1 + file.definitions.entries.len() + file.references.entries.len(),
        };
        part.0.iter().map(weight).sum()
    }
}

impl OutlineVisit<'_> {
    fn open(&self, place: Place<'_>) -> Result<(File, WorkdirPath), Error> {
        match place {
            Place::Entry(listing, entry) => {
                listing.open_file(entry).map(|(file, _)| (file, listing.path_of(entry)))
            }
            Place::Path(path) => {
                self.request.workdir.open_file_with_metadata(path).map(|(file, _)| (file, path.clone()))
            }
        }
    }

    fn outline(
        &self,
        buffers: &mut Buffers,
        path: WorkdirPath,
        halt: &Halt<'_>,
    ) -> Result<Option<Item>, NoTree> {
        let request = self.request;
        let Buffers { parser, text } = buffers;
        let Some(grammar) = language::of(path.file_name().unwrap_or_default(), text) else { return Ok(None) };
        let _alone = alone(&self.large, text);
        let tree = parse_shape(parser, grammar, text, halt)?;
        let deepest = usize::from(request.depth) - 1;
        let Symbols { all, has_more } = symbols(grammar, &tree, deepest, halt)?;
        let mut shown: Vec<_> = all.iter().filter(|symbol| !symbol.kind.is_data()).collect();
        // Several names of one declaration have one line.
        shown.dedup_by(|next, before| next.node == before.node && next.depth == before.depth);
        let error_line = first_error_line(&tree);
        if shown.is_empty() && !request.is_one_file() && error_line.is_none() {
            return Ok(None);
        }
        let (from, most) = if request.is_one_file() {
            (request.offset, usize::try_from(request.limit).unwrap_or(usize::MAX))
        } else {
            (0, OF_ONE_FILE)
        };
        let window = shown.iter().skip(usize::try_from(from).unwrap_or(usize::MAX)).take(most);
        let entries: Vec<Entry> =
            window.map(|symbol| Entry::of_symbol(grammar, symbol, text, symbol.depth == deepest)).collect();
        let total = shown.len() as u64;
        let left_out = if request.is_one_file() { 0 } else { total - entries.len() as u64 };
        Ok(Some(Item::Outlined(FileOutline {
            path,
            language: grammar.name,
            lines: count_lines(text),
            error_line,
            total,
            left_out,
            has_more,
            from,
            entries,
        })))
    }
}

/// Parses what an outline is made of: of a large file without the bodies in which nothing is defined, where that can be told.
///
/// Where that does not fit the language, the whole is parsed, so that what is wrong is where it is in the file.
fn parse_shape(
    parser: &mut TextParser,
    grammar: &'static Grammar,
    text: &[u8],
    halt: &Halt<'_>,
) -> Result<Tree, NoTree> {
    if text.len() >= shape::FROM_BYTES
        && let Some(shape) = grammar.without_bodies.and_then(|bodies| bodies.without(text))
    {
        let tree = parser.parse_parts(grammar, &shape.text, &shape.parts, halt)?;
        if !tree.root_node().has_error() {
            return Ok(tree);
        }
    }
    parser.parse(grammar, text, halt)
}

/// Waits until no other large file is parsed, if this is one.
fn alone<'m>(large: &'m Mutex<()>, text: &[u8]) -> Option<std::sync::MutexGuard<'m, ()>> {
    (text.len() > LARGE).then(|| large.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Looks for a name in a file; nothing where it does not have it.
fn named(
    request: &Request,
    buffers: &mut Buffers,
    path: WorkdirPath,
    pattern: &NamePattern,
    role: Role,
    large: &Mutex<()>,
    halt: &Halt<'_>,
) -> Result<Option<Item>, NoTree> {
    let Buffers { parser, text } = buffers;
    if pattern.places(text).next().is_none() {
        return Ok(None);
    }
    let Some(grammar) = language::of(path.file_name().unwrap_or_default(), text) else { return Ok(None) };
    let _alone = alone(large, text);
    let tree: Tree = parser.parse(grammar, text, halt)?;
    let most = usize::try_from(request.offset + request.limit).unwrap_or(usize::MAX);
    let Symbols { all, .. } = symbols(grammar, &tree, usize::MAX, halt)?;
    // To implement something is to use it.
    let defined: Vec<_> = all
        .iter()
        .filter(|symbol| symbol.kind != Kind::Impl && pattern.matches(&text[symbol.name.clone()]))
        .collect();
    let mut definitions = Entries::default();
    if role.has_definitions() {
        let entries = defined.iter().take(most).map(|symbol| Entry::of_symbol(grammar, symbol, text, true));
        definitions = Entries { total: defined.len() as u64, entries: entries.collect() };
    }
    let mut used = Entries::default();
    if role.has_references() {
        let names: HashSet<usize> = defined.iter().map(|symbol| symbol.name.start).collect();
        let mut found = references(grammar, &tree, text, pattern, halt)?;
        found.retain(|reference| !names.contains(&reference.node.start_byte()));
        found.dedup_by_key(|reference| reference.node.start_position().row);
        let entries = found.iter().take(most).map(|reference| Entry::of_reference(reference, text));
        used = Entries { total: found.len() as u64, entries: entries.collect() };
    }
    let is_broken = tree.root_node().has_error();
    if definitions.total + used.total == 0 && !is_broken {
        return Ok(None);
    }
    Ok(Some(Item::Named(FileNamed { path, is_broken, definitions, references: used })))
}
