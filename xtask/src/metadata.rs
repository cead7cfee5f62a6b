//! What `cargo metadata` says about the workspace, reduced to what the checks ask for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use crate::workspace::Workspace;

/// The packages of the workspace and, when it was asked for, the resolved graph below them.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// The workspace's own packages, ordered by name.
    pub(crate) packages: Vec<Package>,
    /// Every resolved package by its id; empty when dependencies were not resolved.
    pub(crate) nodes: BTreeMap<String, Node>,
}

/// One package of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// The manifest's path relative to the root, with `/` between its parts.
    pub(crate) manifest: String,
    pub(crate) rust_version: Option<String>,
    pub(crate) standing: Standing,
    /// What each feature turns on, as the manifest says it, by its name; `default` is among them where it exists.
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// Where a manifest places its package: `[package.metadata.haft]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    Layer(u8),
    /// Outside the layers and only ever a dev-dependency.
    Beside,
    /// Neither key is there.
    Unsaid,
    /// What is there means nothing; the text says why.
    Unclear(String),
}

/// One line of a manifest's dependency tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

/// One package of the resolved graph.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The ids of the packages it needs at run time, by any feature or on any platform.
    pub(crate) normal: Vec<String>,
}

impl Graph {
    /// Reads the workspace's own manifests.
    pub(crate) fn of_manifests(workspace: &Workspace) -> anyhow::Result<Self> {
        Self::read(workspace, &["metadata", "--format-version", "1", "--locked", "--no-deps"])
    }

    /// Reads the manifests and everything they resolve to.
    pub(crate) fn resolved(workspace: &Workspace) -> anyhow::Result<Self> {
        Self::read(workspace, &["metadata", "--format-version", "1", "--locked"])
    }

    fn read(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<Self> {
        let output = workspace.capture("cargo", arguments)?;
        let metadata = serde_json::from_slice(&output).context("`cargo metadata` wrote no JSON")?;
        Self::parse(&metadata).context("`cargo metadata` wrote something this command does not understand")
    }

    /// Picks what is needed out of the document that `cargo metadata --format-version 1` writes.
    pub(crate) fn parse(metadata: &Value) -> anyhow::Result<Self> {
        let root = text(metadata, "workspace_root")?;
        let members: Vec<&str> = list(metadata, "workspace_members").filter_map(Value::as_str).collect();
        let mut names = BTreeMap::new();
        let mut packages = Vec::new();
        for package in list(metadata, "packages") {
            let id = text(package, "id")?;
            names.insert(id, (text(package, "name")?, optional_text(package, "version").unwrap_or_default()));
            if members.contains(&id) {
                packages.push(parse_package(package, Path::new(root))?);
            }
        }
        packages.sort_by(|left: &Package, right| left.name.cmp(&right.name));
        let mut nodes = BTreeMap::new();
        for node in metadata.get("resolve").into_iter().flat_map(|resolve| list(resolve, "nodes")) {
            let id = text(node, "id")?;
            let (name, version) =
                names.get(id).with_context(|| format!("`{id}` is resolved but not described"))?;
            let (name, version) = ((*name).to_owned(), version.clone());
            nodes.insert(id.to_owned(), Node { name, version, normal: normal_dependencies(node)? });
        }
        Ok(Self { packages, nodes })
    }

    /// Looks a package of the workspace up by its name.
    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }
}

impl Package {
    /// Gives a feature, and the features of this package that it turns on.
    pub(crate) fn turned_on(&self, feature: &str) -> BTreeSet<&str> {
        let mut on = BTreeSet::new();
        let mut left: Vec<&str> =
            self.features.get_key_value(feature).map(|(name, _)| name.as_str()).into_iter().collect();
        while let Some(feature) = left.pop() {
            if on.insert(feature) {
                let parts = self.features[feature].iter().map(String::as_str);
                // The others are dependencies and their features.
                left.extend(parts.filter(|part| self.features.contains_key(*part)));
            }
        }
        on
    }

    /// Tells whether the manifest lies under one of the root's folders.
    pub(crate) fn is_under(&self, folder: &str) -> bool {
        self.manifest.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }
}

fn parse_package(package: &Value, root: &Path) -> anyhow::Result<Package> {
    let manifest = Path::new(text(package, "manifest_path")?);
    let manifest = manifest.strip_prefix(root).unwrap_or(manifest);
    let parts: Vec<_> = manifest.iter().map(|part| part.to_string_lossy()).collect();
    Ok(Package {
        id: text(package, "id")?.to_owned(),
        name: text(package, "name")?.to_owned(),
        description: optional_text(package, "description"),
        manifest: parts.join("/"),
        rust_version: optional_text(package, "rust_version"),
        standing: parse_standing(package.pointer("/metadata/haft")),
        features: parse_features(package.get("features")),
        dependencies: list(package, "dependencies").map(parse_dependency).collect::<anyhow::Result<_>>()?,
    })
}

fn parse_features(features: Option<&Value>) -> BTreeMap<String, Vec<String>> {
    let features = features.and_then(Value::as_object).into_iter().flatten();
    let parts = |on: &Value| {
        on.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    features.map(|(name, on)| (name.clone(), parts(on))).collect()
}

fn parse_standing(haft: Option<&Value>) -> Standing {
    let Some(haft) = haft else { return Standing::Unsaid };
    match (haft.get("layer"), haft.get("beside")) {
        (None, None) => Standing::Unsaid,
        (Some(_), Some(_)) => Standing::Unclear("`layer` and `beside` exclude each other".to_owned()),
        (Some(layer), None) => match layer.as_u64().and_then(|layer| u8::try_from(layer).ok()) {
            Some(layer) if layer <= 4 => Standing::Layer(layer),
            _ => Standing::Unclear(format!("`layer = {layer}` is not a number from 0 to 4")),
        },
        (None, Some(Value::Bool(true))) => Standing::Beside,
        (None, Some(beside)) => Standing::Unclear(format!("`beside = {beside}` is not `true`")),
    }
}

fn parse_dependency(dependency: &Value) -> anyhow::Result<Dependency> {
    Ok(Dependency { name: text(dependency, "name")?.to_owned(), kind: parse_kind(dependency) })
}

fn normal_dependencies(node: &Value) -> anyhow::Result<Vec<String>> {
    list(node, "deps")
        .filter(|dependency| list(dependency, "dep_kinds").any(|kind| parse_kind(kind) == Kind::Normal))
        .map(|dependency| text(dependency, "pkg").map(str::to_owned))
        .collect()
}

/// Cargo writes a normal dependency as a kind of `null`.
fn parse_kind(value: &Value) -> Kind {
    match value.get("kind").and_then(Value::as_str) {
        Some("dev") => Kind::Dev,
        Some("build") => Kind::Build,
        _ => Kind::Normal,
    }
}

fn text<'a>(value: &'a Value, key: &str) -> anyhow::Result<&'a str> {
    value.get(key).and_then(Value::as_str).with_context(|| format!("`{key}` is not a text"))
}

fn optional_text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Dependency, Graph, Kind, Standing, parse_standing};

    #[test]
    fn reads_packages_and_the_resolved_graph() {
        let graph = Graph::parse(&json!({
            "workspace_root": "/w",
            "workspace_members": ["b#1", "a#1"],
            "packages": [
                { "id": "b#1", "name": "b", "manifest_path": "/w/crates/b/Cargo.toml", "description": "B",
                  "rust_version": "1.95", "metadata": { "haft": { "layer": 1 } },
                  "features": { "z": ["y", "dep:a"], "y": ["z", "a?/z"], "default": ["z"], "x": [] },
                  "dependencies": [
                      { "name": "a", "kind": null }, { "name": "t", "kind": "dev" }, { "name": "c", "kind": "build" },
                  ] },
                { "id": "a#1", "name": "a", "manifest_path": "/w/xtask/Cargo.toml", "metadata": null },
                { "id": "far#2", "name": "far", "manifest_path": "/elsewhere/Cargo.toml" },
            ],
            "resolve": { "nodes": [
                { "id": "b#1", "deps": [
                    { "pkg": "a#1", "dep_kinds": [{ "kind": "dev" }, { "kind": null }] },
                    { "pkg": "far#2", "dep_kinds": [{ "kind": "dev" }] },
                ] },
                { "id": "far#2", "deps": [] },
            ] },
        }))
        .unwrap();

        let [a, b] = graph.packages.as_slice() else { panic!("{:?}", graph.packages) };
        assert_eq!((a.name.as_str(), &a.standing, a.is_under("xtask")), ("a", &Standing::Unsaid, true));
        assert_eq!((b.manifest.as_str(), &b.standing), ("crates/b/Cargo.toml", &Standing::Layer(1)));
        assert!(b.is_under("crates") && !b.is_under("crate"));
        assert_eq!(b.features.keys().collect::<Vec<_>>(), ["default", "x", "y", "z"]);
        assert_eq!(b.features["y"], ["z", "a?/z"]);
        assert_eq!(Vec::from_iter(b.turned_on("default")), ["default", "y", "z"]);
        assert_eq!(Vec::from_iter(b.turned_on("x")), ["x"]);
        assert_eq!(b.turned_on("unheard of").len(), 0);
        let dependency = |name: &str, kind| Dependency { name: name.to_owned(), kind };
        assert_eq!(
            b.dependencies,
            [dependency("a", Kind::Normal), dependency("t", Kind::Dev), dependency("c", Kind::Build)]
        );
        assert_eq!(graph.nodes["b#1"].normal, ["a#1"]);
        assert_eq!(graph.nodes["far#2"].name, "far");
    }

    #[test]
    fn says_which_key_is_missing() {
        let error =
            Graph::parse(&json!({ "workspace_root": "/w", "packages": [{ "id": "x" }] })).unwrap_err();
        assert_eq!(error.to_string(), "`name` is not a text");
    }

    #[test]
    fn places_a_package_or_says_why_it_cannot() {
        let unclear = |why: &str| Standing::Unclear(why.to_owned());
        let cases = [
            (json!({ "layer": 0 }), Standing::Layer(0)),
            (json!({ "beside": true }), Standing::Beside),
            (json!({}), Standing::Unsaid),
            (json!({ "layer": 5 }), unclear("`layer = 5` is not a number from 0 to 4")),
            (json!({ "layer": -1 }), unclear("`layer = -1` is not a number from 0 to 4")),
            (json!({ "layer": "1" }), unclear("`layer = \"1\"` is not a number from 0 to 4")),
            (json!({ "beside": false }), unclear("`beside = false` is not `true`")),
            (json!({ "layer": 1, "beside": true }), unclear("`layer` and `beside` exclude each other")),
        ];
        for (haft, expected) in cases {
            assert_eq!(parse_standing(Some(&haft)), expected, "{haft}");
        }
        assert_eq!(parse_standing(None), Standing::Unsaid);
    }
}
