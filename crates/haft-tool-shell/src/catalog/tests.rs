//! The built-in catalog, held against commands.

use super::{CommandCatalog, Effects, Grantable, Nested, Target, Word};
use expect_test::{expect, expect_file};
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Splits one simple command; `None` where there is more than that in the text.
fn split(text: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut chars = text.chars().peekable();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        if chars.peek().is_none() {
            return Some(words);
        }
        let (mut value, mut source, mut is_literal) = (String::new(), String::new(), true);
        while let Some(c) = chars.next_if(|c| !c.is_whitespace()) {
            source.push(c);
            match c {
                '\'' | '"' => loop {
                    let inner = chars.next()?;
                    source.push(inner);
                    match inner {
                        end if end == c => break,
                        '$' | '`' if c == '"' => is_literal = false,
                        '\\' if c == '"' => {
                            let escaped = chars.next()?;
                            source.push(escaped);
                            if !matches!(escaped, '"' | '\\' | '$' | '`') {
                                value.push('\\');
                            }
                            value.push(escaped);
                            continue;
                        }
                        _ => {}
                    }
                    value.push(inner);
                },
                '\\' => {
                    let escaped = chars.next()?;
                    source.push(escaped);
                    value.push(escaped);
                }
                '|' | '&' | ';' | '<' | '>' | '(' | ')' | '\n' | '`' => return None,
                '~' if source.len() > 1 => {}
                '$' | '*' | '?' | '[' | '~' => is_literal = false,
                '{' if chars.peek() != Some(&'}') => is_literal = false,
                _ => {}
            }
            if !matches!(c, '\'' | '"' | '\\') {
                value.push(c);
            }
        }
        is_literal |= source == "[";
        words.push(Word { text: if is_literal { value } else { source }, is_literal });
    }
}

/// Says what a command does, in one line.
fn told(words: &[Word], effects: Option<&Effects>) -> String {
    let Some(effects) = effects else { return "unknown".to_owned() };
    let text = |word: &Word| if word.is_literal { word.text.clone() } else { format!("‹{}›", word.text) };
    let target = |target: &Target| match target {
        Target::File(word) => text(word),
        Target::Tree(word) => format!("{}/**", text(word)),
        Target::Listing(word) => format!("the names of {}", text(word)),
    };
    let line = |words: &[Word]| words.iter().map(text).collect::<Vec<_>>().join(" ");
    let mut parts = Vec::new();
    if !effects.is_complete {
        parts.push("not understood".to_owned());
    }
    if !effects.reads.is_empty() {
        parts.push(format!("reads {}", effects.reads.iter().map(target).collect::<Vec<_>>().join(" ")));
    }
    if !effects.writes.is_empty() {
        parts.push(format!("writes {}", effects.writes.iter().map(target).collect::<Vec<_>>().join(" ")));
    }
    for host in &effects.connects {
        let port = host.port.map(|port| format!(":{port}")).unwrap_or_default();
        parts.push(format!("connects to {}{port}", host.name.text));
    }
    for nested in &effects.runs {
        parts.push(match nested {
            Nested::Command(words) => format!("runs {}", line(words)),
            Nested::Script(script) => format!("runs the script {}", text(script)),
        });
    }
    if let Some(reason) = &effects.opaque {
        parts.push(format!("opaque: {reason}"));
    }
    if !effects.marked.is_empty() {
        let marked: Vec<_> = effects.marked.iter().map(|&place| words[place].text.as_str()).collect();
        parts.push(format!("marks {}", marked.join(" ")));
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
}

/// `cases.txt` has lines `$ COMMAND` and below each what it does.
#[test]
fn says_what_commands_do() {
    let cases = include_str!("cases.txt");
    let mut said = String::new();
    for line in cases.lines() {
        let Some(command) = line.strip_prefix("$ ") else {
            if line.is_empty() || line.starts_with('#') {
                let _ = writeln!(said, "{line}");
            }
            continue;
        };
        let words = split(command).expect("a case is one simple command");
        let effects = CommandCatalog::built_in().effects(&words);
        let _ = writeln!(said, "$ {command}\n{}", told(&words, effects.as_ref()));
    }
    expect_file!["cases.txt"].assert_eq(&said);
}

/// One line of the corpus.
#[derive(Deserialize)]
struct Sample {
    command: String,
    safe: bool,
    group: String,
}

/// How the samples of one group came out.
#[derive(Default)]
struct Tally {
    safe: usize,
    allowed: usize,
    missed: Vec<String>,
}

/// Whether nothing that a read-only policy with the working directory as its only root would refuse is in the command.
fn only_reads(words: &[Word], depth: usize) -> bool {
    let Some(effects) = CommandCatalog::built_in().effects(words) else { return false };
    let is_inside = |target: &Target| {
        let (Target::File(word) | Target::Tree(word) | Target::Listing(word)) = target;
        let is_glob = |text: &str| !text.contains(['$', '`', '~', '{']);
        !word.text.starts_with(['/', '~'])
            && !word.text.contains("..")
            && (word.is_literal || is_glob(&word.text))
    };
    effects.is_complete
        && depth < 5
        && effects.writes.is_empty()
        && effects.connects.is_empty()
        && effects.reads.iter().all(is_inside)
        && effects.runs.iter().all(|nested| match nested {
            Nested::Command(words) => only_reads(words, depth + 1),
            Nested::Script(script) => {
                script.is_literal && split(&script.text).is_some_and(|words| only_reads(&words, depth + 1))
            }
        })
}

/// The corpus is no part of the repository. `--nocapture` shows the groups and what was missed.
#[test]
fn no_command_that_does_harm_only_reads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/shell/dippy-dev.jsonl");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("skipped: there is no corpus of commands beside the workspace");
        return;
    };
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut wrong = Vec::new();
    let (mut safe, mut allowed) = (0, 0);
    let mut taken = std::time::Duration::ZERO;
    CommandCatalog::built_in();
    for line in text.lines() {
        let sample: Sample = serde_json::from_str(line).unwrap();
        let Some(words) = split(&sample.command) else { continue };
        let start = std::time::Instant::now();
        let is_allowed = only_reads(&words, 0);
        taken += start.elapsed();
        let tally = tallies.entry(sample.group.clone()).or_default();
        if sample.safe {
            safe += 1;
            tally.safe += 1;
            if is_allowed {
                allowed += 1;
                tally.allowed += 1;
            } else {
                tally.missed.push(format!(
                    "{}  → {}",
                    sample.command,
                    told(&words, CommandCatalog::built_in().effects(&words).as_ref())
                ));
            }
        } else if is_allowed {
            wrong.push(sample.command);
        }
    }
    for (group, tally) in &tallies {
        println!("{group}: {} of {}", tally.allowed, tally.safe);
        for missed in &tally.missed {
            println!("    {missed}");
        }
    }
    println!(
        "allowed {allowed} of {safe} safe ones; {} wrong; {taken:?} for {} lines",
        wrong.len(),
        text.lines().count()
    );
    assert_eq!(wrong, Vec::<String>::new());
}

fn grantable(command: &str) -> Option<Grantable> {
    CommandCatalog::built_in().grantable(&split(command).unwrap())
}

#[test]
fn grants_cover_the_command_and_its_subcommand() {
    assert_eq!(grantable("git log --oneline"), Some(Grantable::Words(2)));
    assert_eq!(grantable("gh pr list --limit 3"), Some(Grantable::Words(3)));
    assert_eq!(grantable("ls -l src"), Some(Grantable::Words(1)));
    assert_eq!(grantable("/usr/bin/sort x"), Some(Grantable::Words(1)));
    assert_eq!(grantable("python script.py"), Some(Grantable::Never));
    assert_eq!(grantable("docker run alpine"), Some(Grantable::Never));
    assert_eq!(grantable("no-such-command x"), None);
}

fn refused(toml: &str) -> String {
    CommandCatalog::built_in().extended(toml).unwrap_err().to_string()
}

#[test]
fn an_entry_that_does_not_follow_the_format_is_refused_with_its_line() {
    expect!["the catalog cannot be read at line 2: `--out=file`: the kind is none of: text, (a|b), read, read-tree, write, write-tree, out, edit, edit-tree, file-url, at-file, name, package, revision, host, url, remote-read, remote-write, command, exec, exec-all, shell, eval, code, directory, placeholder, assign, variable, plus, sed, awk, sql, jq, format, keys, unknown"]
    .assert_eq(&refused("[a]\n[x]\noptions = \"\"\"-a\n --out=file\"\"\""));
    expect!["the catalog cannot be read at line 2: unknown field `option`, expected one of `path`, `also`, `words`, `old`, `info`, `everywhere`, `sub`, `other`, `never`, `options`, `open`, `operands`, `without`, `always`, `complete`, `forms`, `assignments`, `adds`, `stops`, `grant`"].assert_eq(&refused("[x]\noption = '-a'"));
    expect!["the catalog cannot be read at line 1: `text*`: operands are written `kind… kind?… kind* kind…`, with one `*` or `+`"].assert_eq(&refused("[x]\noperands = 'read* text*'"));
    expect!["the catalog cannot be read at line 4: `-a`: the option is listed twice"]
        .assert_eq(&refused("[x]\n[[x.sub]]\npath = 'a'\n[[x.sub]]\npath = 'b'\noptions = '-a -a'"));
    expect!["the catalog cannot be read at line 1: unclosed table, expected `]`"].assert_eq(&refused("[x"));
}

#[test]
fn a_command_of_a_text_replaces_the_built_in_one() {
    let catalog = CommandCatalog::built_in().extended("[sort]\noperands = 'write'").unwrap();
    let words = split("sort x").unwrap();
    assert_eq!(told(&words, catalog.effects(&words).as_ref()), "writes x");
    assert_eq!(told(&words, CommandCatalog::built_in().effects(&words).as_ref()), "reads x");
}

fn word() -> impl Strategy<Value = Word> {
    let texts = prop_oneof![
        "[a-z]{1,6}",
        "-[a-zA-Z]{1,3}",
        "--[a-z]{1,8}(=[a-z/]{0,4})?",
        Just("{}".to_owned()),
        Just(";".to_owned()),
        Just("--".to_owned()),
        "\\PC{0,8}",
    ];
    (texts, prop::bool::weighted(0.8)).prop_map(|(text, is_literal)| Word { text, is_literal })
}

proptest! {
    /// Whatever the words are, looking at them ends and does not panic, and marks are places in them.
    #[test]
    fn any_words_can_be_looked_at(name in any::<prop::sample::Index>(), rest in prop::collection::vec(word(), 0..8)) {
        let mut names: Vec<_> = CommandCatalog::built_in().commands().keys().collect();
        names.sort();
        let words: Vec<_> = std::iter::once(Word::literal(&**names[name.index(names.len())])).chain(rest).collect();
        let effects = CommandCatalog::built_in().effects(&words).unwrap();
        prop_assert!(effects.marked.iter().all(|&place| place < words.len()));
    }
}

#[test]
fn a_word_that_could_become_an_option_or_a_subcommand_is_never_overlooked() {
    for name in CommandCatalog::built_in().commands().keys() {
        let words = [Word::literal(&**name), Word::source("$x")];
        let effects = CommandCatalog::built_in().effects(&words).unwrap();
        // Some take anything as text.
        assert!(effects.opaque.is_some() || effects == Effects::none() || !effects.is_complete, "{name}");
        assert!(effects.opaque.is_some() || !has_options_that_matter(name), "{name}");
    }
}

/// Whether a command that is understood with some word is not understood with another.
fn has_options_that_matter(name: &str) -> bool {
    let with =
        |word: &str| CommandCatalog::built_in().effects(&[Word::literal(name), Word::literal(word)]).unwrap();
    with("x").is_complete && !with("--no-such-option").is_complete
}
