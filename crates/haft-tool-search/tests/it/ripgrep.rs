//! What is found is what `rg` finds, where there is one to ask.

#[path = "../../benches/search/agree.rs"]
mod agree;
#[path = "../../benches/search/rg.rs"]
#[expect(dead_code, reason = "the benchmark prints the version")]
mod rg;

use crate::{call_of, registry};
use agree::{MULTILINE, OPTIONS, Search};
use haft_testkit::Tree;
use rg::Rg;
use std::collections::BTreeMap;

const SEARCHES: usize = 60;

fn content(random: &mut fastrand::Rng) -> Vec<u8> {
    let pieces: [&[u8]; 16] = [
        b"one",
        b"Two",
        b"_three",
        b" ",
        b" ",
        b"\n",
        b"\n",
        b"\n",
        b"\r\n",
        b"\n\n",
        b"(x)",
        b"\t",
        "é".as_bytes(),
        "ß".as_bytes(),
        b"\xff",
        b"\r",
    ];
    let mut content = Vec::new();
    for _ in 0..random.usize(..60) {
        content.extend(*random.choice(&pieces).unwrap());
    }
    match random.usize(..20) {
        0 => content.extend(b"\0one\n"),
        1 => content.splice(..0, *b"\xef\xbb\xbf").for_each(drop),
        2 => {
            let text = String::from_utf8_lossy(&content).into_owned();
            content =
                [&[0xff, 0xfe][..], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()]
                    .concat();
        }
        // More than is read at once.
        3 => content = content.repeat(2000),
        _ => {}
    }
    content
}

/// A tree with hidden and ignored files, and files that are not text.
fn tree(random: &mut fastrand::Rng) -> Tree {
    let names = ["a", "b.rs", "c.md", "d", ".e", "one.rs", "x y", "Z.RS", "é.md"];
    let mut files = BTreeMap::new();
    for _ in 0..200 {
        let path: Vec<&str> =
            (0..random.usize(..4)).map(|_| *random.choice(&["a", "d", ".e", "t.d"]).unwrap()).collect();
        let path = path.into_iter().chain([*random.choice(&names).unwrap()]).collect::<Vec<_>>().join("/");
        files.insert(path, content(random));
    }
    let ignore =
        ["*.md\n!c.md\n", "/a/d\n", "t.d/\n", "**/.e/one.rs\n", "b.rs\n", "!b.rs\n", "d/*\n!d/Z.RS\n"];
    for directory in ["", "a/", "a/d/", "t.d/"] {
        for file in [".gitignore", ".ignore"] {
            if random.bool() {
                let rules: Vec<&str> = (0..2).map(|_| *random.choice(&ignore).unwrap()).collect();
                files.insert(format!("{directory}{file}"), rules.concat().into_bytes());
            }
        }
    }
    let paths: Vec<String> = files.keys().cloned().collect();
    let is_directory = |path: &str| paths.iter().any(|other| other.starts_with(&format!("{path}/")));
    files.retain(|path, _| !is_directory(path));
    let tree = Tree::new().directory(".git/info").file(".git/info/exclude", "x y\n");
    let tree = tree.file(".git/one.rs", "one\n").link("link.rs", "Z.RS").link("away", "/");
    files.iter().fold(tree, |tree, (path, content)| tree.bytes(path, content))
}

fn search(random: &mut fastrand::Rng) -> Search {
    let patterns = [
        "one",
        "one$",
        "^one",
        "^$",
        "ne|tw",
        "two",
        "Two",
        r"\bone\b",
        r"o\w+e",
        "[^o]ne",
        r"\(x\)",
        "(x)",
        "é",
        "E",
        r"\s$",
        r"^\s+one",
        "one.*one",
        ".",
        r"one\s+Two",
        r"e\W*\n\W*o",
        "x*",
        r"\x{df}",
        "SS",
        r"[[:upper:]]",
        "_three(?:one|Two)?",
        r"\t",
        r"(?i)TWO",
        r"(?-u)\xff",
    ];
    let globs = [
        "*.rs",
        "!*.rs",
        "*.{rs,md}",
        "a/**",
        "**/d/*",
        "/a/*",
        "[a-d]*",
        "?.rs",
        "*",
        "**/*.md",
        "!a",
        "!d/",
        "/*.md",
        "a/*/*.rs",
        "*e*",
        ".e/**",
        "t.d/*",
        "x y",
        "[!a]*",
        "Z.rs",
    ];
    let glob = *random.choice(&globs).unwrap();
    let mut options: Vec<usize> = (0..OPTIONS.len()).filter(|_| random.usize(..5) == 0).collect();
    if random.usize(..3) == 0 {
        // With a `/` at the end it would ask for directories, which `rg` does not name.
        return Search { pattern: None, glob: Some(glob.trim_matches(['!', '/']).to_owned()), options };
    }
    let pattern = *random.choice(&patterns).unwrap();
    if pattern.contains(r"\n") {
        options.push(MULTILINE);
    }
    let pattern = Some(pattern.to_owned());
    Search { pattern, glob: random.bool().then(|| glob.to_owned()), options }
}

#[test]
fn finds_what_rg_finds() {
    let rg = match Rg::find() {
        Ok(rg) => rg,
        Err(missing) => {
            eprintln!("skipped: {missing}");
            return;
        }
    };
    let mut wrong = Vec::new();
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..SEARCHES.div_ceil(20) {
        let tree = tree(&mut random);
        let registry = registry(&tree);
        for _ in 0..20 {
            let search = search(&mut random);
            let call = |tool: &str, input| {
                let reply = call_of(&registry, tool, input);
                assert!(reply.status.is_ok(), "{}", reply.output.to_text());
                reply.output
            };
            let differences = search.differences(&call, &rg, tree.path());
            let unknown = differences.iter().filter(|found| found.reason.is_none());
            wrong.extend(unknown.map(|found| format!("{search:?}: {found}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
