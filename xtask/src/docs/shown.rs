//! How many public items are shown by an example.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context as _;

use super::read;
use crate::metadata::Graph;

/// What stands before the name of an item that a user meets by name.
const ITEMS: [&str; 7] =
    ["pub struct ", "pub enum ", "pub trait ", "pub fn ", "pub async fn ", "pub type ", "pub macro "];

/// Files whose items are no part of what is promised: they are hidden where they are exported, for macros and measurements.
const HIDDEN: [&str; 2] =
    ["crates/haft-mcp/src/client/measured.rs", "crates/haft-tools-core/src/__private.rs"];

/// Counts the items of each crate, and lists those without an example.
pub(super) fn table(root: &Path, graph: &Graph) -> anyhow::Result<String> {
    let mut table = format!("{:<18}{:>6}{:>10}\n", "crate", "items", "examples");
    let mut bare = String::new();
    for name in crates(graph) {
        let items = items(root, name)?;
        let without = items.iter().filter(|item| !item.has_example);
        for Item { path, name, .. } in without.clone() {
            let _ = writeln!(bare, "{path}: {name}");
        }
        let shown = items.len() - without.count();
        let _ = writeln!(table, "{name:<18}{:>6}{shown:>10}", items.len());
    }
    Ok(format!("{bare}\n{table}"))
}

/// Names each item that has no example.
pub(super) fn problems(root: &Path, graph: &Graph) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for name in crates(graph) {
        let without = items(root, name)?.into_iter().filter(|item| !item.has_example);
        problems.extend(without.map(|Item { path, name, .. }| {
            format!("{path}: `{name}` has no example in its documentation: show what it is for in a few lines that run")
        }));
    }
    Ok(problems)
}

/// An item, where it stands, and whether its documentation has an example.
struct Item {
    path: String,
    name: String,
    has_example: bool,
}

/// The crates with items that others can name; the command is used by its command line.
fn crates(graph: &Graph) -> Vec<&str> {
    let listed =
        graph.packages.iter().filter(|package| package.is_under("crates") && package.name != "haft-cli");
    let mut names: Vec<&str> = listed.map(|package| package.name.as_str()).collect();
    names.sort_unstable();
    names
}

/// Lists the items of a crate.
///
/// An item that is `pub` and stands at the margin can be reached from outside: a lint sees to that.
fn items(root: &Path, name: &str) -> anyhow::Result<Vec<Item>> {
    let mut items = Vec::new();
    for path in sources(root, &format!("crates/{name}/src"))? {
        if HIDDEN.contains(&path.as_str()) {
            continue;
        }
        let code = read(root, &path)?;
        items.extend(counted(&code).into_iter().map(|(name, has_example)| Item {
            path: path.clone(),
            name: name.to_owned(),
            has_example,
        }));
    }
    Ok(items)
}

/// Lists the sources below a folder, but for tests.
pub(super) fn sources(root: &Path, folder: &str) -> anyhow::Result<Vec<String>> {
    files(root, folder, &["rs"])
}

/// Lists the files of some kinds below a folder, but for tests.
pub(super) fn files(root: &Path, folder: &str, kinds: &[&str]) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.join(&folder)).with_context(|| format!("cannot list {folder}"))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}/{name}");
            if entry.file_type()?.is_dir() {
                if name != "tests" {
                    folders.push(path);
                }
            } else if name != "tests.rs" && kinds.contains(&name.rsplit_once('.').unwrap_or_default().1) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Gives each item of a file, and whether its documentation has an example.
fn counted(code: &str) -> Vec<(&str, bool)> {
    let mut items = Vec::new();
    let mut has_example = false;
    for line in code.lines() {
        if let Some(comment) = line.strip_prefix("///") {
            has_example |= comment.trim_start().starts_with("```");
        } else if !["#", " ", ")", "//"].iter().any(|start| line.starts_with(start)) {
            if let Some(start) = ITEMS.iter().find(|start| line.starts_with(**start)) {
                let name =
                    line[start.len()..].split(['(', '<', '{', ';', ':', ' ', '=']).next().unwrap_or_default();
                items.push((name, has_example));
            }
            has_example = false;
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn an_item_is_shown_if_its_documentation_has_an_example() {
        let code = "/// One.\n///\n/// ```\n/// x();\n/// ```\n#[derive(Debug)]\npub struct One<T>(T);\n\nimpl One {\n    /// ```\n    pub fn not_at_the_margin() {}\n}\n\n/// Two.\npub fn two(x: u8) {}\n\npub(crate) fn three() {}\n";
        assert_eq!(counted(code), [("One", true), ("two", false)]);
    }
}
