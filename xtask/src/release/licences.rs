//! The notices that go with the program: each crate's licence, and the texts that come with it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::inventory::{Inventory, Part};

/// What the files with licences and notices are called, up to what stands behind it.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// Writes the report; each text once, with the crates it came with.
pub(super) fn report(inventory: &Inventory, texts_of: &dyn Fn(&Path) -> Vec<String>) -> String {
    let Inventory { program, parts } = inventory;
    let mut report = format!("# Licences of what {} {} is made of\n\n", program.name, program.version);
    let mut crates_of: BTreeMap<String, Vec<&Part>> = BTreeMap::new();
    for part in parts {
        let licence = part.licence.as_deref().unwrap_or("not said by its manifest; see its texts below");
        let texts = texts_of(&part.folder);
        let note = if texts.is_empty() { " (its package holds no text of it)" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(report, "- {} {}: {licence}{note}", part.name, part.version);
        for text in texts {
            crates_of.entry(text).or_default().push(part);
        }
    }
    report.push_str("\n## Texts\n");
    let mut texts: Vec<(Vec<&Part>, String)> =
        crates_of.into_iter().map(|(text, parts)| (parts, text)).collect();
    texts.sort();
    for (parts, text) in texts {
        let names: Vec<String> = parts.iter().map(|part| format!("{} {}", part.name, part.version)).collect();
        let _ = writeln!(report, "\n### {}\n\n{}", names.join(", "), indented(&text));
    }
    report
}

/// Reads the licences and notices in a crate's folder, without what differs between copies of one text.
pub(super) fn texts_of(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_notice = |name: &str| NAMES.iter().any(|start| name.to_ascii_uppercase().starts_with(start));
    let mut files: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| is_notice(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    let texts = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    texts
        .map(|text| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned())
        .collect()
}

/// Sets a text apart, so that nothing in it is taken for a part of the page.
fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{report, texts_of};
    use crate::release::inventory::sample;

    #[test]
    fn each_text_stands_there_once_with_its_crates() {
        let texts = |folder: &Path| match folder.file_name().unwrap().to_str().unwrap() {
            "b" => vec!["# Free\n\nTake it.".to_owned(), "Notice.".to_owned()],
            _ => vec!["# Free\n\nTake it.".to_owned()],
        };
        assert_eq!(
            report(&sample(), &texts),
            "# Licences of what haft-cli 0.1.0 is made of\n\n\
             - b 2.0.0: Apache-2.0 OR MIT\n\
             - c 1.0.0: not said by its manifest; see its texts below\n\n\
             ## Texts\n\n\
             ### b 2.0.0\n\n    Notice.\n\n\
             ### b 2.0.0, c 1.0.0\n\n    # Free\n\n    Take it.\n"
        );
    }

    #[test]
    fn a_crate_without_a_text_is_told() {
        let report = report(&sample(), &|_| Vec::new());
        assert!(
            report.contains("- b 2.0.0: Apache-2.0 OR MIT (its package holds no text of it)\n"),
            "{report}"
        );
    }

    #[test]
    fn reads_the_texts_of_a_folder() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let firsts: Vec<String> =
            texts_of(root).iter().map(|text| text.lines().next().unwrap().trim().to_owned()).collect();
        assert_eq!(firsts, ["Apache License", "MIT License"]);
        assert_eq!(texts_of(&root.join("nowhere")), Vec::<String>::new());
    }
}
