use super::ladder::{Level, Match};
use super::plan::Edit;
use crate::lines::line_feeds;
use crate::words::{Count, counted, joined};

/// How many of the lines in which a text occurs are named.
const NAMED_LINES: usize = 50;

/// By how many times the next place must be farther from the line that was named than the nearest.
const FARTHER: u64 = 3;

/// How many places an edit wants to replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The only one, or the one nearest to a line.
    One { near_line: Option<u64> },
    /// So many, two or more.
    Exactly(u64),
    /// However many there are.
    All,
}

impl Wanted {
    pub(super) fn of(edit: &Edit) -> Result<Self, String> {
        match (edit.all, edit.expected, edit.near_line) {
            (true, _, None) => Ok(Self::All),
            (false, 1, near_line) => Ok(Self::One { near_line }),
            (false, expected, None) => Ok(Self::Exactly(expected)),
            _ => {
                Err("`near_line` chooses one place; leave it out, or leave out `all` and `expected`"
                    .to_owned())
            }
        }
    }
}

/// Chooses, of all places where a text was found, those that an edit replaces.
pub(super) fn choose(
    content: &str,
    level: Level,
    found: Vec<Match>,
    wanted: Wanted,
) -> Result<Vec<Match>, String> {
    let among = match level.words() {
        None => String::new(),
        Some(words) => format!(" but for {words}"),
    };
    let mut apart: Vec<Match> = Vec::with_capacity(found.len());
    for place in &found {
        if apart.last().is_none_or(|last| last.place.end <= place.place.start) {
            apart.push(place.clone());
        }
    }
    let times = counted(apart.len() as u64, "time", "times");
    match wanted {
        Wanted::All => Ok(apart),
        Wanted::Exactly(expected) if apart.len() as u64 == expected => Ok(apart),
        Wanted::Exactly(expected) => Err(format!(
            "`old` occurs {times}{among}, in {}, and not {} as expected; correct `expected`, or set `all`",
            line_list(content, &apart),
            Count(expected)
        )),
        Wanted::One { .. } if found.len() == 1 => Ok(found),
        Wanted::One { near_line: Some(line) } => nearest_to(content, &found, line, &among),
        Wanted::One { near_line: None } if apart.len() == 1 => Err(format!(
            "`old` occurs {}{among}, in places that overlap, in {}; add text around it so that it is unique",
            if found.len() == 2 { "twice".to_owned() } else { counted(found.len() as u64, "time", "times") },
            line_list(content, &found)
        )),
        Wanted::One { near_line: None } => Err(format!(
            "`old` occurs {times}{among}, in {}; add lines around it so that it is unique, name one of these lines as \
             `near_line`, or set `all` to replace every one",
            line_list(content, &apart)
        )),
    }
}

/// Takes the place nearest to a line, if it is clearly that.
fn nearest_to(content: &str, found: &[Match], line: u64, among: &str) -> Result<Vec<Match>, String> {
    let distances = lines(content, found).map(|start| start.abs_diff(line));
    let mut by_distance: Vec<(u64, usize)> = distances.zip(0..).collect();
    by_distance.sort_unstable();
    match by_distance[..] {
        [(nearest, index), (next, _), ..] if nearest * FARTHER < next => Ok(vec![found[index].clone()]),
        _ => Err(format!(
            "`old` occurs {}{among}, in {}, and line {} is not clearly nearest to one of them; name one of these lines as \
             `near_line`",
            counted(found.len() as u64, "time", "times"),
            line_list(content, found),
            Count(line)
        )),
    }
}

/// Gives the number of the line at which each place starts.
fn lines<'a>(content: &'a str, places: &'a [Match]) -> impl Iterator<Item = u64> + 'a {
    let (mut line, mut counted) = (1, 0);
    places.iter().map(move |found| {
        line += line_feeds(&content.as_bytes()[counted..found.place.start]);
        counted = found.place.start;
        line
    })
}

/// Names the lines at which places start: `lines 4, 17 and 32`.
pub(super) fn line_list(content: &str, places: &[Match]) -> String {
    let mut named: Vec<String> =
        lines(content, places).take(NAMED_LINES).map(|line| Count(line).to_string()).collect();
    named.dedup();
    let more = places.len().saturating_sub(NAMED_LINES);
    if more > 0 {
        named.push(format!("{} more", Count(more as u64)));
    }
    let noun = if named.len() == 1 { "line" } else { "lines" };
    format!("{noun} {}", joined(&named, "and"))
}
