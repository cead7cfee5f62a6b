//! The messages that people and models are told, collected from where they are written.
//!
//! They are one list, so that they are read as one text and speak with one voice.

use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::Value;

use super::{cell, shown};
use crate::metadata::Graph;
use crate::workspace::Workspace;

/// Who reads a message, as `xtask/examples/pages` says it, in the order of the page.
const READERS: [&str; 4] = [MODEL, "person", HOST, "log"];
const MODEL: &str = "model";
const HOST: &str = "host";

/// Files whose texts nobody is told: those of tests that others can name, of what the schema of the configuration says, which
/// stands in `haft.schema.json`, and of what is written for a sandbox.
const NOT_TOLD: [&str; 8] = [
    "/conformance/",
    "/fixture.rs",
    "/measured.rs",
    "/file_limits/field.rs",
    "/haft-cli/src/config/schema.rs",
    "/haft-mcp/src/client/config/schema.rs",
    "/haft-policy/src/schema.rs",
    "/sandbox/seatbelt.rs",
];

/// A text that is told.
struct Message<'a> {
    file: &'a str,
    reader: &'a str,
    text: &'a str,
}

/// Words that say what others say, and what to write in their place.
const OTHER_WORDS: [(&str, &str); 8] = [
    ("exists already", "already exists"),
    ("folder", "directory"),
    ("mend", "correct"),
    ("mended", "corrected"),
    ("look what", "look at what"),
    ("failed to", "cannot"),
    ("unable to", "cannot"),
    ("can't", "cannot"),
];

/// Words that tell nobody what to do.
const NEEDLESS_WORDS: [&str; 7] =
    ["internal error", "invariant", "please", "should not happen", "sorry", "unexpectedly", "unreachable"];

/// Makes the page by a program that reads sources, and names what speaks with another voice.
pub(super) fn page(
    workspace: &Workspace,
    graph: &Graph,
    pages: &str,
) -> anyhow::Result<(String, Vec<String>)> {
    let mut page = "# Messages\n\n\
                    <!-- Written by `cargo xtask docs` from the sources. -->\n\n\
                    What people and models are told, by the crate that says it. A part in braces is put in when it is said, and a text that \
                    stands here can be such a part itself; parts of one or two words are not listed. A *model* reads what answers its calls, and \
                    what tools say of themselves; a *person* what the command, its pages and the problems of a policy say; a *host* the errors of the \
                    libraries; the *log* is that of the program. A failure is told as what is wrong and, where there is one, the next step behind a `;`. \
                    The help of the command stands in [Commands](cli.md) alone, and what the configuration means in its \
                    [schema](haft.schema.json).\n"
        .to_owned();
    let mut problems = Vec::new();
    for package in graph.packages.iter().filter(|package| package.is_under("crates")) {
        let folder = package.manifest.trim_end_matches("/Cargo.toml");
        let mut files = shown::files(workspace.root(), &format!("{folder}/src"), &["rs", "html", "js"])?;
        files.retain(|file| !NOT_TOLD.iter().any(|not_told| file.contains(not_told)));
        let arguments: Vec<&str> =
            std::iter::once("messages").chain(files.iter().map(String::as_str)).collect();
        let told = serde_json::from_slice(&workspace.capture(pages, &arguments)?)?;
        let mut all = messages(&told).context("it does not give messages")?;
        problems.extend(all.iter().flat_map(faults));
        all.sort_by_key(Message::order);
        all.dedup_by_key(|message| message.order());
        if all.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n## `{}`\n\n| reader | message |\n| --- | --- |", package.name);
        for Message { reader, text, .. } in all {
            let _ = writeln!(page, "| {reader} | {} |", cell(text));
        }
    }
    Ok((page, problems))
}

fn messages(told: &Value) -> Option<Vec<Message<'_>>> {
    told.as_array()?.iter().map(Message::read).collect()
}

impl<'a> Message<'a> {
    fn read(told: &'a Value) -> Option<Self> {
        let text = |key: &str| told.get(key)?.as_str();
        Some(Self { file: text("file")?, reader: text("reader")?, text: text("text")? })
    }

    fn order(&self) -> (Option<usize>, &'a str) {
        (READERS.iter().position(|reader| *reader == self.reader), self.text)
    }
}

/// Says what in a message is said otherwise elsewhere.
fn faults(message: &Message<'_>) -> Vec<String> {
    let Message { file, reader, text } = *message;
    let mut faults = Vec::new();
    let spaced = format!(" {} ", text.replace(|other: char| !other.is_alphanumeric() && other != '\'', " "));
    let spaced = spaced.to_lowercase();
    let says = |word: &str| spaced.contains(&format!(" {word} "));
    let words = OTHER_WORDS.iter().filter(|(word, _)| says(word));
    faults.extend(words.map(|(word, other)| format!("write \"{other}\" for \"{word}\"")));
    let needless = NEEDLESS_WORDS.iter().filter(|word| says(word));
    faults.extend(needless.map(|word| format!("leave out \"{word}\"")));
    if text.contains("say `haft ") {
        faults.push("a command is run: write \"run\" for \"say\"".to_owned());
    }
    if reader == HOST {
        if text.starts_with(|first: char| first.is_ascii_uppercase()) && !is_name(text) {
            faults.push("begin with a small letter".to_owned());
        }
        if text.ends_with('.') && !text.ends_with("..") {
            faults.push("leave out the full stop".to_owned());
        }
    }
    if reader == MODEL {
        let places = ["/sys/", "/proc/", "/home/", "/etc/"].into_iter().filter(|place| text.contains(place));
        faults.extend(places.map(|place| format!("do not tell a model of `{place}`")));
    }
    faults.into_iter().map(|fault| format!("{file}: \"{text}\": {fault}")).collect()
}

/// Tells whether a text begins with a word that is always written with capital letters, as `HTTP` or `OAuth`.
fn is_name(text: &str) -> bool {
    let word = text.split(|other: char| !other.is_alphanumeric()).next().unwrap_or(text);
    word.chars().skip(1).any(|letter| letter.is_ascii_uppercase())
        || ["Landlock", "Linux", "Restate"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::{HOST, MODEL, Message, faults};

    #[test]
    fn another_voice_is_named() {
        let fault = |reader, text| faults(&Message { file: "a.rs", reader, text });
        assert_eq!(fault(HOST, "cannot read it"), [""; 0]);
        assert_eq!(fault(HOST, "HTTP is needed"), [""; 0]);
        assert_eq!(
            fault(HOST, "Failed to read the folder."),
            [
                "a.rs: \"Failed to read the folder.\": write \"directory\" for \"folder\"",
                "a.rs: \"Failed to read the folder.\": write \"cannot\" for \"failed to\"",
                "a.rs: \"Failed to read the folder.\": begin with a small letter",
                "a.rs: \"Failed to read the folder.\": leave out the full stop",
            ]
        );
        assert_eq!(
            fault("person", "please say `haft doctor`"),
            [
                "a.rs: \"please say `haft doctor`\": leave out \"please\"",
                "a.rs: \"please say `haft doctor`\": a command is run: write \"run\" for \"say\"",
            ]
        );
        assert_eq!(
            fault(MODEL, "`/proc/self` cannot be read"),
            ["a.rs: \"`/proc/self` cannot be read\": do not tell a model of `/proc/`"]
        );
    }
}
