use crate::Tools;
use crate::agree::Search;
use crate::rg::Rg;
use std::fs;
use std::path::Path;

/// How many patterns, and how many globs alone, are compared.
const SEARCHES: usize = 200;

/// How many of the files that differ are named for each reason.
const NAMED: usize = 3;

/// Compares what is found for random patterns and globs, and says why where it differs; tells whether nothing is left open.
pub(crate) fn compare(tools: &Tools, rg: &Rg, tree: &Path) -> bool {
    let mut random = fastrand::Rng::with_seed(1);
    let words = words(rg, tree, &mut random);
    let patterns: Vec<Search> = (0..SEARCHES)
        .map(|_| Search {
            pattern: Some(pattern(&words, &mut random)),
            glob: glob(&words, &mut random),
            options: Vec::new(),
        })
        .collect();
    let globs: Vec<Search> = (0..SEARCHES)
        .map(|_| Search { pattern: None, glob: Some(path_pattern(&words, &mut random)), options: Vec::new() })
        .collect();
    let call = |tool: &str, input| tools.call(tool, &input).output;
    let mut is_explained = true;
    for (what, searches) in [("patterns", patterns), ("globs", globs)] {
        let (mut equal, mut explained, mut unexplained) = (0, 0, 0);
        for search in &searches {
            let differences = search.differences(&call, rg, tree);
            if differences.is_empty() {
                equal += 1;
                continue;
            }
            let (known, unknown): (Vec<_>, Vec<_>) =
                differences.iter().partition(|difference| difference.reason.is_some());
            *if unknown.is_empty() { &mut explained } else { &mut unexplained } += 1;
            println!("{:?} in {:?}:", search.pattern, search.glob);
            for difference in &unknown {
                println!("    {difference}");
            }
            let mut reasons: Vec<&str> = known.iter().filter_map(|difference| difference.reason).collect();
            reasons.sort_unstable();
            reasons.dedup();
            for reason in reasons {
                let files = known.iter().filter(|difference| difference.reason == Some(reason));
                let files: Vec<&str> = files.map(|difference| difference.path.as_str()).collect();
                let more = if files.len() > NAMED { ", …" } else { "" };
                let some = files[..files.len().min(NAMED)].join(", ");
                println!("    {reason}: {} ({some}{more})", files.len());
            }
        }
        println!(
            "of {SEARCHES} {what} {equal} find the same, {explained} differ for reasons that were looked at, \
             {unexplained} for others\n"
        );
        is_explained &= unexplained == 0;
    }
    is_explained
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

fn glob(words: &[String], random: &mut fastrand::Rng) -> Option<String> {
    match random.usize(..3) {
        0 => None,
        1 => Some(path_pattern(words, random)),
        _ => {
            let globs =
                ["*.rs", "!*.rs", "**/src/**/*.rs", "**/tests/*", "[a-m]*.rs", "/s*/src/*.rs", "!tests/"];
            random.choice(globs).map(str::to_owned)
        }
    }
}

/// A pattern for paths, of which some file has a name like it.
fn path_pattern(words: &[String], random: &mut fastrand::Rng) -> String {
    let part = |random: &mut fastrand::Rng| {
        let word = random.choice(words).unwrap().to_lowercase();
        word[..random.usize(1..3)].to_owned()
    };
    let (one, two) = (part(random), part(random));
    let end = *random.choice(&["rs", "toml", "md", "{rs,c,h}", "t*", "[a-m]*", "?s"]).unwrap();
    match random.usize(..9) {
        0 => format!("*.{end}"),
        1 => format!("{one}*.{end}"),
        2 => format!("**/{one}*/*.{end}"),
        3 => format!("*{one}*{two}*"),
        4 => format!("src/**/*.{end}"),
        5 => format!("/{one}*/**/{two}*.{end}"),
        6 => format!("**/src/[{one}-z]*.{end}"),
        7 => format!("*/src/{{{one}*,{two}*,lib}}.{end}"),
        _ => format!("[!{one}]*_*.{end}"),
    }
}
