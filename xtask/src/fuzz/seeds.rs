//! What targets begin with: texts of the repository's own tests.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::literals::literals;

/// The most bytes of a text; libFuzzer would cut longer ones.
const MOST_BYTES: usize = 4096;

/// How long the words of a dictionary are, and how many it has: libFuzzer tries each of them about as often as all else.
const WORD: std::ops::RangeInclusive<usize> = 2..=20;
const MOST_WORDS: usize = 400;

/// Where the texts come from, and what becomes of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seeds {
    /// Files and folders below the root.
    places: &'static [&'static str],
    /// Whether two that follow each other are the lines of one seed.
    paired: bool,
}

impl Seeds {
    /// Takes each text for itself.
    pub(super) const fn each(places: &'static [&'static str]) -> Self {
        Self { places, paired: false }
    }

    /// Takes each text with the one behind it.
    pub(super) const fn pairs(places: &'static [&'static str]) -> Self {
        Self { places, paired: true }
    }

    /// Reads the texts, in the order of the files and without those that were met before.
    pub(super) fn texts(&self, root: &Path) -> anyhow::Result<Vec<String>> {
        let mut files = Vec::new();
        for place in self.places {
            collect(&root.join(place), &mut files)?;
        }
        let mut met = BTreeSet::new();
        let mut texts = Vec::new();
        for file in files {
            let Ok(source) = fs::read_to_string(&file) else { continue };
            let found = match file.extension().and_then(|extension| extension.to_str()) {
                Some("rs" | "toml") => literals(&source),
                Some("md") => blocks(&source),
                Some("json" | "yaml" | "yml") => vec![source],
                _ => Vec::new(),
            };
            let fitting = found.into_iter().filter(|text| !text.is_empty() && text.len() <= MOST_BYTES);
            texts.extend(fitting.filter(|text| met.insert(text.clone())));
        }
        Ok(texts)
    }

    fn seeds(&self, texts: &[String]) -> Vec<String> {
        if self.paired {
            texts.windows(2).flat_map(|pair| [pair.join("\n"), format!("{}\n{}", pair[1], pair[0])]).collect()
        } else {
            texts.to_vec()
        }
    }
}

/// Lists files below a place, sorted, so that a run can be made again.
fn collect(place: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if place.is_file() {
        files.push(place.to_path_buf());
        return Ok(());
    }
    let entries = fs::read_dir(place).with_context(|| format!("cannot list {}", place.display()))?;
    let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    entries.iter().try_for_each(|entry| collect(entry, files))
}

/// Lists the fenced blocks of a page.
fn blocks(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            match open.take() {
                Some(block) => found.push(block),
                None => open = Some(String::new()),
            }
        } else if let Some(block) = &mut open {
            block.push_str(line);
            block.push('\n');
        }
    }
    found
}

/// Writes each seed as a file, after those of another time are gone.
pub(super) fn write_seeds(folder: &Path, seeds: &Seeds, texts: &[String]) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(cannot)?;
    }
    fs::create_dir_all(folder).with_context(cannot)?;
    for (number, seed) in seeds.seeds(texts).iter().enumerate() {
        fs::write(folder.join(format!("{number:05}")), seed).with_context(cannot)?;
    }
    Ok(())
}

/// Writes the short ones as a dictionary of libFuzzer.
pub(super) fn write_dictionary(file: &Path, texts: &[String]) -> anyhow::Result<()> {
    fs::write(file, dictionary(texts)).with_context(|| format!("cannot write {}", file.display()))
}

fn dictionary(texts: &[String]) -> String {
    let words: BTreeSet<&str> = texts
        .iter()
        .flat_map(|text| text.split_whitespace().chain([text.as_str()]))
        .filter(|word| WORD.contains(&word.len()))
        .collect();
    // Those that are spread over all of them, since the order is that of the letters.
    let step = words.len().div_ceil(MOST_WORDS).max(1);
    let mut text = String::new();
    for word in words.into_iter().step_by(step) {
        text.push('"');
        for byte in word.bytes() {
            // Writing to a string cannot fail.
            let _ = match byte {
                b'"' | b'\\' => write!(text, "\\{}", char::from(byte)),
                0x20..=0x7e => write!(text, "{}", char::from(byte)),
                other => write!(text, "\\x{other:02X}"),
            };
        }
        text.push_str("\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Seeds, blocks, dictionary};

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn pairs_are_lines_in_both_orders() {
        let seeds = |seeds: Seeds| seeds.seeds(&texts(&["a", "b", "c"]));
        assert_eq!(seeds(Seeds::each(&[])), ["a", "b", "c"]);
        assert_eq!(seeds(Seeds::pairs(&[])), ["a\nb", "b\na", "b\nc", "c\nb"]);
    }

    #[test]
    fn the_blocks_of_a_page_are_texts() {
        assert_eq!(blocks("# A\n```json\n{}\n```\ntext\n```\na\nb\n```\n```open\n"), ["{}\n", "a\nb\n"]);
    }

    #[test]
    fn a_dictionary_has_the_words_with_escapes() {
        let words =
            dictionary(&texts(&["git push", "a\"\\\u{e9}", "x", "a word that is too long to be one"]));
        let expected =
            ["\"a\\\"\\\\\\xC3\\xA9\"", "\"be\"", "\"git push\"", "\"git\"", "\"is\"", "\"long\"", "\"one\""];
        let mut expected: Vec<&str> = expected.into();
        expected.extend(["\"push\"", "\"that\"", "\"to\"", "\"too\"", "\"word\""]);
        let mut found: Vec<&str> = words.lines().collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
