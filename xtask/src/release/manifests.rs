//! What a registry wants to be told of a crate.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

/// The most keywords and categories that crates.io takes.
const MOST_WORDS: usize = 5;

/// What a manifest says of a crate that is published.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// The fields that are missing or empty.
    missing: Vec<&'static str>,
    keywords: Vec<String>,
    categories: usize,
    /// Crates of the workspace that it needs outside tests and names without a version.
    unversioned: Vec<String>,
}

/// Lists the packages of the workspace that are published.
pub(super) fn published(metadata: &Value) -> anyhow::Result<Vec<Manifest>> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    packages.iter().filter(|package| package["publish"].is_null()).map(read).collect()
}

fn read(package: &Value) -> anyhow::Result<Manifest> {
    let name = package["name"].as_str().context("a package has no name")?.to_owned();
    let manifest = package["manifest_path"].as_str().with_context(|| format!("{name} has no manifest"))?;
    let folder = Path::new(manifest).parent().with_context(|| format!("{name} has no folder"))?.to_owned();
    let fields = ["description", "license", "readme", "rust_version"];
    let is_missing = |field: &&str| package[*field].as_str().is_none_or(|text| text.trim().is_empty());
    let texts = |field: &str| -> Vec<String> {
        let list = package[field].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
    };
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    let unversioned = dependencies.iter().filter(|dependency| {
        dependency["path"].is_string() && dependency["kind"] != "dev" && dependency["req"] == "*"
    });
    Ok(Manifest {
        missing: fields.into_iter().filter(is_missing).collect(),
        keywords: texts("keywords"),
        categories: texts("categories").len(),
        unversioned: unversioned
            .filter_map(|dependency| Some(dependency["name"].as_str()?.to_owned()))
            .collect(),
        name,
        folder,
    })
}

impl Manifest {
    /// Says what a registry would refuse, or what people would miss there.
    pub(super) fn problems(&self) -> Vec<String> {
        let name = &self.name;
        let mut problems: Vec<String> = self
            .missing
            .iter()
            .map(|field| format!("{name}: there is no `{}`", field.replace('_', "-")))
            .collect();
        for (what, count) in [("keywords", self.keywords.len()), ("categories", self.categories)] {
            if !(1..=MOST_WORDS).contains(&count) {
                problems.push(format!("{name}: there are {count} `{what}`; give 1 to {MOST_WORDS}"));
            }
        }
        problems.extend(self.keywords.iter().filter(|keyword| !is_keyword(keyword)).map(|keyword| {
            format!("{name}: `{keyword}` is not a keyword: at most 20 letters, digits, `-`, `_` and `+`, a letter first")
        }));
        problems.extend(self.unversioned.iter().map(|dependency| {
            format!("{name}: `{dependency}` is named without a version, so a registry could not tell which is meant")
        }));
        problems
    }
}

fn is_keyword(word: &str) -> bool {
    word.len() <= 20
        && word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.chars().all(|character| character.is_ascii_alphanumeric() || "-_+".contains(character))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::published;

    fn check(package: &Value, expected: &[&str]) {
        let manifests = published(&json!({ "packages": [package] })).unwrap();
        let problems: Vec<String> = manifests.iter().flat_map(super::Manifest::problems).collect();
        assert_eq!(problems, expected);
    }

    fn whole() -> Value {
        json!({
            "name": "a", "manifest_path": "/w/crates/a/Cargo.toml", "publish": null,
            "description": "A.", "license": "MIT", "readme": "README.md", "rust_version": "1.95",
            "keywords": ["agent"], "categories": ["development-tools"],
            "dependencies": [
                { "name": "b", "path": "/w/crates/b", "req": "^0.1.0", "kind": null },
                { "name": "t", "path": "/w/crates/t", "req": "*", "kind": "dev" },
                { "name": "serde", "req": "*", "kind": null },
            ],
        })
    }

    #[test]
    fn a_whole_manifest_is_in_order() {
        check(&whole(), &[]);
    }

    #[test]
    fn what_is_not_published_is_not_looked_at() {
        let mut package = json!({ "name": "a", "publish": [] });
        check(&package, &[]);
        package["publish"] = json!(["elsewhere"]);
        check(&package, &[]);
    }

    #[test]
    fn names_each_field_that_is_missing_or_empty() {
        let mut package = whole();
        package["description"] = json!(" ");
        package["rust_version"] = Value::Null;
        package["categories"] = json!([]);
        check(
            &package,
            &[
                "a: there is no `description`",
                "a: there is no `rust-version`",
                "a: there are 0 `categories`; give 1 to 5",
            ],
        );
    }

    #[test]
    fn names_words_and_dependencies_that_a_registry_refuses() {
        let mut package = whole();
        package["keywords"] = json!(["model context protocol", "a", "b", "c", "d", "e"]);
        package["dependencies"][0]["req"] = json!("*");
        check(
            &package,
            &[
                "a: there are 6 `keywords`; give 1 to 5",
                "a: `model context protocol` is not a keyword: at most 20 letters, digits, `-`, `_` and `+`, a letter first",
                "a: `b` is named without a version, so a registry could not tell which is meant",
            ],
        );
    }
}
