//! The cookbook, made of the programs in `examples/`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};

use super::read;

const FOLDER: &str = "examples/cookbook";

/// The recipes in their order, each with how it is run.
const RECIPES: [(&str, &str); 14] = [
    ("examples/cookbook/src/own_loop.rs", "cargo run -p cookbook -- own_loop"),
    ("examples/cookbook/src/wrap_a_function.rs", "cargo run -p cookbook -- wrap_a_function"),
    ("examples/cookbook/src/read_only.rs", "cargo run -p cookbook -- read_only"),
    ("examples/cookbook/src/ask_a_person.rs", "cargo run -p cookbook -- ask_a_person"),
    ("examples/cookbook/src/approve_later.rs", "cargo run -p cookbook -- approve_later"),
    ("examples/cookbook/src/serve_tools.rs", "cargo run -p cookbook -- serve_tools"),
    ("examples/cookbook/src/use_a_server.rs", "cargo run -p cookbook -- use_a_server"),
    ("examples/openapi-petstore/src/main.rs", "cargo run -p openapi-petstore"),
    ("examples/cookbook/src/huge_output.rs", "cargo run -p cookbook -- huge_output"),
    ("examples/cookbook/src/layer.rs", "cargo run -p cookbook -- layer"),
    ("examples/cookbook/src/sandbox.rs", "cargo run -p cookbook -- sandbox"),
    ("examples/cookbook/src/delegate.rs", "cargo run -p cookbook -- delegate"),
    ("examples/cookbook/tests/test_a_tool.rs", "cargo test -p cookbook --test test_a_tool"),
    ("examples/cookbook/src/record_and_replay.rs", "cargo run -p cookbook -- record_and_replay"),
];

/// What stands in the file of each recipe that is no recipe itself.
const BESIDE: [&str; 1] = ["main.rs"];

/// Makes the page, where there are recipes.
pub(super) fn page(root: &Path) -> anyhow::Result<Option<String>> {
    if !root.join(FOLDER).is_dir() {
        return Ok(None);
    }
    complain_of_others(root)?;
    let mut contents = String::new();
    let mut recipes = String::new();
    for (path, run) in RECIPES {
        let code = read(root, path)?;
        let (title, text, code) = taken_apart(&code).with_context(|| format!("{path} is not a recipe"))?;
        let anchor = anchor(title);
        let _ = writeln!(contents, "- [{title}](#{anchor})");
        let _ = writeln!(recipes, "\n## {title}\n\n{text}\n\n```sh\n{run}\n```\n\n```rust\n{code}\n```");
        let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
        let printed = format!("{FOLDER}/tests/output/{name}.txt");
        if path.starts_with("examples/cookbook/src") && root.join(&printed).is_file() {
            let printed = read(root, &printed)?;
            if !printed.is_empty() {
                let _ = writeln!(recipes, "\nIt prints:\n\n````text\n{}\n````", printed.trim_end());
            }
        }
        let _ = writeln!(recipes, "\n[{path}](../{path})");
    }
    Ok(Some(format!(
        "# Cookbook\n\n\
         <!-- Written by `cargo xtask docs` from the programs in examples/. -->\n\n\
         What users of agents want to do, each as a program that CI builds, runs and compares with what is shown.\n\n\
         {contents}{recipes}"
    )))
}

/// A recipe that is on no page would not be found by anybody.
fn complain_of_others(root: &Path) -> anyhow::Result<()> {
    let folder = format!("{FOLDER}/src");
    for entry in std::fs::read_dir(root.join(&folder)).with_context(|| format!("cannot list {folder}"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        if !BESIDE.contains(&&*name) && !RECIPES.iter().any(|(recipe, _)| *recipe == path) {
            bail!("{path} is not in the list of recipes in xtask/src/docs/cookbook.rs");
        }
    }
    Ok(())
}

/// Gives the first line of a file's documentation, what follows of it, and the code.
fn taken_apart(file: &str) -> Option<(&str, String, &str)> {
    let end = file.find("\n\n").filter(|_| file.starts_with("//! "))?;
    let mut lines = file[..end].lines().map_while(|line| line.strip_prefix("//!")).map(str::trim_start);
    let title = lines.next()?.trim_end_matches('.');
    let text = lines.collect::<Vec<_>>().join("\n");
    Some((title, text.trim().to_owned(), file[end..].trim()))
}

/// Names a heading as links do.
fn anchor(title: &str) -> String {
    let letters = title.to_lowercase();
    letters
        .chars()
        .filter(|letter| letter.is_alphanumeric() || *letter == ' ' || *letter == '-')
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{anchor, taken_apart};

    #[test]
    fn a_recipe_is_its_documentation_and_its_code() {
        let file =
            "//! Do one thing, and another\n//!\n//! First this.\n//! Then that.\n\nuse x;\n\nfn run() {}\n";
        assert_eq!(
            taken_apart(file),
            Some((
                "Do one thing, and another",
                "First this.\nThen that.".to_owned(),
                "use x;\n\nfn run() {}"
            ))
        );
        assert_eq!(taken_apart("use x;\n\nfn run() {}\n"), None);
        assert_eq!(anchor("Do one thing, and another"), "do-one-thing-and-another");
    }
}
