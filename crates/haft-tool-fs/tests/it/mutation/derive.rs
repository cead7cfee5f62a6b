//! Making a case of a source.

use super::{Ask, Case, Edit, Mutation, Parts};
use serde_json::{Value, json};
use std::ops::Range;

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    text: String,
    end: &'static str,
}

/// What a line of an edited place is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum New {
    /// This line of the old ones.
    Kept(usize),
    /// The same, with this in front of its first letter.
    Word(usize, &'static str),
    /// One that was not there, and which of the old ones it is there instead of.
    Fresh(String, Option<usize>),
}

/// A place of the file that is to be edited, and what it becomes.
#[derive(Debug, Clone)]
struct Target {
    lines: Range<usize>,
    new: Vec<New>,
    is_meant: bool,
}

const LATIN: &str = "// caf\u{e9}, d\u{e9}j\u{e0} vu, na\u{ef}ve";

impl Case {
    /// Derives edits from a source and mutates them; nothing where that comes to none that means its places.
    pub(crate) fn derive(
        source: &str,
        mutation: Mutation,
        ask: Ask,
        random: &mut fastrand::Rng,
    ) -> Option<Self> {
        let mut lines = split(source)?;
        if mutation == Mutation::FileLatin1 {
            lines.insert(0, Line { text: LATIN.to_owned(), end: lines.first()?.end });
        }
        let mut targets = choose(&lines, if ask == Ask::Several { random.usize(2..=3) } else { 1 }, random)?;
        let mut edits = Vec::new();
        for target in &targets {
            let texts: Vec<&str> = lines[target.lines.clone()].iter().map(|line| &*line.text).collect();
            let old: String = texts.iter().flat_map(|text| [*text, "\n"]).collect();
            let new: String = target.new.iter().flat_map(|new| [new.text(&texts), "\n".into()]).collect();
            if old == new {
                return None;
            }
            edits.push(Edit { old, new, ask: json!({}) });
        }
        let mut wanted = normal_text(&lines).matches(normal(&edits[0].old).trim()).count();
        if wanted != 1
            || edits.iter().any(|edit| normal_text(&lines).matches(normal(&edit.old).trim()).count() != 1)
        {
            return None;
        }
        let style = mutate_lines(&mut lines, mutation, random);
        if !matches!(ask, Ask::One | Ask::Several) {
            copy(&mut lines, &mut targets, random.usize(1..=2), random)?;
            wanted = targets.len();
            let normal_lines = normal_text(&lines);
            // A place that is indented otherwise is one of those that are meant, too, if the edit is found by a shift.
            let bare = |text: &str| each_line(text, |line| line.trim_start().to_owned());
            if normal_lines.matches(normal(&edits[0].old).trim()).count() != wanted
                || bare(&normal_lines).matches(bare(&normal(&edits[0].old)).trim()).count() != wanted
            {
                return None;
            }
        }
        let copied = edits[0].old.clone();
        for edit in &mut edits {
            mutate_edit(edit, mutation, random)?;
        }
        let is_refused =
            ask == Ask::WrongCount || matches!(mutation, Mutation::Duplicate | Mutation::OtherWord);
        edits[0].ask = asked(ask, &mut targets, random);
        let texts = Texts::of(&lines, &targets);
        // An edit that by now means another place exactly is made there, and rightly.
        if !is_refused && edits.iter().any(|edit| texts.is_elsewhere(&edit.old)) {
            return None;
        }
        if mutation == Mutation::OtherWord && texts.whole.contains(&edits[0].old) {
            return None;
        }
        let encode = encoding(mutation);
        if mutation == Mutation::FileLatin1
            && !texts.whole.chars().chain(edits.iter().flat_map(|edit| edit.new.chars())).all(is_latin)
        {
            return None;
        }
        let mut file = if mutation == Mutation::FileUtf16 { encode("\u{feff}") } else { Vec::new() };
        let mut parts: Parts = vec![vec![file.clone()]];
        file.extend(encode(&texts.whole));
        let mut at = 0;
        for (index, target) in targets.iter().enumerate() {
            parts.push(vec![encode(&joined(&lines[at..target.lines.start]))]);
            at = target.lines.end;
            let edit = &edits[index.min(edits.len() - 1)];
            if !target.is_meant {
                parts.push(vec![encode(&joined(&lines[target.lines.clone()]))]);
                continue;
            }
            parts.extend(
                expected(&lines, target, edit, style)?
                    .into_iter()
                    .map(|alternatives| alternatives.into_iter().map(|text| encode(&text)).collect()),
            );
        }
        parts.push(vec![encode(&joined(&lines[at..]))]);
        let end = match mutation {
            Mutation::Duplicate => copied,
            // The copy differs from the old text at each line.
            Mutation::DuplicateButForBlanks => copied.replace('\n', " \n"),
            _ => String::new(),
        };
        if !end.is_empty() && lines.last().is_some_and(|line| line.end != "\n") {
            return None;
        }
        file.extend(encode(&end));
        parts.push(vec![encode(&end)]);
        if ask == Ask::Several {
            random.shuffle(&mut edits);
        }
        let expected = (!is_refused).then_some(parts);
        Some(Self { file, edits, expected, mutation, ask, targets: texts.targets })
    }
}

impl New {
    fn text(&self, lines: &[&str]) -> String {
        match self {
            Self::Kept(line) => lines[*line].to_owned(),
            Self::Word(line, word) => with_word(lines[*line], word),
            Self::Fresh(text, _) => text.clone(),
        }
    }
}

/// Puts something in front of the first letter of a line.
fn with_word(line: &str, word: &str) -> String {
    let at = line.find(char::is_alphabetic).unwrap_or(line.len());
    format!("{}{word}{}", &line[..at], &line[at..])
}

/// Divides a source into lines; nothing where something else than LF and CR LF ends one.
fn split(source: &str) -> Option<Vec<Line>> {
    if source.replace("\r\n", "").contains(['\r', '\u{feff}']) {
        return None;
    }
    let lines = source.split_inclusive('\n').map(|line| match line.strip_suffix("\r\n") {
        Some(text) => Line { text: text.to_owned(), end: "\r\n" },
        None => match line.strip_suffix('\n') {
            Some(text) => Line { text: text.to_owned(), end: "\n" },
            None => Line { text: line.to_owned(), end: "" },
        },
    });
    Some(lines.collect())
}

/// Chooses places with a line between them, and what becomes of each.
fn choose(lines: &[Line], count: usize, random: &mut fastrand::Rng) -> Option<Vec<Target>> {
    if lines.len() < 4 * count {
        return None;
    }
    let mut targets: Vec<Target> = Vec::new();
    for _ in 0..count {
        let length = random.usize(1..=5.min(lines.len() - 2));
        let start = random.usize(1..lines.len() - length);
        let range = start..start + length;
        let touches = |other: &Target| other.lines.start <= range.end && range.start <= other.lines.end;
        if targets.iter().any(touches) {
            return None;
        }
        let new = altered(&lines[range.clone()], random)?;
        targets.push(Target { lines: range, new, is_meant: true });
    }
    targets.sort_by_key(|target| target.lines.start);
    Some(targets)
}

/// Makes of some lines what an edit would.
fn altered(lines: &[Line], random: &mut fastrand::Rng) -> Option<Vec<New>> {
    let mut new: Vec<New> = (0..lines.len()).map(New::Kept).collect();
    let at = random.usize(..lines.len());
    let text = &lines[at].text;
    let indent = &text[..text.len() - text.trim_start_matches([' ', '\t']).len()];
    match random.u8(..4) {
        0 => {
            text.find(char::is_alphabetic)?;
            new[at] = New::Word(at, "new_");
        }
        1 if lines.len() > 1 => {
            // Of two that are alike it cannot be told which was removed.
            let is_alike = |other: Option<&Line>| other.is_some_and(|other| other.text == *text);
            if is_alike(at.checked_sub(1).and_then(|before| lines.get(before))) || is_alike(lines.get(at + 1))
            {
                return None;
            }
            new.remove(at);
        }
        2 => new.insert(at, New::Fresh(format!("{indent}inserted(\"line\");"), None)),
        _ => {
            let inner = if indent.contains('\t') { "\t" } else { "    " };
            let fresh =
                [format!("{indent}if replaced {{"), format!("{indent}{inner}call();"), format!("{indent}}}")];
            // Otherwise the line is not replaced, but others are put beside it.
            if fresh.contains(text) {
                return None;
            }
            new.splice(at..=at, fresh.map(|text| New::Fresh(text, Some(at))));
        }
    }
    Some(new)
}

/// How a line that is new is written in a file.
type Style = fn(&str) -> String;

/// Changes all lines of a file; gives how new ones are written in it.
fn mutate_lines(lines: &mut [Line], mutation: Mutation, random: &mut fastrand::Rng) -> Style {
    let mut style: Style = str::to_owned;
    for line in lines {
        let is_ended = !line.end.is_empty();
        match mutation {
            Mutation::FileCrlf if is_ended => line.end = "\r\n",
            Mutation::FileReturns if is_ended => line.end = "\r",
            Mutation::FileMixedEnds if is_ended => line.end = if random.bool() { "\r\n" } else { "\n" },
            Mutation::FileTrailingBlanks => {
                line.text.push_str(random.choice(["", " ", "\t", "    "]).unwrap_or_default());
            }
            Mutation::FileTabs => {
                line.text = with_tabs(&line.text);
                style = with_tabs;
            }
            Mutation::FilePunctuation => {
                line.text = line
                    .text
                    .chars()
                    .map(|each| if random.bool() { typographic(each) } else { each })
                    .collect();
            }
            Mutation::FileNoBreakSpaces => {
                let each = |each| if each == ' ' && random.u8(..) < 20 { '\u{a0}' } else { each };
                line.text = line.text.chars().map(each).collect();
            }
            _ => {}
        }
    }
    style
}

/// Changes an edit; nothing where there is nothing to change.
fn mutate_edit(edit: &mut Edit, mutation: Mutation, random: &mut fastrand::Rng) -> Option<()> {
    let Edit { old, new, .. } = edit;
    match mutation {
        Mutation::EditCrlf => [old, new].map(|text| *text = text.replace('\n', "\r\n")),
        Mutation::EditTrailingBlanks => {
            let blanks = |line: &str| format!("{line}{}", random.choice(["", " ", "  "]).unwrap_or_default());
            *old = each_line(old, blanks);
            return Some(());
        }
        Mutation::EditDedented => {
            let by = least_indent(old).min(least_indent(new));
            if by == 0 {
                return None;
            }
            let by = random.usize(1..=by);
            [old, new]
                .map(|text| *text = each_line(text, |line| line.get(by..).unwrap_or_default().to_owned()))
        }
        Mutation::EditIndented => {
            let by = random.usize(1..=8);
            let indented =
                |line: &str| if line.is_empty() { String::new() } else { format!("{:by$}{line}", "") };
            [old, new].map(|text| *text = each_line(text, indented))
        }
        Mutation::EditTabs => [old, new].map(|text| *text = each_line(text, with_tabs)),
        Mutation::OtherWord => {
            let at = old.find(|each: char| each.is_ascii_alphanumeric())?;
            let other = if old.as_bytes()[at] == b'q' { "z" } else { "q" };
            old.replace_range(at..=at, other);
            return Some(());
        }
        _ => return Some(()),
    };
    Some(())
}

/// Puts copies of a place elsewhere behind it.
fn copy(
    lines: &mut Vec<Line>,
    targets: &mut Vec<Target>,
    count: usize,
    random: &mut fastrand::Rng,
) -> Option<()> {
    let first = targets.first()?.clone();
    let copied = lines[first.lines.clone()].to_vec();
    let mut places: Vec<usize> = (0..count).map(|_| random.usize(first.lines.end..lines.len())).collect();
    places.sort_unstable();
    // A line at least lies between two.
    if places[0] == first.lines.end || places.windows(2).any(|pair| pair[0] == pair[1]) {
        return None;
    }
    for (index, place) in places.into_iter().enumerate() {
        let start = place + index * copied.len();
        lines.splice(start..start, copied.iter().cloned());
        targets.push(Target { lines: start..start + copied.len(), ..first.clone() });
    }
    Some(())
}

/// Says which places are meant, in the edit and in what is expected of it.
fn asked(ask: Ask, targets: &mut [Target], random: &mut fastrand::Rng) -> Value {
    match ask {
        Ask::One | Ask::Several => json!({}),
        Ask::All => json!({ "all": true }),
        Ask::Expected => json!({ "expected": targets.len() }),
        Ask::WrongCount => json!({ "expected": targets.len() + random.usize(1..3) }),
        Ask::NearLine => {
            let meant = random.usize(..targets.len());
            for (index, target) in targets.iter_mut().enumerate() {
                target.is_meant = index == meant;
            }
            json!({ "near_line": targets[meant].lines.start + 1 })
        }
    }
}

/// The lines that a place becomes, each one of several; nothing where that cannot be told.
fn expected(lines: &[Line], target: &Target, edit: &Edit, style: Style) -> Option<Vec<Vec<String>>> {
    let place = &lines[target.lines.clone()];
    let texts: Vec<&str> = place.iter().map(|line| &*line.text).collect();
    let in_file: String = texts.iter().flat_map(|text| [*text, "\n"]).collect();
    let (old, new) = (edit.old.replace("\r\n", "\n"), edit.new.replace("\r\n", "\n"));
    if in_file.contains(&old) && in_file != old {
        // What is there exactly, though in the middle of a line, is replaced as it is written.
        let is_plain = place.iter().all(|line| line.end == "\n");
        return is_plain.then(|| vec![vec![in_file.replacen(&old, &new, 1)]]);
    }
    let is_exact = in_file == old;
    let beside = target.lines.start.saturating_sub(1)..(target.lines.end + 1).min(lines.len());
    let mut ends: Vec<&str> =
        lines[beside].iter().map(|line| line.end).filter(|end| !end.is_empty()).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut written = new.lines();
    let line = |new: &New| {
        let written = written.next().unwrap_or_default();
        match new {
            New::Kept(line) => vec![format!("{}{}", place[*line].text, place[*line].end)],
            New::Word(line, word) => {
                vec![format!("{}{}", with_word(&place[*line].text, word), place[*line].end)]
            }
            New::Fresh(text, instead) => {
                let text = if is_exact { written.to_owned() } else { style(text) };
                let mut texts = vec![text.clone()];
                let mut blanks = vec![""];
                if let Some(instead) = instead.map(|line| &*place[line].text) {
                    let solid = instead.trim_end_matches([' ', '\t']);
                    // What is alike at an end of both may be taken for the same line, which has changed.
                    if solid.trim_start().chars().next() == text.trim_start().chars().next()
                        || solid.chars().last() == text.chars().last()
                    {
                        blanks.push(&instead[solid.len()..]);
                    }
                    // What both have at their start is left as it is in the file.
                    let alike = |(one, other): &(char, char)| {
                        one.to_string().replace('\u{a0}', " ") == other.to_string()
                    };
                    let alike = instead.chars().zip(text.chars()).take_while(alike).count();
                    texts.push(instead.chars().take(alike).chain(text.chars().skip(alike)).collect());
                }
                let ends: Vec<String> = ends
                    .iter()
                    .flat_map(|end| blanks.iter().map(move |blanks| format!("{blanks}{end}")))
                    .collect();
                texts.iter().flat_map(|text| ends.iter().map(move |end| format!("{text}{end}"))).collect()
            }
        }
    };
    Some(target.new.iter().map(line).collect())
}

/// The text of a file, and where its places are.
struct Texts {
    whole: String,
    ranges: Vec<Range<usize>>,
    targets: Vec<String>,
}

impl Texts {
    fn of(lines: &[Line], targets: &[Target]) -> Self {
        let ranges = targets.iter().map(|target| {
            let start = joined(&lines[..target.lines.start]).len();
            start..start + joined(&lines[target.lines.clone()]).len()
        });
        let targets = targets.iter().map(|target| joined(&lines[target.lines.clone()])).collect();
        Self { whole: joined(lines), ranges: ranges.collect(), targets }
    }

    /// Tells whether a text is exactly where none of the places is.
    fn is_elsewhere(&self, text: &str) -> bool {
        let is_in =
            |at: usize| self.ranges.iter().any(|range| range.start <= at && at + text.len() <= range.end);
        self.whole.match_indices(text).any(|(at, _)| !is_in(at))
    }
}

fn joined(lines: &[Line]) -> String {
    lines.iter().flat_map(|line| [&*line.text, line.end]).collect()
}

/// Writes a text without what mutations add to it, to tell whether something is in it only once.
fn normal(text: &str) -> String {
    let plain = |each| match each {
        '“' | '”' => '"',
        '‘' | '’' => '\'',
        '–' | '—' => '-',
        '\u{a0}' => ' ',
        other => other,
    };
    each_line(&text.chars().map(plain).collect::<String>(), |line| {
        let line = line.trim_end();
        let inner = line.trim_start_matches([' ', '\t']);
        line[..line.len() - inner.len()].replace('\t', "    ") + inner
    })
}

fn normal_text(lines: &[Line]) -> String {
    normal(&lines.iter().flat_map(|line| [&*line.text, "\n"]).collect::<String>())
}

fn each_line(text: &str, mut change: impl FnMut(&str) -> String) -> String {
    text.lines().map(|line| change(line) + "\n").collect()
}

fn least_indent(text: &str) -> usize {
    let indents = text.lines().filter(|line| !line.is_empty());
    indents.map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0)
}

fn with_tabs(line: &str) -> String {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    format!("{}{}{}", "\t".repeat(blanks / 4), " ".repeat(blanks % 4), &line[blanks..])
}

fn typographic(each: char) -> char {
    match each {
        '"' => '”',
        '\'' => '’',
        '-' => '–',
        other => other,
    }
}

fn is_latin(each: char) -> bool {
    each.is_ascii() || "éàï".contains(each)
}

fn encoding(mutation: Mutation) -> fn(&str) -> Vec<u8> {
    match mutation {
        Mutation::FileUtf16 => |text| text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Mutation::FileLatin1 => {
            |text| text.chars().map(|each| u8::try_from(u32::from(each)).unwrap_or(b'?')).collect()
        }
        _ => |text| text.as_bytes().to_vec(),
    }
}
