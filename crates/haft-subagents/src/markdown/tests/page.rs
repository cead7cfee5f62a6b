//! Checks the page about files of agents: its examples, and its table of tools.

use super::super::AgentFile;
use super::super::keys::{IGNORED, KEYS};
use super::super::tool_terms::FOREIGN;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/subagents.md"));

/// Lists the fenced blocks of a language, with the block behind each where that follows at once.
fn examples() -> Vec<(&'static str, Option<&'static str>)> {
    let blocks = PAGE.split("```markdown\n").skip(1);
    let read = |block: &'static str| {
        let (example, rest) = block.split_once("```\n").unwrap();
        let notes = rest.trim_start().strip_prefix("```text\n").and_then(|notes| notes.split_once("```"));
        (example, notes.map(|(notes, _)| notes))
    };
    blocks.map(read).collect()
}

#[test]
fn the_examples_of_the_page_are_read_as_it_says() {
    let examples = examples();
    assert_eq!(examples.len(), 2);
    for (example, notes) in examples {
        let name = AgentFile::parse(example, "agents/x.md").unwrap().spec.name;
        let file = AgentFile::parse(example, &format!("agents/{name}.md")).unwrap();
        let noted: String = file.notes.iter().map(|note| format!("{note}\n")).collect::<Vec<_>>().concat();
        assert_eq!(noted, notes.unwrap_or_default());
    }
}

#[test]
fn the_page_names_every_key() {
    let keys = KEYS.iter().map(|key| format!("| `{key}` |"));
    let ignored = IGNORED.iter().map(|(key, _)| format!("`{key}`"));
    let missing: Vec<String> = keys.chain(ignored).filter(|key| !PAGE.contains(key.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_page_says_what_each_tool_of_the_known_format_is() {
    let cell = |names: &[&str]| match names {
        [] => " ".to_owned(),
        names => format!(" {} ", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    };
    let row = |name: &str, chosen: &[&str], left_out: &[&str]| {
        format!("| `{name}` |{}|{}|\n", cell(chosen), cell(left_out))
    };
    let table: String = FOREIGN
        .iter()
        .map(|known| row(known.name, known.chosen, known.left_out))
        .collect::<Vec<_>>()
        .concat();
    assert!(PAGE.contains(&table), "the table of `docs/reference/subagents.md` is to be:\n{table}");
}
