use super::projection::{Blind, Projection};
use super::shift::{Shift, shifts};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

/// In what a text may differ from the place in the file that it is found at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// In nothing.
    Exact,
    /// In how lines end.
    LineEnds,
    /// In the blanks at the ends of lines too.
    TrailingBlanks,
    /// In one shift of all lines too.
    Indentation,
    /// In which of several characters a punctuation mark is written with, but not in the indentation.
    Punctuation,
}

impl Level {
    /// Says what was looked over; nothing where that is nothing.
    pub(super) fn words(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::LineEnds => Some("line endings"),
            Self::TrailingBlanks => Some("blanks at the ends of lines"),
            Self::Indentation => Some("indentation"),
            Self::Punctuation => Some("kinds of punctuation and blanks"),
        }
    }

    fn blind(self) -> Blind {
        Blind { trailing: self >= Self::TrailingBlanks, punctuation: self == Self::Punctuation }
    }
}

/// A place where a text is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) place: Range<usize>,
    pub(super) kind: MatchKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MatchKind {
    /// In the projection of its level, from this place on.
    Projected(usize),
    /// As whole lines that start at these places, each shifted in one of these ways.
    Lines { starts: Vec<usize>, shifts: Vec<Shift> },
    /// From this place on at the end of a file whose last line has no end, which the text has.
    Unended(usize),
}

/// The content of a file, and what it is like without what makes no difference.
pub(super) struct Ladder<'a> {
    content: &'a str,
    ends: OnceCell<Projection<'a>>,
    trailing: OnceCell<Projection<'a>>,
    punctuation: OnceCell<Projection<'a>>,
}

impl<'a> Ladder<'a> {
    pub(super) fn new(content: &'a str) -> Self {
        Self { content, ends: OnceCell::new(), trailing: OnceCell::new(), punctuation: OnceCell::new() }
    }

    pub(super) fn content(&self) -> &'a str {
        self.content
    }

    /// Finds every place of a text at the first level that has any.
    pub(super) fn find(&self, old: &str, new: &str) -> Option<(Level, Vec<Match>)> {
        let levels =
            [Level::Exact, Level::LineEnds, Level::TrailingBlanks, Level::Indentation, Level::Punctuation];
        levels.into_iter().find_map(|level| {
            let found = match level {
                Level::Exact if self.is_exact_elsewhere(old) => Vec::new(),
                Level::Exact => exactly(self.content, old),
                Level::Indentation => shifted(self.content, old),
                level => self.projected(level, old),
            };
            let found = match level {
                Level::LineEnds if found.is_empty() => self.unended(old, new),
                _ => found,
            };
            (!found.is_empty()).then_some((level, found))
        })
    }

    /// Finds where else a text may be meant that was found by a shift of its lines: that level and the next look over different
    /// things, so that neither is closer than the other.
    pub(super) fn as_close(&self, level: Level, old: &str, found: &[Match]) -> Vec<Match> {
        if level != Level::Indentation {
            return Vec::new();
        }
        let mut others = self.projected(Level::Punctuation, old);
        let overlaps = |one: &Match, other: &Match| {
            one.place.start < other.place.end && other.place.start < one.place.end
        };
        others.retain(|other| !found.iter().any(|one| overlaps(one, other)));
        others
    }

    /// Tells whether a line end that is found exactly may be the half of one.
    fn is_exact_elsewhere(&self, old: &str) -> bool {
        old.contains('\n') && !old.contains('\r') && self.content.contains('\r')
    }

    /// Finds the places where exactly this text is, whatever its lines end in.
    pub(super) fn find_plainly(&self, text: &str) -> Vec<Match> {
        let found = exactly(self.content, text);
        if found.is_empty() { self.projected(Level::LineEnds, text) } else { found }
    }

    /// What the content is like at a level that is found by projection.
    pub(super) fn projection(&self, level: Level) -> &Projection<'a> {
        let cell = match level {
            Level::Exact | Level::LineEnds => &self.ends,
            Level::TrailingBlanks | Level::Indentation => &self.trailing,
            Level::Punctuation => &self.punctuation,
        };
        cell.get_or_init(|| Projection::new(self.content, level.blind()))
    }

    /// Finds a text that ends its last line at the end of a file that does not.
    fn unended(&self, old: &str, new: &str) -> Vec<Match> {
        let old = unified(old);
        let content = &self.projection(Level::LineEnds).text;
        match old.strip_suffix('\n') {
            Some(old)
                if !old.is_empty()
                    && new.ends_with('\n')
                    && !content.ends_with('\n')
                    && content.ends_with(old) =>
            {
                let start = content.len() - old.len();
                let place = self.projection(Level::LineEnds).place(&(start..content.len()));
                vec![Match { place, kind: MatchKind::Unended(start) }]
            }
            _ => Vec::new(),
        }
    }

    fn projected(&self, level: Level, old: &str) -> Vec<Match> {
        let wanted = project(old, level).text;
        if level > Level::LineEnds && wanted.trim().is_empty() {
            return Vec::new();
        }
        let projection = self.projection(level);
        // What was left out behind the end of the text must be what is left out of a line there.
        let at_line_end = level >= Level::TrailingBlanks && old.ends_with([' ', '\t']);
        let ends_well =
            |end: usize| !at_line_end || matches!(projection.text.as_bytes().get(end), None | Some(b'\n'));
        occurrences(&projection.text, &wanted)
            .filter(|start| ends_well(start + wanted.len()))
            .map(|start| Match {
                place: projection.place(&(start..start + wanted.len())),
                kind: MatchKind::Projected(start),
            })
            .collect()
    }
}

/// Writes a text as it is compared at a level.
pub(super) fn project(text: &str, level: Level) -> Projection<'_> {
    Projection::new(text, level.blind())
}

/// Writes every line end as LF.
pub(super) fn unified(text: &str) -> Cow<'_, str> {
    project(text, Level::LineEnds).text
}

fn exactly(content: &str, old: &str) -> Vec<Match> {
    occurrences(content, old)
        .map(|start| Match { place: start..start + old.len(), kind: MatchKind::Projected(start) })
        .collect()
}

/// Finds every place of a text, also those that overlap the one before.
fn occurrences<'t>(content: &'t str, wanted: &'t str) -> impl Iterator<Item = usize> + 't {
    let finder = memchr::memmem::Finder::new(wanted.as_bytes()).into_owned();
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + finder.find(content.as_bytes().get(from..)?)?;
        from = start + wanted.chars().next().map_or(1, char::len_utf8);
        Some(start)
    })
}

/// Finds whole lines that one shift of their indentation makes of a text.
fn shifted(content: &str, old: &str) -> Vec<Match> {
    let wanted: Vec<&str> = old.lines().collect();
    let bare = |line: &str| inner(line).len();
    let Some(anchor) = (0..wanted.len()).max_by_key(|index| bare(wanted[*index])) else {
        return Vec::new();
    };
    if bare(wanted[anchor]) == 0 {
        return Vec::new();
    }
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let mut starts = Vec::with_capacity(lines.len() + 1);
    starts.push(0);
    for line in &lines {
        starts.push(starts[starts.len() - 1] + line.len());
    }
    let matches_at = |first: usize| {
        let found = lines.get(first..first + wanted.len())?;
        if found.iter().zip(&wanted).any(|(line, wanted)| inner(line) != inner(wanted)) {
            return None;
        }
        let shifts = shifts(wanted.iter().copied().zip(found.iter().map(|line| ends_trimmed(line))));
        if shifts.is_empty() {
            return None;
        }
        let (start, mut end) = (starts[first], starts[first + wanted.len()]);
        if !old.ends_with('\n') {
            end = starts[first + wanted.len() - 1] + ends_trimmed(found[wanted.len() - 1]).len();
        } else if !content[..end].ends_with('\n') {
            return None;
        }
        let starts = starts[first..first + wanted.len()].to_vec();
        Some(Match { place: start..end, kind: MatchKind::Lines { starts, shifts } })
    };
    let wanted_anchor = inner(wanted[anchor]);
    (0..lines.len())
        .filter(|index| inner(lines[*index]) == wanted_anchor)
        .filter_map(|index| matches_at(index.checked_sub(anchor)?))
        .collect()
}

/// Leaves out the indentation too; other blanks than those it is made of count.
fn inner(line: &str) -> &str {
    ends_trimmed(line).trim_start_matches([' ', '\t'])
}

/// Leaves out the line's end and the blanks before it.
fn ends_trimmed(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r', ' ', '\t'])
}
