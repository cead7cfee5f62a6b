//! Edits derived from real source files and then made wrong in the ways in which models and files go wrong.
//!
//! An edit replaces some lines of a file. Then the file, or the edit, is changed as an editor, a converter or a model would
//! change it. The tool may make the edit where it is meant, or refuse it; anything else is wrong.

use serde_json::{Value, json};
use std::fmt;

/// What is done to a file or to the edit of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    Nothing,
    FileCrlf,
    FileMixedEnds,
    EditCrlf,
    FileTrailingBlanks,
    EditTrailingBlanks,
    EditDedented,
    EditIndented,
    FileTabs,
    EditTabs,
    FilePunctuation,
    FileNoBreakSpaces,
    FileUtf16,
    FileLatin1,
    Duplicate,
    DuplicateButForBlanks,
    OtherWord,
}

pub(crate) const MUTATIONS: [Mutation; 17] = [
    Mutation::Nothing,
    Mutation::FileCrlf,
    Mutation::FileMixedEnds,
    Mutation::EditCrlf,
    Mutation::FileTrailingBlanks,
    Mutation::EditTrailingBlanks,
    Mutation::EditDedented,
    Mutation::EditIndented,
    Mutation::FileTabs,
    Mutation::EditTabs,
    Mutation::FilePunctuation,
    Mutation::FileNoBreakSpaces,
    Mutation::FileUtf16,
    Mutation::FileLatin1,
    Mutation::Duplicate,
    Mutation::DuplicateButForBlanks,
    Mutation::OtherWord,
];

/// What became of the edits of one mutation.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) applied: u64,
    pub(crate) refused: u64,
    pub(crate) wrong: u64,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>8} applied {:>8} refused {:>4} wrong", self.applied, self.refused, self.wrong)
    }
}

/// A file, an edit of it, and what the file has to be afterwards if the edit is made.
pub(crate) struct Case {
    pub(crate) file: Vec<u8>,
    old: String,
    new: String,
    /// What the file is without what mutations add; nothing where the edit has to be refused.
    expected: Option<String>,
    /// How many bytes at both ends of the file have to stay as they are.
    kept: (usize, usize),
    mutation: Mutation,
}

impl Case {
    /// Derives an edit from a source and mutates it; nothing where that comes to no edit that means one place.
    pub(crate) fn derive(source: &str, mutation: Mutation, random: &mut fastrand::Rng) -> Option<Self> {
        let lines: Vec<&str> = source.split_inclusive('\n').collect();
        if lines.len() < 4 || !source.ends_with('\n') || source.contains(['\r', '\t', '\u{a0}']) {
            return None;
        }
        let count = random.usize(1..=5.min(lines.len() - 2));
        let first = random.usize(1..lines.len() - count);
        let range = first..first + count;
        let old: String = lines[range.clone()].concat();
        let new = altered(&lines[range], random)?;
        let before: String = lines[..first].concat();
        let behind: String = lines[first + count..].concat();
        if new == old || normal(source).matches(normal(&old).trim()).count() != 1 {
            return None;
        }
        let mut case = Self {
            file: Vec::new(),
            expected: Some(normal(&format!("{before}{new}{behind}"))),
            old,
            new,
            kept: (0, 0),
            mutation,
        };
        case.mutate(&[before, behind], random)?;
        Some(case)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each mutation, each of a few lines")]
    fn mutate(&mut self, around: &[String; 2], random: &mut fastrand::Rng) -> Option<()> {
        let target = self.old.clone();
        let mut parts = [around[0].clone(), target, around[1].clone()];
        let mut encode: fn(&str) -> Vec<u8> = |text| text.as_bytes().to_vec();
        match self.mutation {
            Mutation::Nothing => {}
            Mutation::FileCrlf => parts = parts.map(|part| part.replace('\n', "\r\n")),
            Mutation::FileMixedEnds => {
                parts = parts.map(|part| {
                    each_line(
                        &part,
                        |line| if random.bool() { format!("{line}\r\n") } else { format!("{line}\n") },
                    )
                });
            }
            Mutation::EditCrlf => self.edit(|text| text.replace('\n', "\r\n")),
            Mutation::FileTrailingBlanks => {
                parts = parts.map(|part| {
                    each_line(&part, |line| {
                        format!("{line}{}\n", *random.choice(&["", " ", "\t", "    "]).unwrap_or(&""))
                    })
                });
            }
            Mutation::EditTrailingBlanks => {
                self.old = each_line(&self.old, |line| {
                    format!("{line}{}\n", *random.choice(&["", " ", "  "]).unwrap_or(&""))
                });
            }
            Mutation::EditDedented => {
                let indents = [&self.old, &self.new].map(|text| least_indent(text));
                let by = indents[0].min(indents[1]);
                if by == 0 {
                    return None;
                }
                let by = random.usize(1..=by);
                self.edit(|text| each_line(text, |line| format!("{}\n", line.get(by..).unwrap_or_default())));
            }
            Mutation::EditIndented => {
                let by = random.usize(1..=8);
                self.edit(|text| {
                    each_line(text, |line| {
                        if line.is_empty() { "\n".to_owned() } else { format!("{:by$}{line}\n", "") }
                    })
                });
            }
            Mutation::FileTabs => parts = parts.map(|part| each_line(&part, with_tabs)),
            Mutation::EditTabs => self.edit(|text| each_line(text, with_tabs)),
            Mutation::FilePunctuation => {
                parts = parts.map(|part| {
                    part.chars().map(|each| if random.bool() { typographic(each) } else { each }).collect()
                });
            }
            Mutation::FileNoBreakSpaces => {
                parts = parts.map(|part| {
                    part.chars()
                        .map(|each| if each == ' ' && random.u8(..) < 20 { '\u{a0}' } else { each })
                        .collect()
                });
            }
            Mutation::FileUtf16 => {
                encode = |text| text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                parts[0].insert(0, '\u{feff}');
            }
            Mutation::FileLatin1 => {
                parts[0].insert_str(0, "// caf\u{e9}, d\u{e9}j\u{e0} vu, na\u{ef}ve\n");
                self.expected = self
                    .expected
                    .take()
                    .map(|text| format!("// caf\u{e9}, d\u{e9}j\u{e0} vu, na\u{ef}ve\n{text}"));
                if !parts
                    .concat()
                    .chars()
                    .chain(self.new.chars())
                    .all(|each| u32::from(each) < 0x80 || "éàï".contains(each))
                {
                    return None;
                }
                encode =
                    |text| text.chars().map(|each| u8::try_from(u32::from(each)).unwrap_or(b'?')).collect();
            }
            Mutation::Duplicate => {
                parts[2].push_str(&self.old);
                self.expected = None;
            }
            Mutation::DuplicateButForBlanks => {
                let copy = each_line(&self.old, |line| format!("{line} \n"));
                self.expected = self.expected.take().map(|text| text + &normal(&copy));
                parts[2].push_str(&copy);
            }
            Mutation::OtherWord => {
                let at = self.old.find(|each: char| each.is_ascii_alphanumeric())?;
                let other = if self.old.as_bytes()[at] == b'q' { "z" } else { "q" };
                self.old.replace_range(at..=at, other);
                self.expected = None;
            }
        }
        // An edit that by now means another place exactly is made there, and rightly.
        let text = parts.concat();
        let meant = parts[0].len()..parts[0].len() + parts[1].len();
        if self.expected.is_some()
            && text
                .match_indices(&self.old)
                .any(|(at, found)| at < meant.start || at + found.len() > meant.end)
        {
            return None;
        }
        // What is there exactly, though in the middle of a line, is replaced as it is written.
        if matches!(self.mutation, Mutation::EditDedented | Mutation::FileTrailingBlanks)
            && parts[1].contains(&self.old)
        {
            self.expected = Some(normal(&text.replacen(&self.old, &self.new, 1)));
        }
        self.kept = (encode(&parts[0]).len(), encode(&parts[2]).len());
        self.file = encode(&text);
        Some(())
    }

    fn edit(&mut self, change: impl Fn(&str) -> String) {
        self.old = change(&self.old);
        self.new = change(&self.new);
    }

    /// The arguments of the call.
    pub(crate) fn input(&self, path: &str) -> Value {
        json!({ "path": path, "edits": [{ "old": self.old, "new": self.new }] })
    }

    /// Counts what became of the file; tells whether that is right.
    pub(crate) fn judge(&self, after: &[u8], said_applied: bool, tally: &mut Tally) -> bool {
        let is_right = if said_applied {
            tally.applied += 1;
            let (before, behind) = self.kept;
            self.expected.as_ref().is_some_and(|expected| normal(&self.decoded(after)) == *expected)
                && after.starts_with(&self.file[..before])
                && after.ends_with(&self.file[self.file.len() - behind..])
        } else {
            tally.refused += 1;
            after == self.file
        };
        tally.wrong += u64::from(!is_right);
        is_right
    }

    fn decoded(&self, bytes: &[u8]) -> String {
        match self.mutation {
            Mutation::FileUtf16 => {
                let units = bytes
                    .chunks(2)
                    .map(|pair| u16::from_le_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
                let text: String = char::decode_utf16(units).map(|each| each.unwrap_or('\u{fffd}')).collect();
                // Only the first is a mark; a source can have others.
                text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)
            }
            Mutation::FileLatin1 => bytes.iter().copied().map(char::from).collect(),
            _ => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = self.decoded(&self.file[self.kept.0..self.file.len() - self.kept.1]);
        write!(f, "{:?}\nold {:?}\nnew {:?}\nof  {target:?}", self.mutation, self.old, self.new)
    }
}

/// Makes of some lines what an edit would.
fn altered(lines: &[&str], random: &mut fastrand::Rng) -> Option<String> {
    let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let at = random.usize(..lines.len());
    let indent = lines[at].len() - lines[at].trim_start_matches(' ').len();
    match random.u8(..4) {
        0 => {
            let word = lines[at].find(|each: char| each.is_alphabetic())?;
            lines[at].insert_str(word, "new_");
        }
        1 if lines.len() > 1 => {
            lines.remove(at);
        }
        2 => lines.insert(at, format!("{:indent$}inserted(\"line\");\n", "")),
        _ => {
            lines[at] =
                format!("{:indent$}if replaced {{\n{:indent$}    call();\n{:indent$}}}\n", "", "", "");
        }
    }
    Some(lines.concat())
}

/// Writes a text without what mutations add to it.
fn normal(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|each| match each {
            '“' | '”' => '"',
            '‘' | '’' => '\'',
            '–' | '—' => '-',
            '\u{a0}' => ' ',
            other => other,
        })
        .collect();
    each_line(&text.replace("\r\n", "\n"), |line| {
        let line = line.trim_end();
        let tabs = line.len() - line.trim_start_matches('\t').len();
        format!("{}{}\n", "    ".repeat(tabs), &line[tabs..])
    })
}

fn each_line(text: &str, mut change: impl FnMut(&str) -> String) -> String {
    text.split_inclusive('\n').map(|line| change(line.strip_suffix('\n').unwrap_or(line))).collect()
}

fn least_indent(text: &str) -> usize {
    let indents = text.lines().filter(|line| !line.is_empty());
    indents.map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0)
}

fn with_tabs(line: &str) -> String {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    format!("{}{}{}\n", "\t".repeat(blanks / 4), " ".repeat(blanks % 4), &line[blanks..])
}

fn typographic(each: char) -> char {
    match each {
        '"' => '”',
        '\'' => '’',
        '-' => '–',
        other => other,
    }
}
