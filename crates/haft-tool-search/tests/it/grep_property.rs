use crate::text;
use haft_testkit::Tree;
use proptest::prelude::*;
use regex::bytes::{Regex, RegexBuilder};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The files of a tree by their paths, in the order in which they are searched.
type Files = BTreeMap<Vec<String>, Vec<u8>>;

#[derive(Debug, Clone)]
struct Search {
    pattern: String,
    literal: bool,
    ignore_case: Option<bool>,
    before: usize,
    after: usize,
    limit: usize,
}

fn names() -> impl Strategy<Value = Vec<String>> {
    let name = || prop_oneof![Just("a"), Just("b"), Just("a.b"), Just("a-b"), Just("A"), Just("é")];
    prop::collection::vec(name().prop_map(str::to_owned), 1..4)
}

/// Lines of few different pieces, so that patterns match some of them.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => "[ab]",
        2 => "[AB .é_]",
        1 => Just("ß".to_owned()),
        3 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\n\n".to_owned()),
    ];
    let bytes = piece.prop_map(String::into_bytes);
    let not_text = Just(vec![0xff]);
    prop::collection::vec(prop_oneof![30 => bytes, 1 => not_text], 0..60).prop_map(|pieces| pieces.concat())
}

fn files() -> impl Strategy<Value = Files> {
    prop::collection::btree_map(names(), content(), 1..6).prop_map(|mut files| {
        // A name cannot be both a file and a directory.
        let directories: Vec<Vec<String>> =
            files.keys().flat_map(|path| (1..path.len()).map(|end| path[..end].to_vec())).collect();
        files.retain(|path, _| !directories.contains(path));
        files
    })
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => "[abAB]{1,3}",
        1 => Just(".".to_owned()),
        1 => Just("[^a]".to_owned()),
        1 => Just("[a-bé]".to_owned()),
        1 => Just(r"\w".to_owned()),
        1 => Just(r"\b".to_owned()),
        1 => Just("^".to_owned()),
        1 => Just("$".to_owned()),
        1 => Just("ß".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 2..3).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (inner, prop_oneof![Just("*"), Just("+?"), Just("{2}"), Just("?")])
                .prop_map(|(inner, times)| format!("(?:{inner}){times}")),
        ]
    })
}

fn search() -> impl Strategy<Value = Search> {
    let case = prop_oneof![2 => Just(None), 1 => any::<bool>().prop_map(Some)];
    let usual = (
        pattern(),
        prop::bool::weighted(0.2),
        case,
        0_usize..3,
        0_usize..3,
        prop_oneof![1_usize..6, Just(1000)],
    );
    usual.prop_map(|(pattern, literal, ignore_case, before, after, limit)| Search {
        pattern,
        literal,
        ignore_case,
        before,
        after,
        limit,
    })
}

fn tree(files: &Files) -> Tree {
    files.iter().fold(Tree::new(), |tree, (path, content)| tree.bytes(&path.join("/"), content))
}

impl Search {
    fn input(&self, mode: &str) -> Value {
        let Self { pattern, literal, ignore_case, before, after, limit } = self;
        let mut input = json!({
            "pattern": pattern, "literal": literal, "before": before, "after": after, "limit": limit, "mode": mode,
        });
        if let Some(ignore_case) = ignore_case {
            input["case"] = json!(if *ignore_case { "insensitive" } else { "sensitive" });
        }
        input
    }

    fn regex(&self) -> Regex {
        let text = if self.literal { regex::escape(&self.pattern) } else { self.pattern.clone() };
        // No class of these patterns has an upper-case letter in its name, such as `\W`.
        let has_upper_case = self.pattern.contains(char::is_uppercase);
        let has_letter =
            self.pattern.replace(r"\w", "").replace(r"\b", "").chars().any(|character| {
                self.literal || character.is_alphanumeric() || matches!(character, '_' | ' ')
            });
        let ignore_case = self.ignore_case.unwrap_or(has_letter && !has_upper_case);
        RegexBuilder::new(&text).case_insensitive(ignore_case).crlf(true).multi_line(true).build().unwrap()
    }
}

/// The lines of a file without their ends.
fn lines(content: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    lines.into_iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect()
}

/// What the model should get, found line by line.
fn naive(files: &Files, search: &Search) -> String {
    let regex = search.regex();
    let (mut text, mut matches, mut matched_files, mut total) = (String::new(), 0, 0, 0);
    for (path, content) in files {
        let path = path.join("/");
        let lines = lines(content);
        let all: Vec<usize> = (0..lines.len()).filter(|index| regex.is_match(lines[*index])).collect();
        let is_over = total > search.limit;
        total += all.len();
        if is_over {
            continue;
        }
        let room = search.limit - matches;
        let taken = &all[..all.len().min(room)];
        // The next match, for which there is no room, ends what is shown after the last.
        let end = all.get(room).copied().unwrap_or(lines.len());
        let mut shown_until = None;
        for (index, line) in lines.iter().enumerate().take(end) {
            let is_match = taken.contains(&index);
            let is_near = taken.iter().any(|found| {
                (*found < index && index - found <= search.after)
                    || (index < *found && found - index <= search.before)
            });
            if !is_match && !is_near {
                continue;
            }
            let follows = shown_until.is_some_and(|last| last + 1 == index);
            if search.before + search.after > 0 && !follows && !text.is_empty() {
                text.push_str("--\n");
            }
            shown_until = Some(index);
            let separator = if is_match { ':' } else { '-' };
            let line = String::from_utf8_lossy(line);
            let space = if line.is_empty() { "" } else { " " };
            writeln!(text, "{path}{separator}{}{separator}{space}{line}", index + 1).unwrap();
        }
        matches += taken.len();
        matched_files += usize::from(!taken.is_empty());
    }
    let plural =
        |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    let files = plural(matched_files, "file", "files");
    let all = plural(total, "match", "matches");
    match matches {
        0 => String::new(),
        _ if matches == total => format!("{text}\n{all} in {files}"),
        _ => format!(
            "{text}\n{matches} of {all}, in {files}; stopped at `limit`: for the next set `offset` to {matches}, \
             raise `limit`, or narrow `pattern`, `path` or `glob`",
        ),
    }
}

/// The lines of results, without what is said after them.
fn results(found: &str) -> Vec<String> {
    found.split_once("\n\n").map_or("", |(results, _)| results).lines().map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equals_a_search_line_by_line(files in files(), search in search()) {
        let tree = tree(&files);
        let expected = naive(&files, &search);
        let found = text(&tree, "grep", search.input("content"));
        if expected.is_empty() {
            prop_assert!(found.starts_with("no match for "), "{}", found);
        } else {
            prop_assert_eq!(&found, &expected);
        }
        prop_assert_eq!(text(&tree, "grep", search.input("content")), found, "the same every time");
    }

    #[test]
    fn modes_agree(files in files(), mut search in search()) {
        search.limit = 1000;
        let tree = tree(&files);
        let regex = search.regex();
        let counts: Vec<(String, usize)> = files
            .iter()
            .map(|(path, content)| (path.join("/"), lines(content).iter().filter(|line| regex.is_match(line)).count()))
            .filter(|(_, count)| *count > 0)
            .collect();
        let results = |mode| results(&text(&tree, "grep", search.input(mode)));
        let paths: Vec<String> = counts.iter().map(|(path, _)| path.clone()).collect();
        prop_assert_eq!(results("files"), paths);
        let counted: Vec<String> = counts.iter().map(|(path, count)| format!("{path}: {count}")).collect();
        prop_assert_eq!(results("count"), counted);
    }

    #[test]
    fn pages_put_together_are_the_whole(files in files(), search in search(), mode in prop::sample::select(vec!["content", "files", "count"]), sort in prop::sample::select(vec!["path", "modified"])) {
        let tree = tree(&files);
        let page = |limit: usize, offset: usize| {
            let mut input = search.input(mode);
            for (name, value) in [("before", json!(0)), ("after", json!(0)), ("limit", json!(limit)), ("offset", json!(offset)), ("sort", json!(sort))] {
                input[name] = value;
            }
            results(&text(&tree, "grep", input))
        };
        let whole = page(1000, 0);
        let mut put_together = Vec::new();
        while put_together.len() < whole.len() {
            let next = page(search.limit.min(3), put_together.len());
            prop_assert!(!next.is_empty(), "nothing after {put_together:?} of {whole:?}");
            put_together.extend(next);
        }
        prop_assert_eq!(put_together, whole);
    }

    #[test]
    fn a_match_across_lines_covers_its_lines(
        files in files(),
        pattern in prop::sample::select(vec!["[ab]{1,2}", "a.*?b", "b\n+a", "a[^a]+b", "b$.^a"]),
    ) {
        let tree = tree(&files);
        let options = json!({ "pattern": pattern, "multiline": true, "case": "sensitive", "limit": 1000 });
        let found = text(&tree, "grep", options);
        let found = results(&found);
        let regex = RegexBuilder::new(pattern).multi_line(true).dot_matches_new_line(true).crlf(true).build().unwrap();
        let mut expected = Vec::new();
        for (path, content) in &files {
            let line_of = |offset: usize| content[..offset].split(|byte| *byte == b'\n').count() - 1;
            let mut numbers: Vec<usize> = regex
                .find_iter(content)
                .flat_map(|found| line_of(found.start())..=line_of(found.end() - 1))
                .collect();
            numbers.dedup();
            let lines = lines(content);
            for number in numbers {
                let line = String::from_utf8_lossy(lines[number]);
                let space = if line.is_empty() { "" } else { " " };
                expected.push(format!("{}:{}:{space}{line}", path.join("/"), number + 1));
            }
        }
        prop_assert_eq!(found, expected);
    }
}
