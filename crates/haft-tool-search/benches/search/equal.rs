use crate::Tools;
use crate::rg::Rg;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

/// How many patterns and globs are compared.
const PATTERNS: usize = 200;

/// Files of which more are not compared: a pattern that common shows no more.
const MOST_FILES: usize = 3000;

/// A file's matching lines, as far as they are compared.
type Matches = BTreeMap<String, u64>;

/// Compares what is found for random patterns and globs, and says why where it differs.
pub(crate) fn compare(tools: &Tools, rg: &Rg, tree: &Path) {
    let mut random = fastrand::Rng::with_seed(1);
    let words = words(rg, tree, &mut random);
    let listed = rg.run(tree, &["--files"]);
    let listed: HashSet<&str> = std::str::from_utf8(&listed).unwrap().lines().collect();
    let (mut equal, mut explained, mut unexplained) = (0, 0, 0);
    for _ in 0..PATTERNS {
        let (pattern, glob) = (pattern(&words, &mut random), glob(&mut random));
        let (theirs, binary) = rg_matches(rg, tree, &pattern, glob);
        let Some(ours) = our_matches(tools, &pattern, glob) else { continue };
        let differing: Vec<&String> =
            ours.keys().chain(theirs.keys()).filter(|path| ours.get(*path) != theirs.get(*path)).collect();
        // `rg --glob` also takes hidden and ignored files that the glob matches; here that is asked for by name.
        let is_left_out = |path: &str| !listed.contains(path);
        let (known, unknown): (Vec<&String>, Vec<&String>) = differing.into_iter().partition(|path| {
            !ours.contains_key(*path) && (binary.contains(path) || glob.is_some() && is_left_out(path))
        });
        if !unknown.is_empty() {
            unexplained += 1;
            println!("{pattern:?} in {glob:?} differs in {unknown:?}");
        } else if !known.is_empty() {
            explained += 1;
            println!(
                "{pattern:?} in {glob:?}: rg gives lines before a NUL byte, or of hidden or ignored files that the glob \
                 matches: {known:?}"
            );
        } else {
            equal += 1;
        }
        lines_agree(tools, rg, tree, &pattern, glob, &|path| {
            binary.iter().any(|file| file == path) || glob.is_some() && !listed.contains(path)
        });
    }
    println!(
        "of {PATTERNS} patterns and globs {equal} find the same, {explained} differ in binary, hidden or \
         ignored files only, {unexplained} differ\n"
    );
}

/// Takes words out of random files.
fn words(rg: &Rg, tree: &Path, random: &mut fastrand::Rng) -> Vec<String> {
    let listed = rg.run(tree, &["--files", "-g", "*.rs", "--sort", "path"]);
    let files: Vec<&str> = std::str::from_utf8(&listed).unwrap().lines().collect();
    let mut words = Vec::new();
    while words.len() < 500 {
        let Ok(text) = fs::read_to_string(tree.join(random.choice(&files).unwrap())) else { continue };
        let of_file: Vec<&str> = text
            .split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .filter(|word| word.len() > 4)
            .collect();
        words.extend(random.choice(&of_file).map(|word| (*word).to_owned()));
    }
    words
}

fn pattern(words: &[String], random: &mut fastrand::Rng) -> String {
    let word = |random: &mut fastrand::Rng| random.choice(words).unwrap().clone();
    let (one, two) = (word(random), word(random));
    match random.usize(..10) {
        0 => one,
        1 => format!(r"\b{one}\b"),
        2 => format!("{one}|{two}"),
        3 => format!(r"^\s*(pub )?\w+ {one}"),
        4 => format!("(?i){one}$"),
        5 => format!(r"{one}\W+\w+\W+{}", &two[..1]),
        6 => format!("{}[a-z]+{}", &one[..2], &one[one.len() - 2..]),
        7 => format!(r"{one}.*;$"),
        8 => format!(r"[^a-z]{{3}}{one}"),
        _ => format!(r"\w{{30,}}{}", &one[..2]),
    }
}

fn glob(random: &mut fastrand::Rng) -> Option<&'static str> {
    let globs = [
        None,
        Some("*.rs"),
        Some("*.{toml,md}"),
        Some("!*.rs"),
        Some("**/src/**/*.rs"),
        Some("**/tests/*"),
        Some("[a-m]*.rs"),
        Some("/s*/src/*.rs"),
        Some("!tests/"),
    ];
    *random.choice(globs).as_ref().unwrap()
}

fn rg_arguments<'a>(pattern: &'a str, glob: Option<&'a str>) -> Vec<&'a str> {
    let mut arguments = vec!["--json", "--smart-case", "--crlf", "--no-ignore-global", "--no-ignore-parent"];
    if let Some(glob) = glob {
        arguments.extend(["--glob", glob]);
    }
    arguments.extend(["--", pattern]);
    arguments
}

/// What `rg` finds, and which of its files are binary.
fn rg_matches(rg: &Rg, tree: &Path, pattern: &str, glob: Option<&str>) -> (Matches, Vec<String>) {
    let (mut matches, mut binary) = (Matches::new(), Vec::new());
    for message in messages(&rg.run(tree, &rg_arguments(pattern, glob))) {
        let data = &message["data"];
        if message["type"] == "end" {
            let path = data["path"]["text"].as_str().unwrap_or_default().to_owned();
            if !data["binary_offset"].is_null() {
                binary.push(path.clone());
            }
            let lines = data["stats"]["matched_lines"].as_u64().unwrap();
            if lines > 0 {
                matches.insert(path, lines);
            }
        }
    }
    (matches, binary)
}

fn messages(output: &[u8]) -> impl Iterator<Item = Value> + '_ {
    output.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

fn input(pattern: &str, glob: Option<&str>) -> Value {
    let mut input = json!({ "pattern": pattern });
    if let Some(glob) = glob {
        input["glob"] = json!(glob);
    }
    input
}

/// What is found here, page by page; nothing where it is too much.
fn our_matches(tools: &Tools, pattern: &str, glob: Option<&str>) -> Option<Matches> {
    let mut matches = Matches::new();
    loop {
        let mut input = input(pattern, glob);
        input["mode"] = json!("count");
        input["limit"] = json!(1000);
        input["offset"] = json!(matches.len());
        let details = tools.call("grep", &input).output.details;
        for file in details["files"].as_array().unwrap() {
            matches.insert(file["path"].as_str().unwrap().to_owned(), file["matches"].as_u64().unwrap());
        }
        if details["stopped"].is_null() {
            return Some(matches);
        }
        if matches.len() > MOST_FILES {
            return None;
        }
    }
}

/// Compares the first lines in their order.
fn lines_agree(
    tools: &Tools,
    rg: &Rg,
    tree: &Path,
    pattern: &str,
    glob: Option<&str>,
    is_explained: &dyn Fn(&str) -> bool,
) {
    let text = tools.call("grep", &input(pattern, glob)).output.to_text();
    let Some((lines, _)) = text.rsplit_once("\n\n") else { return };
    let ours: Vec<(String, u64)> = lines
        .lines()
        .map(|line| {
            let mut parts = line.splitn(3, ':');
            (parts.next().unwrap().to_owned(), parts.next().unwrap().parse().unwrap())
        })
        .collect();
    let mut theirs = Vec::new();
    for message in messages(&rg.run(tree, &rg_arguments(pattern, glob))) {
        if message["type"] == "match" {
            let path = message["data"]["path"]["text"].as_str().unwrap_or_default().to_owned();
            if !is_explained(&path) {
                theirs.push((path, message["data"]["line_number"].as_u64().unwrap()));
            }
        }
    }
    let by_names = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    theirs.sort_by_key(|(path, line)| (by_names(path), *line));
    theirs.truncate(ours.len());
    if ours != theirs {
        let first = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
        println!("{pattern:?} in {glob:?}: the first lines differ at {first:?}");
    }
}
