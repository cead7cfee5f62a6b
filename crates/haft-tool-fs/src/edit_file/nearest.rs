use crate::words::Count;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// How many lines of a file are shown.
const SHOWN_LINES: usize = 10;

/// What blanks are shown as.
const LEGEND: &str = "shown as → tab, · blank, ⍽ other blank, ␍ carriage return";

/// How many characters of a line are shown.
const SHOWN_CHARACTERS: usize = 160;

/// How many bytes of a file are searched, so that a failed edit of a large file is answered in time.
const SEARCHED_BYTES: usize = 4 * 1024 * 1024;

/// How many bytes of a line are compared.
const COMPARED_BYTES: usize = 400;

/// How alike two lines must be, from 0 to 1, for one to be shown as the nearest to the other.
const ALIKE: f64 = 0.5;

/// Says that a text does not occur in a file, and what there is that comes near it.
pub(crate) fn nearest(content: &str, old: &str, name: &str, tool: &str) -> String {
    let searched = &content[..content.floor_char_boundary(SEARCHED_BYTES)];
    let lines: Vec<&str> = searched.lines().collect();
    if let Some(found) = but_for_blanks(searched, old) {
        return blanks_differ(&lines, &found, old, name, tool);
    }
    let Some(start) = most_alike(&lines, old) else {
        return format!(
            "{name} does not occur in it, nor anything like it; read the file, then copy the old text from it"
        );
    };
    let shown = start..lines.len().min(start + old.lines().count().clamp(1, SHOWN_LINES));
    let mut text = format!(
        "{name} does not occur in it; the nearest is {} ({LEGEND}):\n",
        line_range(shown.start, shown.len())
    );
    for index in shown {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}\t{}", index + 1, visible_at_ends(lines[index]));
    }
    let _ = write!(
        text,
        "write the old text as it is there, with blanks for ·, or read the file around it, then call `{tool}` again"
    );
    text
}

/// Names lines by where they start, 0-based, and how many they are.
fn line_range(start: usize, count: usize) -> String {
    let first = Count(start as u64 + 1);
    if count <= 1 {
        format!("line {first}")
    } else {
        format!("lines {first}–{}", Count((start + count) as u64))
    }
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Finds the lines, 0-based, that hold a text if blanks and line breaks do not count.
fn but_for_blanks(content: &str, old: &str) -> Option<RangeInclusive<usize>> {
    let solid = |text: &str| text.chars().filter(|character| !character.is_whitespace()).collect::<String>();
    let wanted = solid(old);
    if wanted.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(content.len());
    let mut starts = Vec::new();
    for line in content.lines() {
        starts.push(text.len());
        text.extend(line.chars().filter(|character| !character.is_whitespace()));
    }
    let start = text.find(&wanted)?;
    let line_at = |place: usize| starts.partition_point(|start| *start <= place).saturating_sub(1);
    Some(line_at(start)..=line_at(start + wanted.len() - 1))
}

/// Shows a text beside the lines from which only blanks tell it apart, with the blanks made visible.
fn blanks_differ(lines: &[&str], found: &RangeInclusive<usize>, old: &str, name: &str, tool: &str) -> String {
    let (start, count) = (*found.start(), found.end() - found.start() + 1);
    // The ends of lines are never what differs here: those of the file are taken for them before.
    let wanted: Vec<&str> = old.trim_end().lines().skip_while(|line| line.trim().is_empty()).collect();
    // Lines that agree are left out up to the last one before the first that does not.
    let agree =
        wanted.iter().zip(&lines[found.clone()]).take_while(|(old, line)| line.contains(**old)).count();
    let from = agree.saturating_sub(1).min(count - 1);
    let mut text = format!(
        "{name} does not occur in it, but only blanks differ from {} ({LEGEND}):\n",
        line_range(start, count)
    );
    for (index, line) in lines[found.clone()].iter().enumerate().skip(from).take(SHOWN_LINES) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}\t{}", start + index + 1, visible(line));
    }
    let _ = writeln!(text, "and {name} is:");
    for line in wanted.iter().skip(from).take(SHOWN_LINES) {
        let _ = writeln!(text, "\t{}", visible(line));
    }
    let _ = write!(text, "write the blanks as they are in the file, then call `{tool}` again");
    text
}

fn visible(line: &str) -> String {
    shortened(&line.chars().map(visible_character).collect::<String>())
}

/// Makes the blanks at both ends of a line visible, and any in between that is not an ordinary one.
fn visible_at_ends(line: &str) -> String {
    let solid = line.trim_matches([' ', '\t']);
    let start = line.len() - line.trim_start_matches([' ', '\t']).len();
    let inside = start..start + solid.len();
    let visible = |(place, character): (usize, char)| {
        if character == ' ' && inside.contains(&place) { character } else { visible_character(character) }
    };
    shortened(&line.char_indices().map(visible).collect::<String>())
}

fn visible_character(character: char) -> char {
    match character {
        '\t' => '→',
        ' ' => '·',
        // There is a picture of each control character, in their order.
        other if other < ' ' => char::from_u32(0x2400 + u32::from(other)).unwrap_or(other),
        other if other.is_whitespace() => '⍽',
        other => other,
    }
}

/// Finds the line, 0-based, at which the lines most like a text start.
fn most_alike(lines: &[&str], old: &str) -> Option<usize> {
    let wanted: Vec<&str> = old.lines().collect();
    by_equal_lines(lines, &wanted).or_else(|| by_one_line(lines, &wanted))
}

/// Has every line that also occurs in the text vote, by its length, for where the text would start.
fn by_equal_lines(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        places.entry(line.trim()).or_default().push(index);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        let line = line.trim();
        // A line that the text repeats often tells little of where it would start.
        for place in places.get(line).into_iter().flatten().take(SHOWN_LINES) {
            *votes.entry(index.saturating_sub(*place)).or_default() += line.len();
        }
    }
    let total: usize = wanted.iter().map(|line| line.trim().len()).sum();
    let (start, votes) = votes.into_iter().max_by_key(|(start, votes)| (*votes, usize::MAX - *start))?;
    (votes * 4 >= total).then_some(start)
}

/// Finds the line most like the longest line of the text.
fn by_one_line(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    let (place, line) = wanted.iter().enumerate().rev().max_by_key(|(_, line)| line.trim().len())?;
    let pairs = Pairs::of(line);
    let mut best: Option<(f64, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        let alike = pairs.alike(line);
        if alike >= ALIKE && best.is_none_or(|(so_far, _)| alike > so_far) {
            best = Some((alike, index));
        }
    }
    best.map(|(_, index)| index.saturating_sub(place))
}

/// The pairs of neighbouring bytes in a line, counted in a table by their hash.
struct Pairs {
    counts: [u16; Self::SIZE],
    total: usize,
}

impl Pairs {
    const SIZE: usize = 1024;

    fn of(line: &str) -> Self {
        let mut counts = [0; Self::SIZE];
        let mut total = 0;
        for pair in Self::each(line) {
            counts[pair] += 1;
            total += 1;
        }
        Self { counts, total }
    }

    /// Measures how alike a line is, from 0 to 1: the mean of how much of this one is in it, and of Dice's coefficient.
    fn alike(&self, line: &str) -> f64 {
        let mut left = self.counts;
        let (mut common, mut total) = (0_u16, 0_u16);
        for pair in Self::each(line) {
            total += 1;
            if left[pair] > 0 {
                left[pair] -= 1;
                common += 1;
            }
        }
        let mine = f64::from(u16::try_from(self.total).unwrap_or(u16::MAX));
        if mine == 0.0 {
            return 0.0;
        }
        let (common, total) = (f64::from(common), f64::from(total));
        f64::midpoint(common / mine, 2.0 * common / (mine + total))
    }

    fn each(line: &str) -> impl Iterator<Item = usize> {
        let bytes = line.trim().as_bytes();
        let bytes = &bytes[..bytes.len().min(COMPARED_BYTES)];
        bytes.windows(2).map(|pair| (usize::from(pair[0]) * 31 + usize::from(pair[1])) % Self::SIZE)
    }
}
