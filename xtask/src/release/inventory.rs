//! Which crates a program is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

/// The program and what is compiled for it: its dependencies and their build scripts', on any platform, tests not counted.
#[derive(Debug)]
pub(super) struct Inventory {
    pub(super) program: Part,
    /// Sorted by name and version, the program not among them.
    pub(super) parts: Vec<Part>,
}

/// One crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) licence: Option<String>,
    pub(super) folder: PathBuf,
    /// The SHA-256 of its package, in hexadecimal digits; a crate of the workspace has none.
    pub(super) checksum: Option<String>,
    /// What it needs, by [`Part::reference`].
    pub(super) needs: Vec<String>,
}

impl Part {
    /// Names the crate as package managers do among each other (a `purl`).
    pub(super) fn reference(&self) -> String {
        reference(&self.name, &self.version)
    }
}

fn reference(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{version}")
}

impl Inventory {
    /// Finds what is reached from a package in what `cargo metadata` resolved.
    pub(super) fn of(metadata: &Value, lock: &str, program: &str) -> anyhow::Result<Self> {
        let by_id = |list: &Value| -> BTreeMap<String, Value> {
            let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
            list.iter().filter_map(|one| Some((one["id"].as_str()?.to_owned(), one.clone()))).collect()
        };
        let (packages, nodes) = (by_id(&metadata["packages"]), by_id(&metadata["resolve"]["nodes"]));
        let root = packages.iter().find(|(_, package)| package["name"] == program);
        let (root, _) = root.with_context(|| format!("there is no package {program}"))?;
        let checksums = checksums(lock);
        let (mut met, mut open) = (BTreeSet::from([root.clone()]), vec![root.clone()]);
        let (mut own, mut parts) = (None, Vec::new());
        while let Some(id) = open.pop() {
            let package =
                packages.get(&id).with_context(|| format!("`{id}` is resolved and not described"))?;
            let needed = nodes.get(&id).map(needed).unwrap_or_default();
            let part = part(package, &needed, &packages, &checksums)?;
            if id == *root {
                own = Some(part);
            } else {
                parts.push(part);
            }
            open.extend(needed.into_iter().filter(|next| met.insert(next.clone())));
        }
        parts.sort();
        Ok(Self { program: own.context("the program is a part of itself")?, parts })
    }
}

/// The packages that one needs other than for its tests.
fn needed(node: &Value) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let is_needed =
        |dependency: &Value| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev");
    list(&node["deps"])
        .iter()
        .filter(|dependency| is_needed(dependency))
        .filter_map(|dependency| Some(dependency["pkg"].as_str()?.to_owned()))
        .collect()
}

fn part(
    package: &Value,
    needed: &[String],
    packages: &BTreeMap<String, Value>,
    checksums: &BTreeMap<(String, String), String>,
) -> anyhow::Result<Part> {
    let text = |package: &Value, key: &str| -> anyhow::Result<String> {
        package[key].as_str().map(str::to_owned).with_context(|| format!("a package has no `{key}`"))
    };
    let (name, version) = (text(package, "name")?, text(package, "version")?);
    let manifest = text(package, "manifest_path")?;
    let mut needs = needed
        .iter()
        .filter_map(|id| packages.get(id))
        .map(|package| Ok(reference(&text(package, "name")?, &text(package, "version")?)))
        .collect::<anyhow::Result<Vec<String>>>()?;
    needs.sort();
    Ok(Part {
        licence: package["license"].as_str().map(str::to_owned),
        folder: Path::new(&manifest).parent().map(Path::to_path_buf).unwrap_or_default(),
        checksum: checksums.get(&(name.clone(), version.clone())).cloned(),
        needs,
        name,
        version,
    })
}

/// Reads the checksums out of a lock file, whose lines cargo writes in one form only.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |package: &str, key: &str| -> Option<String> {
        let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    lock.split("[[package]]")
        .filter_map(|package| {
            Some(((value(package, "name")?, value(package, "version")?), value(package, "checksum")?))
        })
        .collect()
}

#[cfg(test)]
pub(super) fn sample() -> Inventory {
    let metadata = serde_json::json!({
        "packages": [
            { "id": "cli", "name": "haft-cli", "version": "0.1.0", "license": "MIT", "manifest_path": "/w/cli/Cargo.toml" },
            { "id": "b", "name": "b", "version": "2.0.0", "license": "Apache-2.0 OR MIT", "manifest_path": "/r/b/Cargo.toml" },
            { "id": "c", "name": "c", "version": "1.0.0", "license": null, "manifest_path": "/r/c/Cargo.toml" },
            { "id": "test", "name": "test", "version": "1.0.0", "license": "MIT", "manifest_path": "/r/test/Cargo.toml" },
        ],
        "resolve": { "nodes": [
            { "id": "cli", "deps": [
                { "pkg": "b", "dep_kinds": [{ "kind": "dev" }, { "kind": null }] },
                { "pkg": "test", "dep_kinds": [{ "kind": "dev" }] },
            ] },
            { "id": "b", "deps": [{ "pkg": "c", "dep_kinds": [{ "kind": "build" }] }] },
            { "id": "c", "deps": [{ "pkg": "b", "dep_kinds": [{ "kind": null }] }] },
        ] },
    });
    let lock = "[[package]]\nname = \"b\"\nversion = \"2.0.0\"\nsource = \"registry\"\nchecksum = \"ab12\"\n\n\
                [[package]]\nname = \"c\"\nversion = \"1.0.0\"\n";
    Inventory::of(&metadata, lock, "haft-cli").unwrap()
}

#[cfg(test)]
mod tests {
    use super::{Part, sample};

    #[test]
    fn finds_what_is_compiled_for_the_program_and_nothing_of_its_tests() {
        let inventory = sample();
        assert_eq!(inventory.program.reference(), "pkg:cargo/haft-cli@0.1.0");
        assert_eq!(inventory.program.needs, ["pkg:cargo/b@2.0.0"]);
        let parts: Vec<(String, Option<&str>)> =
            inventory.parts.iter().map(|part: &Part| (part.reference(), part.checksum.as_deref())).collect();
        assert_eq!(
            parts,
            [("pkg:cargo/b@2.0.0".to_owned(), Some("ab12")), ("pkg:cargo/c@1.0.0".to_owned(), None)]
        );
    }
}
