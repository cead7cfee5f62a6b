//! The messages that people and models are told, collected from where they are written.
//!
//! They are one list, so that they are read as one text and speak with one voice.

mod collected;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Context as _;

use self::collected::{Collected, Message, Reader};
use super::{cell, read};
use crate::metadata::Graph;

/// Words that say what others say, and what to write in their place.
const OTHER_WORDS: [(&str, &str); 7] = [
    ("exists already", "already exists"),
    ("folder", "directory"),
    ("mend", "correct"),
    ("look what", "look at what"),
    ("failed to", "cannot"),
    ("unable to", "cannot"),
    ("can't", "cannot"),
];

/// Makes the page, and names what speaks with another voice.
pub(super) fn page(root: &Path, graph: &Graph) -> anyhow::Result<(String, Vec<String>)> {
    let mut page = "# Messages\n\n\
                    <!-- Written by `cargo xtask docs` from the sources. -->\n\n\
                    What people and models are told when something is not as they want it, by the crate that says it. A part in braces is \
                    put in when it is said. *Model* is the text that a model reads; a *host* reads errors of the libraries; a *person* reads \
                    what the command says. A failure is told as what is wrong and, where there is one, the next step behind a `;`. What is put together \
                    from parts, and what the command prints when all is well, is not here.\n"
        .to_owned();
    let mut problems = Vec::new();
    for package in graph.packages.iter().filter(|package| package.is_under("crates")) {
        let folder = package.manifest.trim_end_matches("/Cargo.toml");
        let mut all = Vec::new();
        for file in sources(root, &format!("{folder}/src"))? {
            let mut collected = Collected::default();
            collected.collect(&read(root, &file)?).with_context(|| format!("cannot read {file}"))?;
            problems.extend(collected.messages.iter().flat_map(|message| faults(&file, message)));
            all.append(&mut collected.messages);
        }
        all.sort();
        all.dedup();
        if all.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n## `{}`\n\n| reader | message |\n| --- | --- |", package.name);
        for Message { reader, text } in all {
            let _ = writeln!(page, "| {} | {} |", reader.name(), cell(&text));
        }
    }
    Ok((page, problems))
}

/// Says what in a message is said otherwise elsewhere.
fn faults(file: &str, message: &Message) -> Vec<String> {
    let text = &message.text;
    let mut faults = Vec::new();
    let spaced = format!(" {} ", text.replace(|other: char| !other.is_alphanumeric() && other != '\'', " "));
    let words = OTHER_WORDS.iter().filter(|(word, _)| spaced.contains(&format!(" {word} ")));
    faults.extend(words.map(|(word, other)| format!("write \"{other}\" for \"{word}\"")));
    if message.reader == Reader::Host {
        if text.starts_with(|first: char| first.is_ascii_uppercase()) && !is_name(text) {
            faults.push("begin with a small letter".to_owned());
        }
        if text.ends_with('.') && !text.ends_with("..") {
            faults.push("leave out the full stop".to_owned());
        }
    }
    if message.reader == Reader::Model {
        let places = ["/sys/", "/proc/", "/home/", "/etc/"].into_iter().filter(|place| text.contains(place));
        faults.extend(places.map(|place| format!("do not tell a model of `{place}`")));
    }
    faults.into_iter().map(|fault| format!("{file}: \"{text}\": {fault}")).collect()
}

/// Tells whether a text begins with a word that is always written with capital letters, as `HTTP` or `OAuth`.
fn is_name(text: &str) -> bool {
    let word = text.split(|other: char| !other.is_alphanumeric()).next().unwrap_or(text);
    word.chars().skip(1).any(|letter| letter.is_ascii_uppercase()) || word == "Restate" || word == "Landlock"
}

/// Lists the sources below a directory that are not of tests alone.
fn sources(root: &Path, directory: &str) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join(directory)).with_context(|| format!("cannot list {directory}"))? {
        let entry = entry.with_context(|| format!("cannot list {directory}"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{directory}/{name}");
        let is_of_tests =
            ["tests", "tests.rs", "fixture.rs", "fake.rs", "conformance"].contains(&name.as_str());
        if is_of_tests {
            continue;
        }
        if entry.path().is_dir() {
            files.append(&mut sources(root, &path)?);
        } else if Path::new(&name).extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
