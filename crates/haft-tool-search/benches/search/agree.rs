//! One search, made here and by `rg`, with the reason for each file in which they differ.

use super::rg::Rg;
use haft_core::ToolOutput;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

/// Up to how many lines each is compared. What has more is compared by how many lines of each file match, or where
/// matches span lines by which files have any.
const MOST_LINES: usize = 1500;

/// How many lines of one match are shown.
const LINES_OF_A_MATCH: u64 = 40;

/// How many paths `glob` gives at most.
const MOST_PATHS: usize = 1000;

/// What may be asked besides the pattern, here and of `rg`.
pub(crate) const OPTIONS: [(&str, &str, &[&str]); 6] = [
    ("literal", "true", &["--fixed-strings"]),
    ("multiline", "true", &["--multiline", "--multiline-dotall"]),
    ("hidden", "true", &["--hidden"]),
    ("no_ignore", "true", &["--no-ignore"]),
    ("case", "\"insensitive\"", &["--ignore-case"]),
    ("case", "\"sensitive\"", &["--case-sensitive"]),
];

/// The place in [`OPTIONS`] of the one without which a pattern may have no line break.
pub(crate) const MULTILINE: usize = 1;

/// What both are asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Search {
    /// What lines have to match; nothing where files are looked for by their names alone.
    pub(crate) pattern: Option<String>,
    pub(crate) glob: Option<String>,
    /// Which of [`OPTIONS`].
    pub(crate) options: Vec<usize>,
}

/// A file of which both sides say something else.
#[derive(Debug)]
pub(crate) struct Difference {
    pub(crate) path: String,
    /// Why, where that was found out by looking at the file.
    pub(crate) reason: Option<&'static str>,
    /// The lines, or how many there are; nothing where the file was not found.
    pub(crate) ours: Option<Vec<u64>>,
    pub(crate) theirs: Option<Vec<u64>>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, reason, ours, theirs } = self;
        match reason {
            Some(reason) => write!(f, "{path}: {reason}"),
            None => write!(f, "{path}: here {ours:?}, by `rg` {theirs:?}"),
        }
    }
}

/// Calls a tool.
pub(crate) type Call<'a> = &'a dyn Fn(&str, Value) -> ToolOutput;

/// Files in the order of their paths, with their lines that match; none where names are looked for.
type Found = BTreeMap<Vec<String>, Vec<u64>>;

impl Search {
    /// Makes the search on both sides and gives what differs.
    pub(crate) fn differences(&self, call: Call<'_>, rg: &Rg, tree: &Path) -> Vec<Difference> {
        let theirs = self.theirs(rg, tree);
        let (ours, theirs) = if self.pattern.is_none() {
            self.names(call, theirs, &self.listed(rg, tree))
        } else if let Some(ours) = self.lines(call) {
            (ours, theirs)
        } else {
            let (mut ours, mut theirs) = (self.counts(call), counted(theirs));
            if self.options.contains(&MULTILINE) {
                ours.values_mut().chain(theirs.values_mut()).for_each(Vec::clear);
            }
            (ours, theirs)
        };
        let paths: BTreeSet<&Vec<String>> = ours.keys().chain(theirs.keys()).collect();
        let paths: Vec<_> = paths.into_iter().filter(|path| ours.get(*path) != theirs.get(*path)).collect();
        if paths.is_empty() {
            return Vec::new();
        }
        let listed = self.listed(rg, tree);
        let difference = |path: &Vec<String>| {
            let reason = self.reason(tree, path, ours.contains_key(path), &listed);
            let (ours, theirs) = (ours.get(path).cloned(), theirs.get(path).cloned());
            Difference { path: path.join("/"), reason, ours, theirs }
        };
        paths.into_iter().map(difference).collect()
    }

    /// Looks for a reason in the file itself.
    fn reason(
        &self,
        tree: &Path,
        path: &[String],
        is_ours: bool,
        listed: &BTreeSet<Vec<String>>,
    ) -> Option<&'static str> {
        let file = tree.join(path.join("/"));
        let is_link = file.is_symlink();
        let is_file = is_link && file.is_file();
        if is_ours {
            return (self.pattern.is_none() && is_file)
                .then_some("a link to a file, which `rg` does not name");
        }
        if self.glob.is_some() && !listed.contains(path) {
            return Some("hidden or ignored, which a glob of `rg` overrules");
        }
        let is_binary = fs::read(&file).is_ok_and(|bytes| bytes.contains(&b'\0'));
        is_binary.then_some("binary, of which `rg` gives the lines before the first NUL byte")
    }

    /// The files that both would look at were it not for the glob.
    fn listed(&self, rg: &Rg, tree: &Path) -> BTreeSet<Vec<String>> {
        let without = Self { pattern: None, glob: None, options: self.options.clone() };
        without.theirs(rg, tree).into_keys().collect()
    }

    fn input(&self, more: Value) -> Value {
        // What a glob means for hidden files by default is another matter.
        let mut input = json!({ "hidden": false });
        let options = self.options.iter().map(|option| OPTIONS[*option]);
        for (name, value, _) in options {
            // Files have no case and no lines.
            if self.pattern.is_some() || matches!(name, "hidden" | "no_ignore") {
                input[name] = serde_json::from_str(value).unwrap();
            }
        }
        if let Some(pattern) = &self.pattern {
            input["pattern"] = json!(pattern);
        }
        if let Some(glob) = &self.glob {
            input[if self.pattern.is_some() { "glob" } else { "pattern" }] = json!(glob);
        }
        let Value::Object(more) = more else { return input };
        more.into_iter().for_each(|(name, value)| input[name] = value);
        input
    }

    fn theirs(&self, rg: &Rg, tree: &Path) -> Found {
        let mut arguments = vec!["--smart-case", "--crlf", "--no-ignore-global", "--no-ignore-parent"];
        let options = self.options.iter().map(|option| OPTIONS[*option]);
        options.for_each(|(_, _, flags)| arguments.extend(flags));
        if let Some(glob) = &self.glob {
            arguments.extend(["--glob", glob]);
        }
        // Here it is left out always.
        arguments.extend(["--glob", "!.git"]);
        let Some(pattern) = &self.pattern else {
            arguments.push("--files");
            let output = rg.run(tree, &arguments);
            let paths = output.split(|byte| *byte == b'\n').filter(|path| !path.is_empty());
            // Names that are not UTF-8 are left out here.
            let paths = paths.filter_map(|path| std::str::from_utf8(path).ok());
            return paths.map(|path| (names(path), Vec::new())).collect();
        };
        arguments.extend(["--", pattern]);
        let mut found = Found::new();
        for message in rg.messages(tree, &arguments) {
            let data = &message["data"];
            let Some(path) = data["path"]["text"].as_str() else { continue };
            let first = data["line_number"].as_u64().unwrap();
            let ends = match data["lines"]["text"].as_str() {
                Some(text) => text.strip_suffix('\n').unwrap_or(text).matches('\n').count() as u64,
                // Lines that are not UTF-8 are of one match only where no other is asked for.
                None => lines_of_base64(data["lines"]["bytes"].as_str().unwrap()),
            };
            found.entry(names(path)).or_default().extend(first..=first + ends.min(LINES_OF_A_MATCH - 1));
        }
        found
    }

    /// Every line, page by page; nothing where there are too many.
    fn lines(&self, call: Call<'_>) -> Option<Found> {
        let (mut found, mut offset, mut last) = (Found::new(), 0, None);
        loop {
            let output = call("grep", self.input(json!({ "limit": 1000, "offset": offset })));
            let text = output.to_text();
            let lines = text.rsplit_once("\n\n").map_or("", |(lines, _)| lines);
            for line in lines.lines().filter(|line| !is_elided(line)) {
                let place = place(line);
                assert!(last < Some(place.clone()), "{place:?} comes behind {last:?}: {self:?}");
                found.entry(place.0.clone()).or_default().push(place.1);
                last = Some(place);
            }
            let details = output.details;
            offset += details["matches"].as_u64().unwrap();
            if details["stopped"].is_null() {
                return Some(found);
            }
            if found.values().map(Vec::len).sum::<usize>() > MOST_LINES {
                return None;
            }
        }
    }

    /// How many lines of each file match, page by page.
    fn counts(&self, call: Call<'_>) -> Found {
        let mut found = Found::new();
        loop {
            let more = json!({ "mode": "count", "limit": 1000, "offset": found.len() });
            let details = call("grep", self.input(more)).details;
            for file in details["files"].as_array().unwrap() {
                let path = names(file["path"].as_str().unwrap());
                assert!(found.last_key_value().is_none_or(|(last, _)| *last < path), "{path:?}: {self:?}");
                found.insert(path, vec![file["matches"].as_u64().unwrap()]);
            }
            if details["stopped"].is_null() {
                return found;
            }
        }
    }

    /// The files that match, as many as both can be asked for.
    fn names(&self, call: Call<'_>, theirs: Found, listed: &BTreeSet<Vec<String>>) -> (Found, Found) {
        let output = call("glob", self.input(json!({ "limit": MOST_PATHS })));
        let text = output.to_text();
        let ours: Vec<Vec<String>> =
            text.rsplit_once("\n\n").map_or("", |(lines, _)| lines).lines().map(names).collect();
        assert!(ours.is_sorted(), "{self:?}: {ours:?}");
        let total = output.details["total"].as_u64().unwrap();
        let ours: Found = ours.into_iter().map(|path| (path, Vec::new())).collect();
        if ours.len() as u64 == total {
            return (ours, theirs);
        }
        // Those that are not listed lie anywhere among the others, and would shift them.
        let theirs: Found = theirs.into_iter().filter(|(path, _)| listed.contains(path)).collect();
        assert_eq!(theirs.len() as u64, total, "{self:?}");
        let shown = ours.len();
        (ours, theirs.into_iter().take(shown).collect())
    }
}

fn counted(found: Found) -> Found {
    found.into_iter().map(|(path, lines)| (path, vec![lines.len() as u64])).collect()
}

fn names(path: &str) -> Vec<String> {
    path.split('/').map(str::to_owned).collect()
}

/// Tells whether a line only says how much of a match is not shown.
fn is_elided(line: &str) -> bool {
    line.ends_with(" more lines of this match")
}

/// Takes the path and the number off a line; no path that is compared has a colon.
fn place(line: &str) -> (Vec<String>, u64) {
    let mut parts = line.splitn(3, ':');
    (names(parts.next().unwrap()), parts.next().unwrap().parse().unwrap())
}

/// Counts the line feeds of bytes written in Base64, but for one at the end.
fn lines_of_base64(text: &str) -> u64 {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'=').map(value).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let all = four.iter().fold(0_u32, |all, six| all << 6 | u32::from(*six)) << (6 * (4 - four.len()));
        all.to_be_bytes().into_iter().skip(1).take(four.len() - 1)
    });
    let bytes: Vec<u8> = bytes.collect();
    memchr::memchr_iter(b'\n', bytes.strip_suffix(b"\n").unwrap_or(&bytes)).count() as u64
}
